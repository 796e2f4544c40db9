import CardRules

/// The members of one line, each with its place in the text.
struct LineFields {
    private struct Field {
        let key: String
        let value: JSONValue
        let column: Int
        var isTaken = false
    }

    private var fields: [Field] = []

    init(_ line: Span<UInt8>) throws(SlateLineFault) {
        let members: [Member]?
        do throws(JSONFault) {
            members = try LineFields.scan(line)
        } catch {
            throw SlateLineFault(.syntax(error.reason), column: error.place(in: line).column)
        }
        guard let found = members else { throw SlateLineFault(.notAnObject, column: 1) }
        // Columns are counted in one walk: members stand in order.
        var offset = 0
        var column = 1
        fields.reserveCapacity(found.count)
        for member in found {
            while offset < member.offset {
                if line[offset] & 0xC0 != 0x80 { column += 1 }
                offset += 1
            }
            fields.append(Field(key: member.key, value: member.value, column: column))
        }
    }

    /// Members that stand in no text.
    init(_ members: [(key: String, value: JSONValue)]) {
        fields = members.map { Field(key: $0.key, value: $0.value, column: 1) }
    }

    private typealias Member = (key: String, value: JSONValue, offset: Int)

    /// - Returns: `nil` for JSON that is no object.
    private static func scan(_ line: Span<UInt8>) throws(JSONFault) -> [Member]? {
        var scanner = JSONScanner()
        guard try scanner.peek(line) == UInt8(ascii: "{") else {
            _ = try JSONScanner.value(in: line)
            return nil
        }
        var members: [Member] = []
        members.reserveCapacity(12)
        try scanner.object(line) { (key, _, scanner) throws(JSONFault) in
            _ = try scanner.peek(line)
            let offset = scanner.position
            members.append((key, try scanner.value(line), offset))
        }
        try scanner.end(line)
        return members
    }

    /// - Returns: `nil` when there is a value, and it is not one that `read` knows.
    mutating func required<Value>(
        _ key: String, _ read: (JSONValue) -> Value?
    ) throws(SlateLineFault) -> Value? {
        guard let place = take(key) else { throw SlateLineFault(.missing, column: 1, field: "/\(key)") }
        return read(fields[place].value)
    }

    mutating func take<Value>(
        _ key: String, expected: @autoclosure () -> String, _ read: (JSONValue) -> Value?
    ) throws(SlateLineFault) -> Patched<Value> {
        guard let place = take(key) else { return .absent }
        guard fields[place].value != .null else { return .null }
        guard let value = read(fields[place].value) else { throw wrong(key, expected: expected()) }
        return .value(value)
    }

    /// What nobody has taken.
    func rest() -> [String: JSONValue] {
        var rest: [String: JSONValue] = [:]
        for field in fields where !field.isTaken { rest[field.key] = field.value }
        return rest
    }

    func wrong(_ key: String, expected: String) -> SlateLineFault {
        let column = fields.first { $0.key == key }?.column ?? 1
        return SlateLineFault(.wrongValue(expected: expected), column: column, field: "/\(key)")
    }

    private mutating func take(_ key: String) -> Int? {
        guard let place = fields.firstIndex(where: { $0.key == key }) else { return nil }
        fields[place].isTaken = true
        return place
    }
}
