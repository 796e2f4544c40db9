public import CardRules

/// Judges from the phones' side whether the invariants of rules.md section 11 hold: I1 to I10.
///
/// It has its own simple model of the night and shares no code with the lanes but values and `Tuning`. It is told what
/// phones report and what happens on them, what gateways answer, and the slate; times must not go back.
public struct Judge: Sendable {
    public let options: JudgeOptions
    let tuning: Tuning
    var slate: JudgeSlate
    /// By their place in the fleet.
    var phones: [PhoneView] = []
    var reader = PushReader()
    var violations: [Violation] = []
    var counts: [Invariant: Int] = [:]
    var tally = JudgeReport.Tally()
    var fronts = FrontHistory()
    /// By token: a refusal at either gateway puts the address in doubt (G2).
    var refusals: [[UInt8]: Refusals] = [:]
    var ids = RecentIDs()
    var probed: Set<Int> = []
    /// I6 is judged once this is long enough ago; `nil` while faults go on.
    var quietSince: WallTime? = .distantPast
    var sessions: [CardKey: SessionView] = [:]
    /// I10: when the server came back.
    var restarts: [WallTime] = []

    struct Refusals: Sendable {
        var gateways: Set<Gateway> = []
        /// Milliseconds, of the newest 410.
        var goneSince: Int64?
    }

    public init(tuning: Tuning = Tuning(), options: JudgeOptions = JudgeOptions()) {
        self.tuning = tuning
        self.options = options
        slate = JudgeSlate(
            window: tuning.window, rememberSeconds: 4 * options.settleSeconds,
            isKeptAtOnce: !options.hearsReportsOnArrival)
    }

    // MARK: What it is told

    /// A line reached the server.
    public mutating func sees(_ line: SlateLine, at now: WallTime) { slate.apply(line, at: now) }

    /// The server has answered for all lines that have reached it: it keeps them, whatever becomes of its process.
    mutating func slateIsKept(at now: WallTime) { slate.isKept(at: now) }

    /// A game stands like this, for those who have no lines.
    public mutating func sees(
        game: GameID, startsAt: WallTime? = nil, sport: Sport = .other("other"), phase: Phase, home: Int, away: Int,
        period: Int? = nil, at now: WallTime
    ) {
        slate.set(
            game, startsAt: startsAt, sport: sport, face: .init(phase: phase, home: home, away: away), period: period,
            at: now)
    }

    /// Faults begin: until `calms`, I6 is not judged.
    public mutating func isDisturbed() { quietSince = nil }

    /// Faults have stopped and every hold of S10, G3 and G5 is over.
    public mutating func calms(at now: WallTime) { quietSince = now }

    /// The server has restarted: one update per card may repeat (I10).
    public mutating func serverRestarts(at now: WallTime) { restarts.append(now) }

    /// The lane of one phone has restarted: one update per card of that phone may repeat (I10).
    public mutating func laneRestarts(ofPhone number: Int, at now: WallTime) {
        var phone = take(number)
        defer { put(phone, number) }
        phone.restarts.append(now)
    }

    /// An operator made a moment up for one phone. It excuses nothing: a takeover that it brings is judged as any other
    /// (I9), and no content may tell of it to a spoiler-free phone (I3). Counted.
    public mutating func madeUpMoment(ofPhone number: Int, at now: WallTime) { tally.madeUpMoments += 1 }

    /// An operator probes one phone: its starts break rules on purpose (api.md, probes), so from now on nothing of that phone
    /// is a violation.
    public mutating func probe(ofPhone number: Int) { probed.insert(number) }

    /// On how many cards that stand each game is in front now.
    public var cardsInFront: [GameID: Int] { fronts.now }

    /// The server has cleared a token (I7).
    /// - Parameter isLive: whether the phone still holds it.
    public mutating func serverClears(_ address: PushAddress, phone: Int?, isLive: Bool, at now: WallTime) {
        let seen = refusals[address.token]
        let isGone = seen?.goneSince != nil
        let isRefusedByBoth = seen?.gateways.count == 2
        if isLive {
            add(.i7, phone, "a token that its phone still holds was cleared", at: now)
        } else if !isGone, !isRefusedByBoth {
            add(.i7, phone, "a token was cleared that no gateway had called gone and not both had refused", at: now)
        }
    }

    /// The youngest that a card may be followed by another (R1); a round takes along what is due within the spread (R2).
    var reissueDue: Double {
        tuning.reissue.afterSeconds - 2 * tuning.reissue.spreadSeconds - options.inFlightSeconds
    }

