internal import CardRules
internal import Lanes

/// All that the pool decides, as a value: which push goes when, over which connection, with which provider token, and what
/// an answer means (G2 to G8). No socket, no clock, no thread: events come in with their time, actions go out.
///
/// A round: `add` and `handle` whatever came, then `turn`; carry out `takeActions` in order; repeat if that brought events.
struct PoolState: Sendable {
    let plan: PoolPlan
    var groups: [GroupState]
    var flows: [Flow] = []
    /// Places of `flows`.
    var flowsOf = PerGateway<[Int]>([])
    var slots: [Slot] = []
    var freeSlots: [Int] = []
    var parked = ParkedPushes()
    var deadlines = RequestDeadlines()
    /// Updates that wait, by token: a newer one takes the place of an older (G7).
    var waitingUpdates = WaitingUpdates()
    var schedules: [TokenSchedule]
    var faults: FaultBoard
    var addresses: AddressMemory
    var otherTries: OtherTries
    var buckets: PerGateway<TokenBucket>
    var pauses = PerGateway(Pause())
    var stopping: Stop?
    var actions: [PoolAction] = []
    /// When a notice of a push's own fault was last given.
    var mentions: [PoolNotice: SteadyTime] = [:]
    var waitingCount = 0
    var inFlightCount = 0
    private var lastTicket: UInt32 = 0
    private var lastOrder: UInt64 = 0
    var lastConnection: UInt64 = 0
    var jitter: JitterSource

    /// Pushes of one app with one standing in one group.
    struct FlowKey: Equatable, Sendable {
        let group: Int
        let standing: Standing
        let topic: String
    }

    struct Flow: Sendable {
        let key: FlowKey
        let gateway: Gateway
        var lines = [WaitingLine](repeating: WaitingLine(), count: PushRank.allCases.count)
        /// Written and not answered.
        var inFlight = 0
        /// Nothing of it can go in this turn.
        var isBlocked = false
        /// Something was answered that speaks neither against its app nor against its key.
        var isProven = false
    }

    struct Slot: Sendable {
        enum Phase: Equatable, Sendable {
            case free
            case waiting
            case inFlight(connection: UInt64)
        }

        var facts: PushFacts
        var group: Int
        var flow: Int
        var phase = Phase.free
        /// Of its place in a line, or of its request; a newer one makes the older void.
        var ticket: UInt32 = 0
        var order: UInt64 = 0
        /// On the gateway's waiting clock: until then it may wait.
        var deadline = SteadyTime.zero
        var token: TokenRef?
        /// How often it was taken back from a connection as not sent.
        var moves = 0
        /// It was refused for its connection or provider token before.
        var hasChangedConnection = false
        /// G5: a start that met a 5xx, on its one quick try.
        var isQuickTry = false
        /// A repeat of what did not count is no second push.
        var isFirst: Bool { moves == 0 && !hasChangedConnection && !isQuickTry }
        /// It wants a connection above this number.
        var above: UInt64 = 0
        /// What it was refused with before its quick try; its verdict, should that not come to pass.
        var refusal: Verdict?
    }

    struct Pause: Equatable, Sendable {
        /// Set while it lasts.
        var since: SteadyTime?
        var totalSeconds = 0.0
    }

    struct Stop: Equatable, Sendable {
        /// Until then what waits still goes; `nil`: it does not, and what is in flight is awaited.
        var deadline: SteadyTime?
        var isOver = false
    }

    /// After so many it ends as not sent. A gateway whose stream limit goes up and down refuses the same stream several
    /// times (ref T16), and each is no failure.
    static let movesAtMost = 20

    init(plan: PoolPlan, jitter: JitterSource, at now: PoolTime) {
        self.plan = plan
        self.jitter = jitter
        groups = plan.groups.enumerated().map { index, group in
            GroupState(
                index: index, gateway: group.gateway, key: group.key, keyID: group.keyID, limits: plan.group)
        }
        schedules = (0..<plan.keys).map { TokenSchedule(key: $0, limits: plan.token) }
        faults = FaultBoard(limits: plan.faults)
        addresses = AddressMemory(limits: plan.addresses)
        otherTries = OtherTries(inARow: plan.faults.inARow, seconds: plan.otherTrySeconds)
        buckets = PerGateway(TokenBucket(perSecond: plan.perSecond, at: now.steady))
    }

