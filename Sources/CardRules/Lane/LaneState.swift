/// Everything one lane knows, and the one function that changes it: `apply`. Pure: no I/O, no clock, no randomness.
///
/// `kept` survives a restart; the rest is found again from the slate, or costs one update a card (I10).
public struct LaneState: Sendable {
    // What a tick asks every lane first: side by side, so that a lane it does not concern costs few cache lines.

    /// When time alone changes something: the lane asks for a `look` then. `nil`: only news can.
    public internal(set) var nextLook: WallTime?
    /// When the last turn was: a clock that was set back shows (R7). After a restart all time lies before it.
    var lastTurnAt = WallTime.distantPast
    var watch = Watch()

    /// What must survive (L1). Written to the store as it is after a turn that says `save`.
    public internal(set) var kept: LaneRecord
    /// The device's zone, resolved from `kept.settings.timeZone`.
    public internal(set) var zone: Zone
    /// What is being sent for each card that stands.
    var sending: [Sending] = []
    /// Ends under way to activities that are no longer their key's card.
    var oldEnds: [OldEnd] = []
    /// Starts under way whose card is gone already: only their spend is still to be settled (L2).
    var orphans: [OrphanStart] = []
    /// The sessions that `kept.sessions` and its cards refer to: shared objects, no copies (P9).
    var sessions: [Session] = []
    /// The next instants of each card's life, made anew when its age, the zone or the quiet hours change.
    var plans: [LifePlan] = []
    /// When time alone lets a reissue begin (R1, R3).
    var reissueLook: WallTime?
    /// R7: after a restart, no reissue begins before this lane's turn has come.
    var reissueNotBefore = WallTime.distantPast
    /// The quiet hours that hold now, or the next ones.
    var quiet: QuietSpan?
    var madeUp: MadeUpMoment?
    /// When time alone may change the front (T4, T5, T8, A2).
    var frontLook: WallTime?
    /// G5: how long the last `TooManyRequests` held the push-to-start token back; doubles.
    var startSlowSeconds: Double?
    /// G8: the address that last accepted a start.
    var confirmedStart: PushAddress?
    var lastNumber = PushNumber(0)
    /// P5: timestamps given out by an earlier incarnation of this lane do not exceed it.
    var timestampFloor: Int64
    /// How often the app said what it wants in this process, by a selection or a registration: a decision computed from
    /// an older one is discarded (A4).
    public internal(set) var selectionRevision: UInt32 = 0

    /// Per card key the rule that decided last, why, and what would change it; newest last, at most `decisionsKept`. Not
    /// kept over a restart: the timeline has them.
    public internal(set) var decisions: [TimelineEntry] = []

    static let decisionsKept = 16

    /// A device seen for the first time.
    public init(device: DeviceID, app: AppID, zone: Zone, at now: WallTime, tuning: Tuning) {
        let night = NightSpan(containing: now, in: zone, rollsAtMinute: tuning.night.rollsAtMinute)
        self.kept = LaneRecord(device: device, app: app, ledger: NightLedger(from: night.from, to: night.to))
        self.zone = zone
        self.timestampFloor = 0
    }

    /// A lane after a restart.
    ///
    /// A start that was claimed and not answered when the process died is unknown: its card is believed (L10), or its
    /// successor is (R3).
    /// - Parameters:
    ///   - timestampFloor: the stored mark that no timestamp of an earlier incarnation exceeds (P5).
    ///   - sessions: those that the record names; one that is not there any more counts as over.
    public init(restoring record: LaneRecord, zone: Zone, timestampFloor: Int64, sessions: [Session] = []) {
        self.kept = record
        self.sessions = sessions
        self.zone = zone
        self.timestampFloor = timestampFloor
        for index in kept.cards.indices {
            if kept.cards[index].state == .starting { kept.cards[index].state = .believed }
            kept.cards[index].ageBegan = kept.cards[index].ageBegan ?? kept.cards[index].claimedAt
        }
        for index in kept.successors.indices where kept.successors[index].state == .starting {
            kept.successors[index].state = .unknown
            kept.successors[index].ageBegan = kept.successors[index].ageBegan ?? kept.successors[index].claimedAt
        }
        restoreProbe()
        for index in kept.sessions.indices where !sessions.contains(where: { $0.id == kept.sessions[index].key }) {
            kept.sessions[index].isOver = true
            kept.sessions[index].pending = nil
        }
        self.nextLook = .distantPast
        self.lastTurnAt = .distantFuture
    }

