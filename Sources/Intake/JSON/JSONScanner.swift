public import CardRules

/// Which texts a scanner takes for JSON.
public enum JSONDialect: Hashable, Sendable {
    /// RFC 8259, and what decoders disagree on is refused: for what programs write.
    case strict
    /// JSON5 (spec.json5.org), for files that people write: comments, keys without quotes, single quotes, commas at the
    /// end, numbers such as `+1`, `.5`, `0x1F`. Infinity and NaN are out of range; a key is letters, digits, `_`, `$`
    /// and whatever is not ASCII, without escapes.
    case lenient
}

/// Reads JSON from bytes, strictly unless told otherwise: what decoders disagree on is refused (measured against seven of
/// them).
///
/// A position in a span that the caller holds; copying it is a bookmark. Every method leaves the position behind what it read.
public struct JSONScanner: Hashable, Sendable {
    /// Arrays and objects in each other, the outermost counted. Deeper input is refused, so no input can exhaust the stack.
    public static let maximumDepth = 32

    public private(set) var position: Int
    private var depth = 0
    let isLenient: Bool

    public init(position: Int = 0, dialect: JSONDialect = .strict) {
        self.position = position
        isLenient = dialect == .lenient
    }

    /// One whole text: a value with nothing but white space around it.
    public static func value(in bytes: Span<UInt8>, dialect: JSONDialect = .strict) throws(JSONFault) -> JSONValue {
        var scanner = JSONScanner(dialect: dialect)
        let value = try scanner.value(bytes)
        try scanner.end(bytes)
        return value
    }

    public mutating func value(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONValue {
        switch try peek(bytes) {
        case UInt8(ascii: "{"): return .object(try members(bytes))
        case UInt8(ascii: "["): return .array(try elements(bytes))
        case UInt8(ascii: "\""): return .string(try string(bytes))
        case UInt8(ascii: "t"): return .bool(try word("true", meaning: true, bytes))
        case UInt8(ascii: "f"): return .bool(try word("false", meaning: false, bytes))
        case UInt8(ascii: "n"): return try word("null", meaning: .null, bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(bytes)
        case UInt8(ascii: "'") where isLenient: return .string(try string(bytes))
        case let byte where isLenient && JSONScanner.beginsLenientNumber(byte): return try number(bytes)
        case let byte: throw JSONFault(.unexpectedByte(byte), at: position)
        }
    }

    /// The first byte of the next token, white space skipped; the position is then at it.
    public mutating func peek(_ bytes: Span<UInt8>) throws(JSONFault) -> UInt8 {
        try skipSpace(bytes)
        guard position < bytes.count else { throw JSONFault(.unexpectedEnd, at: position) }
        return bytes[position]
    }

    /// Nothing but white space may follow.
    public mutating func end(_ bytes: Span<UInt8>) throws(JSONFault) {
        try skipSpace(bytes)
        guard position == bytes.count else { throw JSONFault(.unexpectedByte(bytes[position]), at: position) }
    }

    /// An object, member by member, keys unescaped, in order; a key that stands twice is refused.
    ///
    /// - Parameter member: must read the member's value, and gets the offset of its key.
    public mutating func object(
        _ bytes: Span<UInt8>,
        member: (_ key: String, _ keyOffset: Int, _ scanner: inout JSONScanner) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        try open(UInt8(ascii: "{"), bytes)
        var seen: [String] = []
        var seenMany: Set<String> = []
        var hasMore = try peek(bytes) != UInt8(ascii: "}")
        while hasMore {
            _ = try peek(bytes)
            let offset = position
            let key = try isLenient ? lenientKey(bytes) : string(bytes)
            // Few keys are searched, many are hashed: no input makes this quadratic.
            if seen.count < 32 {
                guard !seen.contains(key) else { throw JSONFault(.duplicateKey(key), at: offset) }
                seen.append(key)
            } else {
                if seenMany.isEmpty { seenMany = Set(seen) }
                guard seenMany.insert(key).inserted else { throw JSONFault(.duplicateKey(key), at: offset) }
            }
            try expect(UInt8(ascii: ":"), bytes)
            try member(key, offset, &self)
            hasMore = try hasAnother(before: UInt8(ascii: "}"), bytes)
        }
        try close(UInt8(ascii: "}"), bytes)
    }

    /// An array, element by element.
    ///
    /// - Parameter element: must read the element, and gets its place, from 0.
    public mutating func array(
        _ bytes: Span<UInt8>, element: (_ index: Int, _ scanner: inout JSONScanner) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        try open(UInt8(ascii: "["), bytes)
        var index = 0
        var hasMore = try peek(bytes) != UInt8(ascii: "]")
        while hasMore {
            try element(index, &self)
            index += 1
            hasMore = try hasAnother(before: UInt8(ascii: "]"), bytes)
        }
        try close(UInt8(ascii: "]"), bytes)
    }

    /// A string, unescaped. Its UTF-8 has been checked.
    public mutating func string(_ bytes: Span<UInt8>) throws(JSONFault) -> String {
        var quote = UInt8(ascii: "\"")
        if isLenient, try peek(bytes) == UInt8(ascii: "'") { quote = UInt8(ascii: "'") }
        try expect(quote, bytes)
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == quote {
                let text = try text(bytes, start..<position)
                position += 1
                return text
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(bytes, from: start, quote) }
            guard mayStandInString(byte) else { throw JSONFault(.controlCharacter, at: position) }
            position += 1
        }
        throw JSONFault(.unexpectedEnd, at: position)
    }

    // MARK: - Parts

    mutating func advance(_ count: Int = 1) { position += count }

    private mutating func members(_ bytes: Span<UInt8>) throws(JSONFault) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        try object(bytes) { (key, _, scanner) throws(JSONFault) in
            members.append(JSONValue.Member(key: key, value: try scanner.value(bytes)))
        }
        return members.sorted { $0.key < $1.key }
    }

