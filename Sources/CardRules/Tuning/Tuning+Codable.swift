extension Tuning: Codable {
    /// The defaults, with the values of a JSON object in their place: nested as the dotted names say.
    ///
    /// - Throws: for an unknown key, a wrong type, a value that cannot be; the first in the order of the keys' names.
    public init(_ json: JSONValue) throws(TuningFault) {
        self.init()
        try apply(json, below: "")
        guard gateway.tokenMinSeconds <= gateway.tokenMaxSeconds else {
            throw .impossible(
                key: "gateway.tokenMinSeconds", expected: "at most gateway.tokenMaxSeconds, \(gateway.tokenMaxSeconds)")
        }
    }

    public init(from decoder: any Decoder) throws { try self.init(try JSONValue(from: decoder)) }

    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }

    /// Every value, defaults included.
    public var json: JSONValue { TuningBranch(TuningKey.all.map { ($0.name, $0.value(in: self)) }).json }

    private mutating func apply(_ json: JSONValue, below prefix: String) throws(TuningFault) {
        guard case .object(let members) = json else {
            throw .wrongType(key: prefix.isEmpty ? "" : String(prefix.dropLast()), expected: "an object")
        }
        for member in members {
            let name = prefix + member.key
            if let key = Tuning.keys[name] {
                try key.set(member.value, in: &self)
            } else if Tuning.groups.contains(name) {
                try apply(member.value, below: "\(name).")
            } else {
                throw .unknownKey(name)
            }
        }
    }

    private static let keys = Dictionary(uniqueKeysWithValues: TuningKey.all.map { ($0.name, $0) })

    /// `reissue`, `takeover`, `takeover.boosts`, ...
    private static let groups: Set<String> = Set(
        TuningKey.all.flatMap { key in
            key.name.indices.filter { key.name[$0] == "." }.map { String(key.name[..<$0]) }
        })
}

/// Values by their dotted names, put back into objects.
private struct TuningBranch {
    private var leaves: [String: JSONValue] = [:]
    private var branches: [String: [(String, JSONValue)]] = [:]

    init(_ values: [(String, JSONValue)]) {
        for (name, value) in values {
            guard let dot = name.firstIndex(of: ".") else {
                leaves[name] = value
                continue
            }
            branches[String(name[..<dot]), default: []].append((String(name[name.index(after: dot)...]), value))
        }
    }

    var json: JSONValue {
        var members = leaves
        for (name, values) in branches { members[name] = TuningBranch(values).json }
        return .object(members)
    }
}