    mutating func takeActions() -> [PoolAction] {
        guard !actions.isEmpty else { return [] }
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    /// Nothing is held any more.
    var isEmpty: Bool { waitingCount == 0 && inFlightCount == 0 }

    // MARK: - Taking pushes in

    enum Admission: Equatable {
        /// Its place; whoever had it before is over.
        case taken(PushID)
        /// G7: it takes the place of an older update of the same card, which ends as not sent, by the caller.
        case replaces(PushID)
        /// No app or key for it, or the pool is stopping.
        case refused
    }

    mutating func add(_ facts: PushFacts, at now: PoolTime) -> Admission {
        guard stopping == nil else { return .refused }
        guard let flow = flow(of: facts, at: now) else {
            mention(.unknownTopic(facts.topic, facts.gateway), at: now)
            return .refused
        }
        let group = flows[flow].key.group
        if facts.event == .end, let older = waiting(facts) { drop(older) }  // what waits would come after it
        let place = freeSlots.last ?? slots.count
        let push = PushID(place: place)
        if facts.event == .update {
            if let older = waitingUpdate(to: facts.address) {
                if slots[older.place].facts.gateway == facts.gateway {
                    return replace(older, by: facts, group: group, flow: flow)
                }
                waitingUpdates.remove(older, facts.address.bits)
            }
            waitingUpdates.insert(push, facts.address.bits)
        }
        if !freeSlots.isEmpty { freeSlots.removeLast() }
        let slot = Slot(
            facts: facts, group: group, flow: flow, order: nextOrder(),
            deadline: waitingTime(facts.gateway, at: now).advanced(bySeconds: plan.timeoutSeconds))
        if place == slots.count { slots.append(slot) } else { slots[place] = slot }
        enqueue(push)
        return .taken(push)
    }

    /// The update of that card that waits.
    private func waiting(_ facts: PushFacts) -> PushID? {
        waitingUpdate(to: facts.address).flatMap { slots[$0.place].facts.gateway == facts.gateway ? $0 : nil }
    }

    func waitingUpdate(to address: AddressKey) -> PushID? {
        waitingUpdates.first(address.bits) { slots[$0.place].facts.address == address }
    }

    /// The place in line is the older one's; of both ranks the better one holds.
    private mutating func replace(
        _ older: PushID, by facts: PushFacts, group: Int, flow: Int
    ) -> Admission {
        let before = slots[older.place]
        var slot = Slot(
            facts: facts, group: group, flow: flow, order: before.order, deadline: before.deadline)
        let rank = min(facts.rank, before.facts.rank)
        if slot.flow == before.flow, rank == before.facts.rank {
            (slot.phase, slot.ticket) = (before.phase, before.ticket)
            slots[older.place] = slot
        } else {
            slots[older.place] = slot
            waitingCount -= 1
            enqueue(older, rank: rank, isReturning: true)
        }
        return .replaces(older)
    }

    /// Puts a push at the end of its line, or where it stood.
    mutating func enqueue(_ push: PushID, rank: PushRank? = nil, isReturning: Bool = false) {
        slots[push.place].phase = .waiting
        slots[push.place].ticket = nextTicket()
        waitingCount += 1
        let flow = slots[push.place].flow
        let line = (rank ?? slots[push.place].facts.rank).rawValue
        if isReturning {
            flows[flow].lines[line].giveBack(place(of: push))
        } else {
            flows[flow].lines[line].append(place(of: push))
        }
    }

    func place(of push: PushID) -> LinePlace {
        LinePlace(
            push: push, ticket: slots[push.place].ticket, order: slots[push.place].order,
            deadline: slots[push.place].deadline)
    }

    func isCurrent(_ place: LinePlace) -> Bool {
        slots[place.push.place].ticket == place.ticket && slots[place.push.place].phase == .waiting
    }

    /// Ends a waiting push as not sent.
    mutating func drop(_ push: PushID) {
        waitingCount -= 1
        forgetWaiting(push)
        settle(push, slots[push.place].refusal ?? .notSent)
    }

    mutating func forgetWaiting(_ push: PushID) {
        guard slots[push.place].facts.event == .update else { return }
        waitingUpdates.remove(push, slots[push.place].facts.address.bits)
    }

    /// The one way out.
    mutating func settle(_ push: PushID, _ verdict: Verdict) {
        slots[push.place].phase = .free
        slots[push.place].ticket = nextTicket()
        freeSlots.append(push.place)
        actions.append(.settle(push, verdict))
    }

    /// - Returns: `nil`: no app or key for it.
    private mutating func flow(of facts: PushFacts, at now: PoolTime) -> Int? {
        let isConfirmed = facts.isConfirmed && !addresses.isFailing(facts.address, at: now.steady)
        let wanted: Standing = isConfirmed || plan.group.connections < 2 ? .confirmed : .unconfirmed
        // An app has few of them, and a daemon few apps: quicker than a look into a table.
        for place in flowsOf[facts.gateway]
        where flows[place].key.standing == wanted && flows[place].key.topic == facts.topic {
            return place
        }
        guard let group = plan.group(of: facts) else { return nil }
        let key = FlowKey(group: group, standing: groups[group].home(of: wanted), topic: facts.topic)
        flows.append(Flow(key: key, gateway: facts.gateway))
        flowsOf[facts.gateway].append(flows.count - 1)
        return flows.count - 1
    }

    /// Once a minute each; beyond the bound the older ones are forgotten.
    mutating func mention(_ notice: PoolNotice, at now: PoolTime) {
        if let last = mentions[notice], now.steady.seconds(since: last) < 60 { return }
        if mentions.count >= 100 { mentions = [:] }
        mentions[notice] = now.steady
        actions.append(.notice(notice))
    }

    mutating func nextTicket() -> UInt32 {
        lastTicket &+= 1
        return lastTicket
    }

    private mutating func nextOrder() -> UInt64 {
        lastOrder += 1
        return lastOrder
    }
}

/// Draws for jitter (G5) from the injected generator: 0..<1; without one, 1: the full wait.
struct JitterSource: Sendable {
    let random: (any RandomSource)?

    func next() -> Double { random.map { Double($0.next() >> 11) * 0x1p-53 } ?? 1 }
}

/// Requests in flight in the order in which their time is over: it is the same for all, so a line is enough (G6).
struct RequestDeadlines: Sendable {
    private struct Entry {
        let push: PushID
        let ticket: UInt32
        let deadline: SteadyTime
    }

    private var entries: [Entry] = []
    private var head = 0

    mutating func append(_ push: PushID, ticket: UInt32, deadline: SteadyTime) {
        entries.append(Entry(push: push, ticket: ticket, deadline: deadline))
    }

    /// The oldest; it may be over already.
    var first: (push: PushID, ticket: UInt32, deadline: SteadyTime)? {
        guard head < entries.count else { return nil }
        return (entries[head].push, entries[head].ticket, entries[head].deadline)
    }

    mutating func removeFirst() {
        guard head < entries.count else { return }
        head += 1
        if head == entries.count {
            entries.removeAll(keepingCapacity: entries.count < 65_536)
            head = 0
        } else if head > 4096, head * 2 > entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }
}
