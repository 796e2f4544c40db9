extension SlateContent {
    /// What a card of this arrangement shows of the slate: the one place where a game becomes content, on the server
    /// and in the app.
    ///
    /// Games that the snapshot does not hold are left out; the first that it holds is the front. A spoiler-free card
    /// has no scores, detail or moment, and beyond regulation neither period nor clock: the same games in the same
    /// order and phase are equal whatever their scores (P2).
    /// - Returns: `nil` when the snapshot holds none of the games.
    public init?(arrangement: SlateArrangement, snapshot: SlateSnapshot) {
        let games = arrangement.games.compactMap { id in
            snapshot.game(id).map { Game($0, spoilerFree: arrangement.spoilerFree) }
        }
        guard let front = games.first else { return nil }
        self.init(
            games: games, front: front.id, spoilerFree: arrangement.spoilerFree, asOf: snapshot.asOf.unixSeconds)
    }
}

extension SlateContent.Game {
    /// One game as a card shows it (P2).
    public init(_ game: RankedGame, spoilerFree: Bool) {
        let tellsTime = game.phase != .pre && !(spoilerFree && game.isBeyondRegulation)
        self.init(
            id: game.id, sport: game.sport.name, league: game.league, home: game.home, away: game.away,
            phase: game.phase, period: tellsTime ? game.period : nil, clock: tellsTime ? game.clock : nil)
        guard !spoilerFree else { return }
        homeScore = game.homeScore
        awayScore = game.awayScore
        detail = game.detail?.canonical
        moment = game.moments.first
    }
}

extension JSONValue {
    /// The same value in the one form that survives a default decoder: no null members (ref L5: a null in a content
    /// state made a start fail), whole numbers as integers, members sorted, of equal keys the last.
    /// - Returns: `nil` for null, and for a number that JSON cannot write.
    public var canonical: JSONValue? {
        switch self {
        case .null: return nil
        case .bool, .integer, .string: return self
        case .number(let value):
            guard value.isFinite else { return nil }
            return Int64(exactly: value).map(JSONValue.integer) ?? self
        case .array(let elements): return .array(elements.map { $0.canonical ?? .null })
        case .object(let members):
            var kept: [String: JSONValue] = [:]
            for member in members { kept[member.key] = member.value.canonical }
            return .object(kept)
        }
    }
}