    private mutating func elements(_ bytes: Span<UInt8>) throws(JSONFault) -> [JSONValue] {
        var elements: [JSONValue] = []
        try array(bytes) { (_, scanner) throws(JSONFault) in elements.append(try scanner.value(bytes)) }
        return elements
    }

    /// Behind a value of an array or object: whether a comma follows, and another value behind it.
    private mutating func hasAnother(before end: UInt8, _ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        guard try peek(bytes) == UInt8(ascii: ",") else { return false }
        position += 1
        guard isLenient else { return true }
        return try peek(bytes) != end
    }

    private mutating func open(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONFault) {
        try expect(byte, bytes)
        depth += 1
        guard depth <= JSONScanner.maximumDepth else { throw JSONFault(.tooDeep, at: position - 1) }
    }

    private mutating func close(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONFault) {
        try expect(byte, bytes)
        depth -= 1
    }

    private mutating func expect(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONFault) {
        let found = try peek(bytes)
        guard found == byte else { throw JSONFault(.unexpectedByte(found), at: position) }
        position += 1
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) throws(JSONFault) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default:
                guard isLenient, try skipLenientSpace(bytes) else { return }
            }
        }
    }

    /// JSON wants control characters escaped; JSON5 only the ends of lines.
    func mayStandInString(_ byte: UInt8) -> Bool { byte >= 0x20 || isLenient && byte != 0x0A && byte != 0x0D }

    private mutating func word<Meaning>(
        _ word: StaticString, meaning: Meaning, _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Meaning {
        for expected in word.description.utf8 {
            guard position < bytes.count else { throw JSONFault(.unexpectedEnd, at: position) }
            guard bytes[position] == expected else { throw JSONFault(.unexpectedByte(bytes[position]), at: position) }
            position += 1
        }
        return meaning
    }

    func text(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(JSONFault) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes.extracting(range)))
        } catch {
            throw JSONFault(.invalidUTF8, at: range.lowerBound + error.byteOffsets.lowerBound)
        }
    }
}
