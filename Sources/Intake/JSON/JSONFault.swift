/// Why bytes are not the JSON that was asked for (RFC 8259, read strictly), and where.
public struct JSONFault: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        case unexpectedEnd
        /// A byte that cannot stand here: a byte order mark, a comma too many, a second value.
        case unexpectedByte(UInt8)
        /// A control character inside a string; JSON wants it escaped.
        case controlCharacter
        case badEscape
        /// `\uD800` to `\uDFFF` without its other half.
        case loneSurrogate
        case invalidUTF8
        case badNumber
        /// An integer beyond 64 bits, or a number beyond `Double`: decoders disagree on what it means.
        case numberOutOfRange
        /// More than `JSONScanner.maximumDepth` arrays and objects in each other.
        case tooDeep
        /// Decoders disagree on which of the two counts.
        case duplicateKey(String)
    }

    public var reason: Reason
    /// From the first byte of what was scanned.
    public var offset: Int

    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// Line and column, both from 1; columns count characters (Unicode scalars), not bytes.
    public func place(in bytes: Span<UInt8>) -> (line: Int, column: Int) {
        var line = 1
        var column = 1
        for index in 0..<min(max(0, offset), bytes.count) {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }
}

extension JSONFault: CustomStringConvertible {
    public var description: String { reason.description }
}

extension JSONFault.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unexpectedEnd: "the text ends in the middle of a value"
        case .unexpectedByte(let byte):
            byte > 0x20 && byte < 0x7F
                ? "\"\(Character(Unicode.Scalar(byte)))\" cannot stand here"
                : "byte 0x\(String(byte, radix: 16)) cannot stand here"
        case .controlCharacter: "a control character in a string is to be escaped"
        case .badEscape: "no such escape"
        case .loneSurrogate: "half of a surrogate pair"
        case .invalidUTF8: "not UTF-8"
        case .badNumber: "not a number as JSON writes it"
        case .numberOutOfRange: "a number out of range"
        case .tooDeep: "more than \(JSONScanner.maximumDepth) levels deep"
        case .duplicateKey(let key): "the key \"\(key)\" stands twice"
        }
    }
}