    /// Whether its lane, or the whole server, came back in that time.
    func hasRestarted(_ phone: PhoneView, from: WallTime, to: WallTime = .distantFuture) -> Bool {
        let isThen = { (time: WallTime) in time >= from && time <= to }
        return restarts.contains(where: isThen) || phone.restarts.contains(where: isThen)
    }

    /// Takes a phone's view out, so that it can be changed while the judge is; put it back with `put`.
    mutating func take(_ number: Int) -> PhoneView {
        while phones.count <= number { phones.append(PhoneView()) }
        var view = PhoneView()
        swap(&view, &phones[number])
        return view
    }

    mutating func put(_ view: consuming PhoneView, _ number: Int) { phones[number] = view }

    // MARK: What it says

    mutating func add(_ invariant: Invariant, _ phone: Int?, _ detail: String, at now: WallTime) {
        if let phone, probed.contains(phone) { return }
        counts[invariant, default: 0] += 1
        guard violations.count < options.violationsKept else { return }
        violations.append(Violation(invariant: invariant, at: now, phone: phone, detail: detail))
    }

    /// - Parameter moments: intervals in which a moment was on, from whoever knows them.
    public func report(moments: [MomentInterval] = [], at now: WallTime) -> JudgeReport {
        var report = JudgeReport(tally: tally)
        report.counts = counts
        report.violations = violations
        report.standing = phones.reduce(0) { $0 + $1.cards.count { $0.isAlive } }
        for moment in moments {
            report.fronted[moment.kind, default: .init()].moments += 1
            if fronts.wasInFront(moment.game, from: moment.from, to: moment.to, now: now) {
                report.fronted[moment.kind, default: .init()].fronted += 1
                if !report.fronted[moment.kind, default: .init()].games.contains(moment.game) {
                    report.fronted[moment.kind, default: .init()].games.append(moment.game)
                }
            }
        }
        for kind in report.fronted.keys { report.fronted[kind]?.games.sort() }
        return report
    }
}

/// What the judge knows of one phone.
struct PhoneView: Sendable {
    var settings: PhoneReport.Registration?
    /// The record that its app reports under, and since when it is that one instead of another.
    var record: DeviceID?
    var recordSince: WallTime?
    /// Until then that record and the one before it are two phones to the server: no token tells otherwise (S7).
    var isTwoUntil = WallTime.distantPast
    /// First.
    var registeredAt: WallTime?
    var lastRegisteredAt: WallTime?
    var tokenReportedAt: WallTime?
    var selection: PhoneProfile.Choice?
    var selectedAt: WallTime?
    /// Games that were ever on the app's list.
    var everListed: Set<GameID> = []
    /// Those of tonight; forgotten when another night begins.
    var night: Int?
    var starts: [CardKey: Starts] = [:]
    var startsInAll = 0
    /// When a start of that key was accepted last, as far as the server heard.
    var acceptedAt: [CardKey: WallTime] = [:]
    /// When the app said last that its owner had dismissed a card of that key.
    var dismissedAt: [CardKey: WallTime] = [:]
    /// Starts that were accepted, by their timestamp.
    var acceptedStarts: [Int64: AcceptedStart] = [:]
    /// Reports that the server has not answered yet.
    var underWay = 0
    /// When the report under way first reached the server.
    var arrivedAt: WallTime?
    /// When the server last answered one, or the phone came back to the network.
    var answeredAt: WallTime?
    var isOffline = false
    /// I10: when its lane came back alone.
    var restarts: [WallTime] = []
    /// Ever: games that stand as the night turns do not join anew (A3), so a card that went then is not missing.
    var hasHadCard = false
    /// Alive ones, and those that ended lately.
    var cards: [CardView] = []
    /// I6 for the phone as a whole was found and is not over.
    var isMissingCard = false

    struct AcceptedStart: Sendable {
        /// When the server handed it to its pool.
        let queuedAt: WallTime
        /// The server got the answer.
        let isHeard: Bool
    }

    struct Starts: Sendable {
        /// Without reissues.
        var ordinary = 0
        var isAcknowledged = false
    }
}

