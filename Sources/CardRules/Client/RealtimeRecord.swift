/// What is held of one record that arrives as changes: a row of a realtime channel, a line of the slate (C5).
///
/// A change names what has changed and nothing else. Reading it as a whole row empties every column that it leaves out.
public struct RealtimeRecord: Hashable, Sendable {
    public private(set) var fields: [String: JSONValue]

    public init(_ fields: [String: JSONValue] = [:]) { self.fields = fields.filter { $0.value != .null } }

    /// A key left out keeps the value held, null clears it, anything else replaces it whole: what is nested is not
    /// merged. A change that is no object changes nothing.
    ///
    /// - Returns: the keys whose value is another one now, sorted.
    @discardableResult
    public mutating func apply(_ change: JSONValue) -> [String] {
        guard case .object(let members) = change else { return [] }
        var changed: Set<String> = []
        for member in members {
            let value = member.value == .null ? nil : member.value
            if fields[member.key] != value { changed.insert(member.key) }
            fields[member.key] = value
        }
        return changed.sorted()
    }

    /// `nil`: unknown or cleared.
    public subscript(key: String) -> JSONValue? { fields[key] }
}

extension Patched {
    /// The value after a change (C5).
    public func applied(to held: Value?) -> Value? {
        switch self {
        case .absent: held
        case .null: nil
        case .value(let value): value
        }
    }
}

extension KeyedDecodingContainer {
    /// Reads a field of a change. `decodeIfPresent` cannot: it gives `nil` both for a key left out and for null (C5).
    public func decodePatched<Value: Decodable & Hashable & Sendable>(
        _ type: Value.Type = Value.self, forKey key: Key
    ) throws -> Patched<Value> {
        guard contains(key) else { return .absent }
        return try decodeNil(forKey: key) ? .null : .value(decode(type, forKey: key))
    }
}
