/// One Live Activity as the server knows it, under a card key.
public struct Card: Hashable, Sendable {
    public let key: CardKey
    public var state: State
    public var startedBy: StartedBy
    /// When its start was claimed; `nil` for a card that the app started, unless it stands in place of what a start of
    /// ours became, which nobody has seen.
    public var claimedAt: WallTime?
    /// L4: the earliest evidence of the card; `nil` while there is none.
    public var ageBegan: WallTime?
    public var activity: ActivityID?
    public var updateAddress: PushAddress?
    public var tokenReportedAt: WallTime?
    /// The head of the card and what decides about the next one.
    public var front: Front?
    /// What the card shows last once its end is owed (E1): the front first.
    public var finalGames: [GameID] = []
    /// L9 was recorded.
    public var isNeverAdopted = false

    /// What the server believes (section 1). No card is `absent`.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// A start intent is durable; the push may or may not have left. -> believed, absent.
        case starting
        /// Accepted, or verdict unknown; no update token yet. -> confirmed, ending, absent.
        case believed
        /// An update token is in hand. -> replacing, ending, absent.
        case confirmed
        /// Due for reissue: its `Successor` is under way, the card itself still stands. -> starting, believed, confirmed
        /// (the successor, when the card has made way for it), ending, absent.
        case replacing
        /// An end is owed: retried until accepted or until the card has expired anyway. -> absent.
        case ending
    }

    public enum StartedBy: String, Hashable, Sendable, Codable {
        case push, app
    }

    /// L9: nothing says yet that its start became a card, and nobody was told.
    var awaitsAcknowledgement: Bool { state == .believed && activity == nil && !isNeverAdopted }

    public init(key: CardKey, state: State, startedBy: StartedBy) {
        self.key = key
        self.state = state
        self.startedBy = startedBy
    }
}

/// The game at the head of a slate card, with what T3-T12 ask about its past.
public struct Front: Hashable, Sendable {
    public var game: GameID
    public var since: WallTime
    /// It took the front with a lift (T11).
    public var wonByLift: Bool
    /// Games that lost the front, with the time (T5).
    public var bench: [Benched]
    /// When the front changed, T6 aside, newest last; as many as T8 allows a minute.
    public var changes: [WallTime]

    public struct Benched: Hashable, Sendable {
        public let game: GameID
        public let at: WallTime

        public init(game: GameID, at: WallTime) {
            self.game = game
            self.at = at
        }
    }

    public init(
        game: GameID, since: WallTime, wonByLift: Bool = false, bench: [Benched] = [], changes: [WallTime] = []
    ) {
        self.game = game
        self.since = since
        self.wonByLift = wonByLift
        self.bench = bench
        self.changes = changes
    }
}
