/// The members of one JSON object as ranges of its bytes, without building values: a phone looks at a few members of
/// every push, and the content is the same for many phones.
///
/// Strict (RFC 8259), except that strings are not checked for valid UTF-8 and escapes inside are not resolved.
struct JSONSlices: Sendable {
    private let members: [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]

    /// Most levels of nesting that are followed.
    private static let deepest = 64

    /// `nil` unless the bytes are exactly one object with blanks around it.
    init?(_ bytes: [UInt8]) { self.init(bytes[...]) }

    init?(_ bytes: ArraySlice<UInt8>) {
        var scanner = Scanner(bytes: bytes, inner: nil)
        scanner.skipBlanks()
        guard let members = scanner.object(), scanner.isAtEndAfterBlanks() else { return nil }
        self.members = members
    }

    /// The members of the object that stands under `key` in the one object that the bytes are, in one pass.
    init?(_ bytes: [UInt8], inside key: StaticString) {
        var scanner = Scanner(bytes: bytes[...], inner: key)
        scanner.skipBlanks()
        guard scanner.object() != nil, scanner.isAtEndAfterBlanks(), let members = scanner.innerMembers else {
            return nil
        }
        self.members = members
    }

    /// The bytes of a member's value; of a repeated key the last.
    subscript(key: String) -> ArraySlice<UInt8>? {
        members.last { $0.key.elementsEqual(key.utf8) }?.value
    }

    func object(_ key: String) -> JSONSlices? { self[key].flatMap { JSONSlices($0) } }

    /// The bytes of an array's elements.
    func elements(_ key: String) -> [ArraySlice<UInt8>]? {
        guard let value = self[key] else { return nil }
        var scanner = Scanner(bytes: value, inner: nil)
        return scanner.array()
    }

    func bool(_ key: String) -> Bool? {
        guard let value = self[key] else { return nil }
        return value.elementsEqual("true".utf8) ? true : value.elementsEqual("false".utf8) ? false : nil
    }

    /// A whole number, without fraction or exponent.
    func integer(_ key: String) -> Int64? { self[key].flatMap { Int64(String(decoding: $0, as: UTF8.self)) } }

    func number(_ key: String) -> Double? { self[key].flatMap { Double(String(decoding: $0, as: UTF8.self)) } }

    /// A string without escapes as it is; one with escapes is not resolved, and `nil`.
    func plainText(_ key: String) -> String? {
        guard let value = self[key], value.count >= 2, value.first == UInt8(ascii: "\"") else { return nil }
        let inside = value.dropFirst().dropLast()
        return inside.contains(UInt8(ascii: "\\")) ? nil : String(decoding: inside, as: UTF8.self)
    }

    private struct Scanner {
        private let bytes: ArraySlice<UInt8>
        private var at: Int
        private var depth = 0
        /// The key on the first level whose object is opened too.
        private let inner: StaticString?
        private(set) var innerMembers: [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]?

        init(bytes: ArraySlice<UInt8>, inner: StaticString?) {
            self.bytes = bytes
            self.inner = inner
            at = bytes.startIndex
        }

        private var current: UInt8? { at < bytes.endIndex ? bytes[at] : nil }

        mutating func skipBlanks() {
            while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { at += 1 }
        }

        mutating func isAtEndAfterBlanks() -> Bool {
            skipBlanks()
            return at == bytes.endIndex
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            guard current == byte else { return false }
            at += 1
            return true
        }

        mutating func object() -> [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]? {
            guard take(UInt8(ascii: "{")) else { return nil }
            var members: [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
            skipBlanks()
            if take(UInt8(ascii: "}")) { return members }
            while true {
                skipBlanks()
                guard let key = string() else { return nil }
                skipBlanks()
                guard take(UInt8(ascii: ":")) else { return nil }
                skipBlanks()
                let start = at
                if depth == 0, current == UInt8(ascii: "{"), isInner(key) {
                    depth = 1
                    guard let found = object() else { return nil }
                    innerMembers = found
                    depth = 0
                } else {
                    guard value() else { return nil }
                }
                members.append((key, bytes[start..<at]))
                skipBlanks()
                if take(UInt8(ascii: "}")) { return members }
                guard take(UInt8(ascii: ",")) else { return nil }
            }
        }

        mutating func array() -> [ArraySlice<UInt8>]? {
            guard take(UInt8(ascii: "[")) else { return nil }
            var elements: [ArraySlice<UInt8>] = []
            skipBlanks()
            if take(UInt8(ascii: "]")) { return elements }
            while true {
                skipBlanks()
                let start = at
                guard value() else { return nil }
                elements.append(bytes[start..<at])
                skipBlanks()
                if take(UInt8(ascii: "]")) { return elements }
                guard take(UInt8(ascii: ",")) else { return nil }
            }
        }

        private func isInner(_ key: ArraySlice<UInt8>) -> Bool {
            guard let inner else { return false }
            return inner.withUTF8Buffer { key.elementsEqual($0) }
        }

        /// What stands between the quotes.
        private mutating func string() -> ArraySlice<UInt8>? {
            guard take(UInt8(ascii: "\"")) else { return nil }
            let start = at
            while let byte = current {
                if byte == UInt8(ascii: "\"") {
                    at += 1
                    return bytes[start..<at - 1]
                }
                guard byte >= 0x20 else { return nil }
                at += byte == UInt8(ascii: "\\") ? 2 : 1
            }
            return nil
        }

        private mutating func value() -> Bool {
            switch current {
            case UInt8(ascii: "{"):
                guard depth < JSONSlices.deepest else { return false }
                depth += 1
                defer { depth -= 1 }
                return skipObject()
            case UInt8(ascii: "["):
                guard depth < JSONSlices.deepest else { return false }
                depth += 1
                defer { depth -= 1 }
                return skipArray()
            case UInt8(ascii: "\""): return string() != nil
            case UInt8(ascii: "t"): return word("true")
            case UInt8(ascii: "f"): return word("false")
            case UInt8(ascii: "n"): return word("null")
            default: return number()
            }
        }

        private mutating func skipObject() -> Bool {
            at += 1
            skipBlanks()
            if take(UInt8(ascii: "}")) { return true }
            while true {
                skipBlanks()
                guard string() != nil else { return false }
                skipBlanks()
                guard take(UInt8(ascii: ":")) else { return false }
                skipBlanks()
                guard value() else { return false }
                skipBlanks()
                if take(UInt8(ascii: "}")) { return true }
                guard take(UInt8(ascii: ",")) else { return false }
            }
        }

        private mutating func skipArray() -> Bool {
            at += 1
            skipBlanks()
            if take(UInt8(ascii: "]")) { return true }
            while true {
                skipBlanks()
                guard value() else { return false }
                skipBlanks()
                if take(UInt8(ascii: "]")) { return true }
                guard take(UInt8(ascii: ",")) else { return false }
            }
        }

        private mutating func word(_ text: StaticString) -> Bool {
            let matches = text.withUTF8Buffer { bytes[at...].starts(with: $0) }
            if matches { at += text.utf8CodeUnitCount }
            return matches
        }

        private mutating func digits() -> Int {
            let start = at
            while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { at += 1 }
            return at - start
        }

        private mutating func number() -> Bool {
            _ = take(UInt8(ascii: "-"))
            let startsWithZero = current == UInt8(ascii: "0")
            let whole = digits()
            guard whole > 0, !startsWithZero || whole == 1 else { return false }
            if take(UInt8(ascii: ".")) { guard digits() > 0 else { return false } }
            if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
                if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
                guard digits() > 0 else { return false }
            }
            return true
        }
    }
}
