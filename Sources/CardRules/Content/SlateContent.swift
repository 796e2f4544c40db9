/// The content state of a slate card: what the app's widget draws. The app decodes exactly this with a default decoder.
///
/// Times are Unix seconds as numbers, never `Date` (P11, ref L7); what is not there is left out, never null (ref L5).
public struct SlateContent: Codable, Hashable, Sendable {
    /// The front first, then the others in the app's order (T12); never empty on a card that stands.
    public var games: [Game]
    /// The game at the head of the card.
    public var front: GameID
    public var spoilerFree: Bool
    /// The slate as it was at this Unix second. Alone no reason for an update (U1).
    public var asOf: Int64

    public init(games: [Game], front: GameID, spoilerFree: Bool, asOf: Int64) {
        self.games = games
        self.front = front
        self.spoilerFree = spoilerFree
        self.asOf = asOf
    }

    public struct Game: Codable, Hashable, Sendable {
        public var id: GameID
        public var sport: String
        public var league: String?
        public var home: String
        public var away: String
        public var phase: Phase
        /// Quarter, period, inning or half; absent before the start, and beyond regulation on a spoiler-free card (P2).
        public var period: Int?
        public var clock: String?
        /// Scores, detail and moment are absent on a spoiler-free card (P2).
        public var homeScore: Int?
        public var awayScore: Int?
        public var detail: JSONValue?
        public var moment: MomentKind?

        public init(
            id: GameID, sport: String, league: String?, home: String, away: String, phase: Phase, period: Int? = nil,
            clock: String? = nil, homeScore: Int? = nil, awayScore: Int? = nil, detail: JSONValue? = nil,
            moment: MomentKind? = nil
        ) {
            self.id = id
            self.sport = sport
            self.league = league
            self.home = home
            self.away = away
            self.phase = phase
            self.period = period
            self.clock = clock
            self.homeScore = homeScore
            self.awayScore = awayScore
            self.detail = detail
            self.moment = moment
        }
    }
}
