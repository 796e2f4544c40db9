public import CardRules

/// The body of `PUT /v1/devices/{device}/selection` (api.md): the app's own choice of games (A1).
public struct SelectionBody: Hashable, Sendable {
    /// In the app's order, each once: of one named again the first place counts.
    public var games: [GameID]
    public var pinned: GameID?
    public var muted: [GameID]
    /// By the app's clock; `nil` where it was left out, which HTTP refuses.
    public var syncedAt: WallTime?

    /// Of either list; more are a fault.
    public static let maximumGames = 1000

    public init(games: [GameID], pinned: GameID? = nil, muted: [GameID] = [], syncedAt: WallTime? = nil) {
        self.games = games
        self.pinned = pinned
        self.muted = muted
        self.syncedAt = syncedAt
    }

    /// - Parameter needsTime: HTTP asks for `syncedAt`; a file that describes a phone does not.
    /// - Throws: for the first field at fault. The caller answers 422.
    public init(
        _ value: JSONValue, at pointer: JSONPointer = .root, needsTime: Bool = true
    ) throws(FieldFault) {
        var fields = try JSONFields(value, at: pointer)
        guard let games = try fields.given("games", expected: SelectionBody.listExpected, SelectionBody.list) else {
            throw FieldFault(.missing(expected: SelectionBody.listExpected), at: pointer.appending("games"))
        }
        self.games = games
        if case .value(let game) = try fields.take(
            "pinned", expected: "\(identifierExpected), or null", { $0.text.flatMap { GameID($0) } })
        {
            pinned = game
        }
        muted = try fields.given("muted", expected: SelectionBody.listExpected, SelectionBody.list) ?? []
        syncedAt = try fields.given("syncedAt", expected: unixSecondsExpected) { $0.wallTime }
        guard syncedAt != nil || !needsTime else {
            throw FieldFault(.missing(expected: unixSecondsExpected), at: pointer.appending("syncedAt"))
        }
        try fields.end()
    }

    /// What the lane gets of it.
    ///
    /// - Parameter now: stands in where the app did not say when.
    public func event(at now: WallTime) -> LaneEvent {
        .selected(games: games, pinned: pinned, muted: muted, syncedAt: syncedAt ?? now)
    }

    private static let listExpected = "a list of at most \(maximumGames) ids of games"

    private static func list(_ value: JSONValue) -> [GameID]? {
        guard case .array(let elements) = value, elements.count <= maximumGames else { return nil }
        var games: [GameID] = []
        var seen: Set<GameID> = []
        for element in elements {
            guard let game = element.text.flatMap({ GameID($0) }) else { return nil }
            if seen.insert(game).inserted { games.append(game) }
        }
        return games
    }
}
