/// One game as its lines say it is: everything merged, nothing ranked yet. Unknown is `nil`, never a guess.
public struct GameState: Hashable, Sendable {
    public let id: GameID
    public var sport: Sport
    public var league: String?
    public var home: String
    public var away: String
    public var startsAt: WallTime?
    /// Places in the league table before the day, 1 is best.
    public var homeRank: Int?
    public var awayRank: Int?
    /// Points added to the home side: negative means that home is favoured.
    public var spread: Double?
    public var favourite: Side?
    public var homeScore: Int?
    public var awayScore: Int?
    public var period: Int?
    public var clock: String?
    /// `nil` until a line has named it; such a game counts as not begun.
    public var phase: Phase?
    public var detail: JSONValue?
    /// Keys that this version does not know, as the lines gave them (api.md).
    public var others: [String: JSONValue] = [:]
    public var history = GameHistory()
    /// Since when the game is final: the `t` of the line that said so, or its arrival where that is earlier (S11).
    public var finalSince: WallTime?

    public init(id: GameID, sport: Sport, home: String, away: String) {
        self.id = id
        self.sport = sport
        self.home = home
        self.away = away
    }

    /// Home less away; `nil` while either is unknown.
    public var lead: Int? {
        guard let homeScore, let awayScore else { return nil }
        let (difference, overflow) = homeScore.subtractingReportingOverflow(awayScore)
        return overflow ? nil : difference
    }

    /// The side in front; `nil` when level or unknown.
    public var leader: Side? {
        guard let lead, lead != 0 else { return nil }
        return lead > 0 ? .home : .away
    }
}

/// What a game has been through, as far as worth and moments ask (T9, T10).
public struct GameHistory: Hashable, Sendable {
    /// How often the other side came in front; a tie in between is no change of its own.
    public private(set) var leadChanges = 0
    /// The most that home, and away, were ever behind.
    public private(set) var homeTrailedBy = 0
    public private(set) var awayTrailedBy = 0
    /// Who was in front last; a tie does not change it.
    public private(set) var lastLeader: Side?

    public init() {}

    /// - Parameter lead: home less away.
    public mutating func note(lead: Int) {
        guard lead != 0 else { return }
        let leader: Side = lead > 0 ? .home : .away
        if let lastLeader, lastLeader != leader { leadChanges += 1 }
        lastLeader = leader
        if lead > 0 {
            awayTrailedBy = max(awayTrailedBy, lead)
        } else {
            homeTrailedBy = max(homeTrailedBy, -max(lead, -.max))
        }
    }

}
