public import CardRules

/// Writes JSON by hand into a buffer that is kept between uses: no key order left to chance, no escaped slashes, no
/// allocation but the buffer's growth (P9: the same content is the same bytes).
///
/// Writes what it is told, in order; commas, colons and brackets are the caller's, through `raw`.
public struct JSONWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    /// Empties the buffer and keeps its room.
    public mutating func reset() { bytes.removeAll(keepingCapacity: true) }

    /// Bytes of JSON, as they are.
    public mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    public mutating func raw(_ other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

    /// A string in quotes. Escaped are quote, backslash and the control characters below U+0020 (RFC 8259, 7); all else
    /// is written as UTF-8.
    public mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.withContiguousStorageIfAvailable({ escape($0) }) == nil {
            Array(text.utf8).withUnsafeBufferPointer { escape($0) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    public mutating func integer(_ value: Int64) {
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)  // room for 20 digits on the stack
        withUnsafeMutableBytes(of: &digits) { room in
            var rest = value.magnitude
            var start = room.count
            repeat {
                start -= 1
                room[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if value < 0 { bytes.append(UInt8(ascii: "-")) }
            bytes.append(contentsOf: room[start...])
        }
    }

    /// The shortest text that reads back as the same number; whole numbers below 2^53 without a fraction. JSON has
    /// no word for infinities and NaN: those become null.
    public mutating func number(_ value: Double) {
        guard value.isFinite else { return raw("null") }
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return integer(whole) }
        raw(value.description.utf8)
    }

    public mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    /// As deep as the value is: the caller bounds what comes from outside.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .number(let value): number(value)
        case .string(let text): string(text)
        case .array(let elements):
            raw("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { raw(",") }
                self.value(element)
            }
            raw("]")
        case .object(let members):
            raw("{")
            for (index, member) in members.enumerated() {
                if index > 0 { raw(",") }
                string(member.key)
                raw(":")
                self.value(member.value)
            }
            raw("}")
        }
    }

    /// Copies stretches that need no escape at once.
    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        var copied = 0
        for index in text.indices {
            let byte = text[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            bytes.append(contentsOf: text[copied..<index])
            copied = index + 1
            switch byte {
            case UInt8(ascii: "\""): raw("\\\"")
            case UInt8(ascii: "\\"): raw("\\\\")
            case 0x08: raw("\\b")
            case 0x09: raw("\\t")
            case 0x0a: raw("\\n")
            case 0x0c: raw("\\f")
            case 0x0d: raw("\\r")
            default:
                raw("\\u00")
                bytes.append(hexDigit(byte >> 4))
                bytes.append(hexDigit(byte & 15))
            }
        }
        bytes.append(contentsOf: text[copied...])
    }
}