    // MARK: - What others may ask

    /// The card under a key; `nil` when it is absent.
    public func card(_ key: CardKey) -> Card? { kept.cards.first { $0.key == key } }

    // MARK: - Cards

    func cardIndex(_ key: CardKey) -> Int? { kept.cards.firstIndex { $0.key == key } }

    func successorIndex(_ key: CardKey) -> Int? { kept.successors.firstIndex { $0.key == key } }

    /// S13: activities of this app that stand on the phone, or may come to.
    var standing: Int { kept.cards.count + kept.successors.count + kept.owedEnds.count }

    /// What is being sent for a key; made on first use, gone with the card.
    subscript(sendingFor key: CardKey) -> Sending {
        get { sending.first { $0.key == key } ?? Sending(key: key) }
        set {
            if let index = sending.firstIndex(where: { $0.key == key }) {
                sending[index] = newValue
            } else {
                sending.append(newValue)
            }
        }
    }
}

/// What is being sent for one card, and what its last pushes carried. Not kept: after a restart one update settles it.
struct Sending: Sendable {
    let key: CardKey
    /// U2: at most one.
    var inFlight: InFlight?
    /// U1: what the last accepted push carried; `nil` while that is unknown (U6: dirty).
    var accepted: Shown?
    /// G8: the address that last accepted a push of this card.
    var confirmed: PushAddress?
    var lastSentAt: WallTime?
    /// P6: the priority-10 updates of the last hour, oldest first.
    var urgentAt: [WallTime] = []
    /// U6, G3, G5: nothing but an end before then.
    var holdUntil: WallTime?
    /// G5: the hold of the last `TooManyRequests`; doubles.
    var slowSeconds: Double?
    /// P5.
    var lastTimestamp: Int64 = 0
    /// When an owed end is tried again.
    var endRetryAt: WallTime?
    /// What the start of the card's successor carried, once it was accepted (R2).
    var successorShown: Shown?

    struct InFlight: Sendable {
        let number: PushNumber
        let event: PushEvent
        let address: PushAddress
        /// When it was queued (G3: a token reported before is the one refused).
        let queuedAt: WallTime
        let shown: Shown
        /// Where an update or end goes, or the start's claim.
        var triedOtherGateway = false
        /// A start that only the hard cap counts (S6).
        var isReissue = false
        let order: PushOrder
    }
}

/// What a push shows, as far as U1 and P6 ask.
struct Shown: Hashable, Sendable {
    /// Of all that the card draws but `asOf`: 64 bits, so that two contents are taken for one once in 2^64 pairs.
    let fingerprint: UInt64
    /// Of a slate card.
    var games: [Game] = []
    /// Of a session card: the session's version.
    var version: Int64 = 0

    var front: GameID? { games.first?.id }

    struct Game: Hashable, Sendable {
        let id: GameID
        let momentsBegun: UInt32
        let isFinal: Bool
    }
}

/// A start that nobody waits for any more.
struct OrphanStart: Sendable {
    let number: PushNumber
    let key: CardKey
    let isReissue: Bool
    /// The night that it was claimed in.
    let night: WallTime

    /// The pool answers every push: more than a few at a time there cannot be.
    static let kept = 8
}

/// The end of an older activity, as it is being sent.
struct OldEnd: Sendable {
    let activity: ActivityID
    var inFlight: PushNumber?
    /// Where that one went.
    var sentTo: PushAddress?
    var triedOtherGateway = false
    var address: PushAddress
    var retryAt: WallTime?
    var lastTimestamp: Int64 = 0
}

/// Which games of the slate concern this lane, by slot, so that a tick finds out with a few array reads.
struct Watch: Sendable {
    /// Of the snapshot that `slots` was made for; `nil`: make it anew.
    var roster: UInt32?
    /// Ranked by taste: every game of the slate concerns the lane (A3).
    var ranksAll = false
    var entries: [Entry] = []
    /// The newest change seen of any entry.
    var seenChange: UInt64 = 0
    /// The windows that the chosen games were last judged by, and whether there was a selection then; `nil`: judge anew.
    var judged: Judged?

    struct Judged: Equatable {
        let windows: UInt64
        let hasSelection: Bool
    }

    struct Entry: Sendable {
        let slot: Int32
        /// T1, points.
        let taste: Double
    }
}
