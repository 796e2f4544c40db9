@testable import CardRules

/// What the journey writes down beside the lane, to judge it by.
struct Books {
    /// By activity's token: what was last accepted, and whether that is sure.
    private var accepted: [[UInt8]: ShownContent] = [:]
    private var dirty: Set<[UInt8]> = []
    /// Tokens that have had their one update after the restart (I10).
    private var repeated: Set<[UInt8]> = []
    private var hasRestarted = false
    var timestamps: [[UInt8]: Int64] = [:]
    private var contents: [Flight: ShownContent] = [:]

    var ordinals: Set<String> = []
    var nights: Set<WallTime> = []
    /// What was spent and not given back, per night.
    private(set) var spent: [WallTime: Int] = [:]
    /// The same of ordinary starts, by key.
    private(set) var sent: [WallTime: [CardKey: Int]] = [:]
    /// Claims whose verdict is open.
    var open: [PushNumber: Journey.Claim] = [:]
    /// Refused with BadDeviceToken in this turn: it goes on at the other gateway, or is over.
    private var refused: PushNumber?

    /// Activities that the app has told to be over, since.
    var over: [ActivityID: WallTime] = [:]
    /// Tokens that APNs has answered 410 for.
    var gone: Set<[UInt8]> = []
    /// The app's selection, as the server heard of it.
    var selectedAt: WallTime?
    var pinned: GameID?
    var muted: [GameID] = []
    /// Counted changes of the front, T6 aside.
    var changes: [WallTime] = []
    var stopped: [CardKey: WallTime] = [:]
    /// Starts that left as the successor of a card.
    var reissues: Set<Flight> = []

    /// One push of one card.
    struct Flight: Hashable {
        let key: CardKey
        let token: [UInt8]
        let timestamp: Int64

        init(_ order: PushOrder) {
            key = order.key
            token = order.address.token
            timestamp = order.timestamp
        }
    }

    mutating func restarted() {
        hasRestarted = true
        repeated = []
        open = [:]
        refused = nil
        changes = []
    }

    mutating func clockStepped(to now: WallTime) {
        changes = []
        selectedAt = selectedAt.map { min($0, now) }
    }

    mutating func changed(_ session: Session, at now: WallTime) {
        stopped[session.id] = session.isRunning ? nil : now
    }

    mutating func answered(_ call: LaneEvent, at now: WallTime, by ledger: NightLedger) {
        switch call {
        case .reported(let report) where report.kind == .ended || report.kind == .dismissed:
            if over[report.activity] == nil { over[report.activity] = now }
        default: break
        }
    }

    mutating func rendered(_ order: PushOrder, _ content: ShownContent) { contents[Flight(order)] = content }

    mutating func left(_ order: PushOrder, _ verdict: Verdict) {
        guard order.event == .update else { return }
        let token = order.address.token
        if verdict == .accepted {
            accepted[token] = content(of: order)
            dirty.remove(token)
        } else {
            dirty.insert(token)
        }
    }

    func content(of order: PushOrder) -> ShownContent? { contents[Flight(order)] }

    /// I10: an update that says what the card was known to show, and not the one after a restart.
    mutating func isRepetition(_ order: PushOrder) -> Bool {
        let token = order.address.token
        guard order.event == .update, accepted[token] == content(of: order), !dirty.contains(token) else {
            return false
        }
        if hasRestarted, repeated.insert(token).inserted { return false }
        return true
    }

    mutating func heard(_ verdict: Verdict, of order: PushOrder, at now: WallTime) {
        if case .refused(let refusal) = verdict, refusal.status == 410 { gone.insert(order.address.token) }
        guard order.event == .start, let claim = open[order.number] else { return }
        switch verdict {
        case .refused(let refusal) where refusal.reason == .known(.badDeviceToken):
            refused = order.number
            return
        case .refused, .notSent: giveBack(claim)
        case .accepted, .unknown: break
        }
        open[order.number] = nil
    }

    /// G2: the claim of a start refused with BadDeviceToken goes on with the one sent to the other gateway.
    mutating func settleFlip(_ starts: [PushOrder]) {
        guard let number = refused, let claim = open.removeValue(forKey: number) else { return }
        refused = nil
        if let next = starts.first(where: { $0.key == claim.key }) {
            open[next.number] = claim
            if claim.isReissue { reissues.insert(Flight(next)) }
        } else {
            giveBack(claim)
        }
    }

    mutating func spend(_ claim: Journey.Claim) {
        spent[claim.night, default: 0] += 1
        if !claim.isReissue { sent[claim.night, default: [:]][claim.key, default: 0] += 1 }
    }

    private mutating func giveBack(_ claim: Journey.Claim) {
        spent[claim.night, default: 0] -= 1
        if !claim.isReissue { sent[claim.night, default: [:]][claim.key, default: 0] -= 1 }
    }
}
