/// Tonight's games as they are at one instant: merged, windowed, ranked. Immutable; made once a tick, read by every lane.
///
/// A class, and copied once per shard, so that two shards never count references on the same object.
public final class SlateSnapshot: Sendable {
    /// Rises with every snapshot of one process.
    public let version: UInt64
    /// Changes whenever a slot changes its meaning or a game joins: lanes then look their games up again.
    public let roster: UInt32
    /// Rises whenever a game enters or leaves the window, or the roster changes: while it stands, nobody's chosen games
    /// join or leave (A3).
    public let windows: UInt64
    /// When it was made.
    public let asOf: WallTime
    /// By slot. A retired game leaves the roster; slots of one roster never move.
    public let games: [RankedGame]
    /// Where each game is in `games`.
    public let slots: [GameID: Int]

    /// - Parameter windows: without one anything may have changed since the last snapshot.
    public init(version: UInt64, roster: UInt32, windows: UInt64? = nil, asOf: WallTime, games: [RankedGame]) {
        self.version = version
        self.roster = roster
        self.windows = windows ?? version
        self.asOf = asOf
        self.games = games
        self.slots = Dictionary(games.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Parameter slots: where each game is in `games`; a roster that stays keeps them.
    init(
        version: UInt64, roster: UInt32, windows: UInt64, asOf: WallTime, games: [RankedGame], slots: [GameID: Int]
    ) {
        self.version = version
        self.roster = roster
        self.windows = windows
        self.asOf = asOf
        self.games = games
        self.slots = slots
    }

    private init(copying other: SlateSnapshot) {
        version = other.version
        roster = other.roster
        windows = other.windows
        asOf = other.asOf
        games = other.games.map { $0 }
        slots = other.slots
    }

    /// A copy of its own for one shard.
    public func copy() -> SlateSnapshot { SlateSnapshot(copying: self) }

    public static let empty = SlateSnapshot(version: 0, roster: 0, asOf: .distantPast, games: [])

    public func game(_ id: GameID) -> RankedGame? { slots[id].map { games[$0] } }
}

/// One game of a snapshot: what it is, what it is worth, and what a card would show of it.
public struct RankedGame: Hashable, Sendable {
    public var id: GameID
    public var sport: Sport
    public var league: String?
    public var home: String
    public var away: String
    public var startsAt: WallTime?
    public var phase: Phase
    public var period: Int?
    public var clock: String?
    public var homeScore: Int
    public var awayScore: Int
    public var detail: JSONValue?
    /// 0...100, the same for everyone (T10).
    public var worth: Double
    /// The moments that are on now, strongest boost first (T2, T9).
    public var moments: [MomentKind]
    /// The largest boost among the moments on now or over for less than `takeover.tailSeconds` (T1).
    public var lift: Double
    /// In the window of S11 at the snapshot's instant.
    public var isInWindow: Bool
    /// Play beyond regulation, a shootout included (P2).
    public var isBeyondRegulation: Bool
    /// 64 bits of all that an ordinary card draws of this game: the same again after a change and back (U1).
    public private(set) var face: UInt64 = 0
    /// The same of what a spoiler-free card draws (P2).
    public private(set) var spoilerFreeFace: UInt64 = 0
    /// Rises whenever worth, lift, moments, window or a face changed: a lane whose games all kept it has nothing to do.
    public var changeVersion: UInt64
    /// Rises with each moment that begins (P6).
    public var momentsBegun: UInt32

    public init(
        id: GameID, sport: Sport, league: String? = nil, home: String, away: String, startsAt: WallTime? = nil,
        phase: Phase, period: Int? = nil, clock: String? = nil, homeScore: Int = 0, awayScore: Int = 0,
        detail: JSONValue? = nil, worth: Double, moments: [MomentKind] = [], lift: Double = 0, isInWindow: Bool = true,
        isBeyondRegulation: Bool = false,
        changeVersion: UInt64 = 1, momentsBegun: UInt32 = 0
    ) {
        self.id = id
        self.sport = sport
        self.league = league
        self.home = home
        self.away = away
        self.startsAt = startsAt
        self.phase = phase
        self.period = period
        self.clock = clock
        self.homeScore = homeScore
        self.awayScore = awayScore
        self.detail = detail
        self.worth = worth
        self.moments = moments
        self.lift = lift
        self.isInWindow = isInWindow
        self.isBeyondRegulation = isBeyondRegulation
        self.changeVersion = changeVersion
        self.momentsBegun = momentsBegun
        drawFaces()
    }

    /// To be called when a field that a card draws was changed in place.
    mutating func drawFaces() {
        face = SlateContent.Game(self, spoilerFree: false).face
        spoilerFreeFace = SlateContent.Game(self, spoilerFree: true).face
    }
}
