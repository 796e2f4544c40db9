internal import CardRules

/// A JSON value, with the place in the text where it begins.
struct PlacedValue {
    let offset: Int
    let end: Int
    let kind: Kind

    indirect enum Kind {
        case object([Member])
        case array([PlacedValue])
        /// Neither.
        case other(JSONValue)
    }

    struct Member {
        let key: String
        let offset: Int
        let value: PlacedValue
    }

    /// One whole text.
    static func read(_ bytes: Span<UInt8>) throws(JSONFault) -> PlacedValue {
        var scanner = JSONScanner()
        let value = try PlacedValue(&scanner, bytes)
        do throws(JSONFault) {
            try scanner.end(bytes)
        } catch {
            throw JSONFault(.unexpectedByte(bytes[error.offset]), at: error.offset)
        }
        return value
    }

    private init(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) {
        let first = try scanner.peek(bytes)
        offset = scanner.position
        switch first {
        case UInt8(ascii: "{"):
            var members: [Member] = []
            try scanner.object(bytes) { (key, offset, scanner) throws(JSONFault) in
                members.append(Member(key: key, offset: offset, value: try PlacedValue(&scanner, bytes)))
            }
            kind = .object(members)
        case UInt8(ascii: "["):
            var elements: [PlacedValue] = []
            try scanner.array(bytes) { (_, scanner) throws(JSONFault) in
                elements.append(try PlacedValue(&scanner, bytes))
            }
            kind = .array(elements)
        default: kind = .other(try scanner.value(bytes))
        }
        end = scanner.position
    }

    var members: [Member]? {
        if case .object(let members) = kind { members } else { nil }
    }

    /// `nil` for an object or an array.
    var plain: JSONValue? {
        if case .other(let value) = kind { value } else { nil }
    }

    subscript(key: String) -> Member? { members?.first { $0.key == key } }
}