struct CardView: Sendable {
    let activity: ActivityID
    let key: CardKey
    let startedBy: Card.StartedBy
    let began: WallTime
    /// When the server decided its start; `began` where the app started it.
    let decidedAt: WallTime
    var isAlive = true
    var content: SlateContent
    var tokenReportedAt: WallTime?
    /// What the server has pushed and knows accepted; `asOf` is zero.
    var accepted: SlateContent?
    var newestTimestamp: Int64?
    /// A push since `accepted` failed, or its answer was lost (U6).
    var isDirty = false
    /// It was, until the push that was accepted last.
    var wasDirty = false
    /// A push to it was accepted and lost (ref R3): nobody can know what it shows.
    var isLost = false
    /// Its end was accepted, and may be on its way.
    var isEndAccepted = false
    /// Updates that said what was known already, each excused by a restart.
    var repeated = 0
    var overReportedAt: WallTime?
    var goneAnsweredAt: WallTime?
    /// When it was last pushed to, whatever came of that.
    var lastPushAt: WallTime?
    /// The last change of its front that was accepted.
    var change: FrontChange?
    /// Since when those of its games that have no moment have been shown without one.
    var calmSince: [GameID: WallTime] = [:]
    /// When the front changed, T6 and pins aside.
    var takeovers: [WallTime] = []
    /// What I6 has found and is not over.
    var faults: Set<String> = []
}

/// A moment was on: the kind is of the rules, the interval of whoever computed it.
public struct MomentInterval: Hashable, Sendable {
    public let game: GameID
    public let kind: MomentKind
    public let from: WallTime
    public let to: WallTime

    public init(game: GameID, kind: MomentKind, from: WallTime, to: WallTime) {
        self.game = game
        self.kind = kind
        self.from = from
        self.to = to
    }
}

/// What the night came to.
public struct JudgeReport: Sendable {
    /// By invariant; none where none was broken.
    public internal(set) var counts: [Invariant: Int] = [:]
    /// The first of them, in order of time.
    public internal(set) var violations: [Violation] = []
    public let tally: Tally
    /// Cards alive on phones now.
    public internal(set) var standing = 0
    public internal(set) var fronted: [MomentKind: Fronted] = [:]

    public var violationsInAll: Int { counts.values.reduce(0, +) }

    init(tally: Tally) { self.tally = tally }

    public struct Tally: Hashable, Sendable {
        public internal(set) var startedByPush = 0
        public internal(set) var startedByApp = 0
        public internal(set) var updates = 0
        /// Cards that ended, by what ended them.
        public internal(set) var ended: [PhoneEvent.Ending: Int] = [:]
        /// Changes of the front on cards, as phones saw them.
        public internal(set) var frontChanges = 0
        /// Moments that an operator made up.
        public internal(set) var madeUpMoments = 0
        public internal(set) var dropped: [PhoneEvent.Drop: Int] = [:]

        public init() {}
    }

    /// Of the moments of one kind: how many there were, and in how many the game was in front on some card meanwhile.
    public struct Fronted: Hashable, Sendable {
        public internal(set) var moments = 0
        public internal(set) var fronted = 0
        /// The games that were, each once, in order of id.
        public internal(set) var games: [GameID] = []

        public init() {}
    }
}

/// When each game was in front of at least one card.
struct FrontHistory: Sendable {
    private var games: [GameID: Spans] = [:]

    private struct Spans: Sendable {
        var cards = 0
        var since = WallTime.distantPast
        var past: [(from: WallTime, to: WallTime)] = []
    }

    mutating func gains(_ game: GameID, at now: WallTime) {
        if games[game, default: Spans()].cards == 0 { games[game, default: Spans()].since = now }
        games[game, default: Spans()].cards += 1
    }

    mutating func loses(_ game: GameID, at now: WallTime) {
        guard var spans = games[game], spans.cards > 0 else { return }
        spans.cards -= 1
        if spans.cards == 0 { spans.past.append((spans.since, now)) }
        games[game] = spans
    }

    var now: [GameID: Int] { games.compactMapValues { $0.cards > 0 ? $0.cards : nil } }

    func wasInFront(_ game: GameID, from: WallTime, to: WallTime, now: WallTime) -> Bool {
        guard let spans = games[game] else { return false }
        if spans.cards > 0, spans.since <= to, from <= now { return true }
        return spans.past.contains { $0.from <= to && from <= $0.to }
    }
}

/// The newest ids of pushes, to find one used twice. Remembers hashes; the oldest goes at the bound.
struct RecentIDs: Sendable {
    private var known: Set<UInt64> = []
    private var ring: [UInt64] = []
    private var next = 0
    private static let kept = 65_536

    /// - Returns: false for an id that was there before.
    mutating func insert(_ id: String) -> Bool {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        guard known.insert(hash).inserted else { return false }
        if ring.count < Self.kept {
            ring.append(hash)
        } else {
            known.remove(ring[next])
            ring[next] = hash
            next = (next + 1) % Self.kept
        }
        return true
    }
}
