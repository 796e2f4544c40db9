public import CardRules

/// Reads JSON from bytes, strictly: what decoders disagree on is refused (measured against seven of them).
///
/// A position in a span that the caller holds; copying it is a bookmark. Every method leaves the position behind what it read.
public struct JSONScanner: Hashable, Sendable {
    /// Arrays and objects in each other, the outermost counted. Deeper input is refused, so no input can exhaust the stack.
    public static let maximumDepth = 32

    public private(set) var position: Int
    private var depth = 0

    public init(position: Int = 0) { self.position = position }

    /// One whole text: a value with nothing but white space around it.
    public static func value(in bytes: Span<UInt8>) throws(JSONFault) -> JSONValue {
        var scanner = JSONScanner()
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
        case let byte: throw JSONFault(.unexpectedByte(byte), at: position)
        }
    }

    /// The first byte of the next token, white space skipped; the position is then at it.
    public mutating func peek(_ bytes: Span<UInt8>) throws(JSONFault) -> UInt8 {
        skipSpace(bytes)
        guard position < bytes.count else { throw JSONFault(.unexpectedEnd, at: position) }
        return bytes[position]
    }

    /// Nothing but white space may follow.
    public mutating func end(_ bytes: Span<UInt8>) throws(JSONFault) {
        skipSpace(bytes)
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
            let key = try string(bytes)
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
            hasMore = try peek(bytes) == UInt8(ascii: ",")
            if hasMore { position += 1 }
        }
        try close(UInt8(ascii: "}"), bytes)
    }

    /// A string, unescaped. Its UTF-8 has been checked.
    public mutating func string(_ bytes: Span<UInt8>) throws(JSONFault) -> String {
        try expect(UInt8(ascii: "\""), bytes)
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let text = try text(bytes, start..<position)
                position += 1
                return text
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(bytes, from: start) }
            guard byte >= 0x20 else { throw JSONFault(.controlCharacter, at: position) }
            position += 1
        }
        throw JSONFault(.unexpectedEnd, at: position)
    }

    // MARK: - Parts

    mutating func advance() { position += 1 }

    private mutating func members(_ bytes: Span<UInt8>) throws(JSONFault) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        try object(bytes) { (key, _, scanner) throws(JSONFault) in
            members.append(JSONValue.Member(key: key, value: try scanner.value(bytes)))
        }
        return members.sorted { $0.key < $1.key }
    }

    private mutating func elements(_ bytes: Span<UInt8>) throws(JSONFault) -> [JSONValue] {
        try open(UInt8(ascii: "["), bytes)
        var elements: [JSONValue] = []
        if try peek(bytes) != UInt8(ascii: "]") {
            elements.append(try value(bytes))
            while try peek(bytes) == UInt8(ascii: ",") {
                position += 1
                elements.append(try value(bytes))
            }
        }
        try close(UInt8(ascii: "]"), bytes)
        return elements
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

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

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

    private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(JSONFault) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes.extracting(range)))
        } catch {
            throw JSONFault(.invalidUTF8, at: range.lowerBound + error.byteOffsets.lowerBound)
        }
    }
}
