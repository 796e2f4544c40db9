public import CardRules

extension Personalisation {
    /// Version 1 where the value has exactly its shape (api.md); null is none; anything else is kept and cannot be read
    /// (A2): it is never a fault.
    ///
    /// - Parameter text: the value as it came.
    public init(_ value: JSONValue, text: () -> String) {
        if value == .null {
            self = .none
        } else if let taste = Taste(value) {
            self = .readable(taste)
        } else {
            self = .unreadable(text())
        }
    }
}

extension Taste {
    /// Teams and leagues named; a card has room for fewer games.
    private static let maximumNames = 1000
    private static let maximumGames = 20

    fileprivate init?(_ value: JSONValue) {
        guard case .object(let members) = value,
            members.map(\.key) == ["leagues", "maxGames", "minimumWorth", "teams", "version"],
            value["version"]?.wholeNumber == 1,
            let teams = value["teams"]?.weights(in: 0...1), let leagues = value["leagues"]?.weights(in: -100...100),
            let minimum = value["minimumWorth"]?.double, (0...100).contains(minimum),
            let maxGames = value["maxGames"]?.wholeNumber, (1...Taste.maximumGames).contains(maxGames),
            teams.count <= Taste.maximumNames, leagues.count <= Taste.maximumNames
        else { return nil }
        self.init(teams: teams, leagues: leagues, minimumWorth: minimum, maxGames: maxGames)
    }
}

extension JSONValue {
    /// An object of numbers by name.
    fileprivate func weights(in range: ClosedRange<Double>) -> [String: Double]? {
        guard case .object(let members) = self else { return nil }
        var weights: [String: Double] = [:]
        for member in members {
            guard let weight = member.value.double, range.contains(weight) else { return nil }
            weights[member.key] = weight
        }
        return weights
    }
}
