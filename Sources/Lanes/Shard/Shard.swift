import CardRules
import PushWire

/// Runs the lanes of some partitions, one turn at a time, and carries out what they decide.
///
/// A plain default actor; its lanes borrow its executor. Everything from outside comes through the inbox, so the loop in
/// `run` is the only caller of a turn, and it awaits nothing but its own lanes.
actor Shard {
    let inbox: ShardInbox
    private let environment: ShardEnvironment
    private let router: any ShardRouter

    private var lanes: [Lane?] = []
    private var devices: [DeviceID?] = []
    private var places: [DeviceID: Int] = [:]
    private var freePlaces: [Int] = []
    private var deadlines: DeadlineWheel
    private var outbox = Outbox()
    private var renderers: [AppID: PayloadRenderer]
    private var open: Surroundings
    private var closed: Surroundings
    /// Pushes handed to the pool and not answered.
    private var inFlight: [PushTicket: InFlight] = [:]
    /// P5: timestamps up to this one are stored as given out, for each partition of the shard.
    private var timestampMark: Int64?
    /// The newest mark on its way to the store.
    private var askedMark: Int64 = 0
    private let partitions: [Int]
    private var idleWaiters: [CheckedContinuation<Void, Never>] = []
    private var isWorking = false
    private var isOver = false
    /// L10: one start may be claimed; asked for before the turn that may need it, given back when nobody did.
    private var hasPermit = false
    /// The latest time seen: a clock that was set back shows (R7).
    private var lookedAt: WallTime
    /// The newest generation of a lane that is gone: a device that comes back must not answer to its tickets.
    private var goneGeneration: UInt32 = 0
    /// The pushes of one turn of the loop, handed over together.
    private var outgoing: [OutgoingPush] = []

    private struct InFlight {
        let lane: Int
        let event: PushEvent
        let gateway: Gateway
        let priority: PushPriority
        let id: ApnsID
        /// It counts against L10 until it is answered.
        let isClaim: Bool
    }

    /// Lanes looked at before the shard gives way to others.
    private static let lanesPerStretch = 4096

    init(environment: ShardEnvironment, router: any ShardRouter, partitions: [Int]) {
        self.environment = environment
        self.router = router
        self.partitions = partitions
        inbox = ShardInbox(callsHeld: environment.callsHeld)
        lookedAt = environment.clock.now
        deadlines = DeadlineWheel(now: environment.clock.now)
        renderers = environment.profiles.mapValues { PayloadRenderer(profile: $0) }
        open = Surroundings(slate: .empty, tuning: environment.tuning)
        closed = Surroundings(slate: .empty, tuning: environment.tuning, mayClaim: false)
    }

    // MARK: - Life

    /// Works until the inbox is finished or the task is cancelled.
    func run() async {
        for await _ in inbox.wakes { await work() }
        isOver = true
        for waiter in idleWaiters { waiter.resume() }
        idleWaiters = []
    }

    /// Answers whoever waits, and breaks the circle of shard and lanes. Nothing happens in the shard afterwards.
    func close() {
        isOver = true
        for call in inbox.finish() { call.reply?(.unavailable) }
        for reply in (outbox.committing?.replies ?? []) + outbox.gathering.replies { reply(.unavailable) }
        outbox = Outbox()
        inFlight = [:]
        lanes = []
        devices = []
        places = [:]
    }

    /// Lanes of a partition, loaded before the shard runs.
    /// - Parameter timestampFloor: what the partition's earlier owner gave out at most (P5).
    /// - Returns: what they have to ask of other records again, with the time of the report that it is about (S7).
    func install(_ stored: [StoredLane], timestampFloor: Int64) -> [OwedMessage] {
        timestampMark = min(timestampMark ?? timestampFloor, timestampFloor)
        var owed: [OwedMessage] = []
        for row in stored {
            let zone = environment.zone(row.record.settings.timeZone) ?? .utc
            let state = LaneState(restoring: row.record, zone: zone, timestampFloor: timestampFloor)
            let lane = add(
                row.record.device, state: state, generation: Generation(row.generation.value &+ 1))
            deadlines.arm(lane, at: state.nextLook)
            for effect in state.pendingOwnership {
                owed.append(
                    OwedMessage(
                        from: row.record.device, effect: effect,
                        reportedAt: row.record.pushToStart?.reportedAt ?? .distantPast))
            }
        }
        inbox.offerTime()
        return owed
    }

    /// Returns when nothing waits: no call, no commit, no push without a verdict.
    /// - Returns: whether there was anything to wait for.
    func settled() async -> Bool {
        guard !isIdle, !isOver else { return false }
        await withCheckedContinuation { idleWaiters.append($0) }
        return true
    }

    private var isIdle: Bool {
        !isWorking && inbox.isEmpty && inFlight.count == outbox.heldPushes && outbox.isIdle && outgoing.isEmpty
    }

    /// The state of one device, for people and for tests.
    func state(of device: DeviceID) async -> LaneState? {
        guard let place = places[device], let lane = lanes[place] else { return nil }
        return await lane.snapshot
    }

    var laneCount: Int { places.count }

    // MARK: - The loop

    private func work() async {
        isWorking = true
        while true {
            let load = inbox.takeAll()
            if load.isEmpty { break }
            if let snapshot = load.snapshot {
                // Before anything else looks: after a restart the slate held is empty, and would end every card.
                open = Surroundings(slate: snapshot, tuning: environment.tuning)
                closed = Surroundings(slate: snapshot, tuning: environment.tuning, mayClaim: false)
            }
            await followClock()
            for outcome in load.commits { await settleCommit(outcome) }
            for call in load.calls { await take(call) }
            for answer in load.answers { await take(answer) }
            if load.snapshot != nil { await sweep(.tick) }
            await fireDeadlines()
            sendOutgoing()
            await commitIfDue(flushing: load.isFlush)
        }
        if hasPermit {
            environment.claims.giveBack()
            hasPermit = false
        }
        isWorking = false
        inbox.nextDeadline = [deadlines.earliest, outbox.retryAt].compactMap { $0 }.min()
        if isIdle {
            for waiter in idleWaiters { waiter.resume() }
            idleWaiters = []
        }
    }

    /// R7: after a step back every deadline is judged anew; the wheel itself never goes back.
    private func followClock() async {
        let now = environment.clock.now
        guard now.seconds(since: lookedAt) < -clockStepSeconds else {
            lookedAt = max(lookedAt, now)
            return
        }
        lookedAt = now
        deadlines = DeadlineWheel(now: now)
        deadlines.grow(to: lanes.count)
        if let retryAt = outbox.retryAt {
            outbox.retryAt = min(retryAt, now.advanced(bySeconds: environment.storeRetrySeconds))
        }
        await sweep(.look)
    }

    /// Every lane looks at the newest snapshot, in the order in which the lanes lie in memory.
    private func sweep(_ event: LaneEvent) async {
        var index = 0
        while index < lanes.count {
            if let lane = lanes[index] { await turn(index, lane, event) }
            index += 1
            if index % Shard.lanesPerStretch == 0 {
                sendOutgoing()
                await Task.yield()
            }
        }
    }

    private func fireDeadlines() async {
        let now = environment.clock.now
        for index in deadlines.advance(to: now) {
            if let lane = lanes[index] { await turn(index, lane, .look) }
        }
    }

    private func take(_ call: DeviceCall) async {
        if let reply = call.reply, outbox.retryAt != nil {
            reply(.unavailable)  // the store is away: nothing is applied that cannot be kept, the app repeats it
            return
        }
        guard call.reply == nil || outbox.gathering.replies.count < environment.callsHeld else {
            call.reply?(.overloaded)
            return
        }
        let place: Int
        if let known = places[call.device] {
            place = known
        } else if case .registered(let patch) = call.event, let app = call.app, renderers[app] != nil {
            let state = LaneState(
                device: call.device, app: app, zone: patch.zone ?? .utc, at: environment.clock.now,
                tuning: environment.tuning)
            place = add(call.device, state: state, generation: Generation(goneGeneration &+ 1))
        } else {
            call.reply?(.unknownDevice)
            router.undelivered(call)
            return
        }
        guard let lane = lanes[place] else {
            call.reply?(.unknownDevice)
            return
        }
        let outcome = await turn(place, lane, call.event)
        if case .owned(let token, _, _) = call.event, await lane.owns(token) {
            // Not where a third record came in between: the row of that one must stand.
            outbox.gathering.owners.append(PhoneOwner(token: token, device: call.device))
        }
        switch outcome {
        case .kept:
            if let reply = call.reply { outbox.gathering.replies.append(reply) }
        case .stale(let held): call.reply?(.staleSelection(held: held))
        case .forwarded(let event, let owner):
            // Durable is what the owner has: it answers the app.
            router.deliver(DeviceCall(device: owner, event: event.event, reply: call.reply))
        }
    }

    private func take(_ answer: PushAnswer) async {
        guard let push = inFlight.removeValue(forKey: answer.ticket) else { return }
        if push.isClaim { environment.claims.giveBack() }
        environment.trace.record(.answered(push.event, push.gateway, answer.verdict))
        guard let lane = lanes[push.lane], devices[push.lane] == answer.ticket.device,
            lane.generation == answer.ticket.generation
        else {
            environment.trace.record(.fenced(answer.ticket.device))
            return
        }
        await turn(push.lane, lane, .verdict(answer.ticket.number, answer.verdict), answered: (push, answer))
    }

    // MARK: - One turn

    /// What a turn made of its event.
    private enum Outcome {
        case kept
        /// It was an older selection than the one held.
        case stale(held: WallTime)
        /// It belongs to the record that owns the phone (S7).
        case forwarded(ForwardedEvent, to: DeviceID)
    }

    @discardableResult
    private func turn(
        _ index: Int, _ lane: Lane, _ event: LaneEvent, answered: (InFlight, PushAnswer)? = nil
    ) async -> Outcome {
        let now = environment.clock.now
        if !hasPermit { hasPermit = environment.claims.take() }
        let turn = await lane.take(event, at: now, in: hasPermit ? open : closed)
        deadlines.arm(index, at: turn.nextLook)
        if turn.effects.isEmpty { return .kept }
        return await perform(turn.effects, index, lane, answered: answered)
    }

    private func perform(
        _ effects: [LaneEffect], _ index: Int, _ lane: Lane, answered: (InFlight, PushAnswer)?
    ) async -> Outcome {
        guard let device = devices[index] else { return .kept }
        var isHeld = false
        var claim: StartClaim?
        var outcome = Outcome.kept
        var sent: (order: PushOrder, id: ApnsID)?
        for effect in effects {
            switch effect {
            case .claim(let night, let ordinal, let key):
                let made = StartClaim(
                    device: device, night: night, ordinal: ordinal, key: key, at: environment.clock.now)
                claim = made
                outbox.gathering.claims.append(made)
            case .save:
                outbox.gathering.lanes.insert(index)
                isHeld = true
            case .send(let order):
                if let id = await send(order, index, lane, device, claim: claim, isHeld: isHeld) { sent = (order, id) }
            case .note(let entry):
                note(entry, device, sent: sent, answered: answered)
            case .claimPhone, .handOver, .confirmHandover:
                outbox.gathering.messages.append(Outbox.HeldMessage(from: device, effect: effect))
            case .forward(let event, let owner):
                outcome = .forwarded(event, to: owner)
            case .refuseSelection(let held):
                outcome = .stale(held: held)
            case .erase:
                outbox.gathering.lanes.remove(index)
                outbox.gathering.erased.insert(Outbox.Erased(lane: index, device: device))
            }
        }
        return outcome
    }

    private func note(
        _ entry: TimelineEntry, _ device: DeviceID, sent: (order: PushOrder, id: ApnsID)?,
        answered: (InFlight, PushAnswer)?
    ) {
        environment.trace.record(.decided(device, entry))
        guard environment.keepsTimeline else { return }
        var id: String?
        var summary: PushSummary?
        if let sent, sent.order.number == entry.push {
            id = sent.id.description
            summary = PushSummary(
                event: sent.order.event, gateway: sent.order.address.gateway, priority: sent.order.priority.rawValue,
                status: nil, reason: nil)
        } else if let (push, answer) = answered, entry.kind == .verdict {
            id = push.id.description
            let (status, reason) = answer.verdict.statusAndReason
            summary = PushSummary(
                event: push.event, gateway: push.gateway, priority: push.priority.rawValue, status: status,
                reason: reason)
        }
        outbox.gathering.append(TimelineRow(device: device, entry: entry, apnsID: id, push: summary))
    }

    // MARK: - Pushes

    /// Renders a push and hands it to the pool, or holds it until its batch has landed.
    private func send(
        _ order: PushOrder, _ index: Int, _ lane: Lane, _ device: DeviceID, claim: StartClaim?, isHeld: Bool
    ) async -> ApnsID? {
        let id = ApnsID(randomHigh: environment.random.next(), randomLow: environment.random.next())
        let ticket = PushTicket(device: device, generation: lane.generation, number: order.number)
        let isClaim = claim != nil && order.event == .start
        if isClaim { hasPermit = false }  // spent until the answer comes
        inFlight[ticket] = InFlight(
            lane: index, event: order.event, gateway: order.address.gateway, priority: order.priority, id: id,
            isClaim: isClaim)
        let app = await lane.app
        guard let request = renderers[app]?.request(for: order, snapshot: open.slate, id: id) else {
            // Nothing of its content is in the slate, or it cannot be made to fit (P8): never sent.
            inbox.take([PushAnswer(ticket: ticket, verdict: .notSent)])
            return nil
        }
        let push = OutgoingPush(request: request, ticket: ticket, sink: inbox)
        let passesMark = order.timestamp > timestampMark ?? 0
        if order.timestamp > askedMark - 30 { raiseMark(past: order.timestamp) }
        // L1: an end decided in an earlier turn, while another push was under way, waits for the record of that.
        let isEarly = order.event == .end && outbox.isUnwritten(index)
        if isHeld || passesMark || isEarly {
            outbox.gathering.pushes.append(
                Outbox.HeldPush(lane: index, order: order, push: push, claim: order.event == .start ? claim : nil))
        } else {
            release(push)
        }
        return id
    }

    private func release(_ push: OutgoingPush) {
        environment.trace.record(.sent(push.request.event, push.request.address.gateway, push.request.priority))
        outgoing.append(push)
    }

    /// Hands the pushes gathered since the last time to the pool, in one batch.
    private func sendOutgoing() {
        guard !outgoing.isEmpty else { return }
        environment.pusher.send(outgoing)
        outgoing = []
    }

    /// P5: a mark a minute ahead, stored once for all lanes of the shard, so that updates need no commit.
    private func raiseMark(past timestamp: Int64) {
        askedMark = timestamp + 60
        for partition in partitions { outbox.gathering.marks[partition] = askedMark }
    }

    // MARK: - Commits

    private func commitIfDue(flushing: Bool) async {
        guard outbox.committing == nil else { return }
        if let retryAt = outbox.retryAt, environment.clock.now < retryAt { return }
        outbox.retryAt = nil
        guard outbox.gathering.isUrgent || (flushing && !outbox.gathering.timeline.isEmpty) else { return }
        var gathering = outbox.gathering
        outbox.gathering = Outbox.Gathering()
        for erased in gathering.erased where await !isStillToGo(erased) { gathering.erased.remove(erased) }
        var batch = CommitBatch()
        for index in gathering.lanes.sorted() where !gathering.erased.contains(where: { $0.lane == index }) {
            if let lane = lanes[index] { batch.lanes.append(await lane.stored) }
        }
        batch.removed = gathering.erased.map(\.device).sorted()
        batch.claims = gathering.claims
        batch.owners = gathering.owners
        batch.timeline = gathering.timeline
        batch.marks = gathering.marks
        outbox.committing = gathering
        if batch.isEmpty {
            inbox.take(.landed(refused: RefusedRows()))
        } else {
            environment.store.commit(batch) { [inbox] outcome in inbox.take(outcome) }
        }
    }

    private func settleCommit(_ outcome: CommitOutcome) async {
        guard let landed = outbox.committing else { return }
        outbox.committing = nil
        switch outcome {
        case .failed(let error):
            environment.trace.record(.storeFailed(error))
            for reply in landed.replies { reply(.unavailable) }
            outbox.gathering.takeBack(landed)
            outbox.retryAt = environment.clock.now.advanced(bySeconds: environment.storeRetrySeconds)
        case .landed(let refused):
            environment.trace.record(.committed(rows: landed.lanes.count))
            if let mark = landed.marks.values.max() { timestampMark = max(timestampMark ?? 0, mark) }
            for held in landed.pushes { await release(held, refused: refused) }
            for message in landed.messages { router.route(message.effect, from: message.from) }
            for erased in landed.erased.sorted(by: { $0.lane < $1.lane }) { await forget(erased) }
            for reply in landed.replies { reply(.done) }
        }
    }

    /// A push whose record has landed leaves, unless something has overtaken it.
    private func release(_ held: Outbox.HeldPush, refused: RefusedRows) async {
        let ticket = held.push.ticket
        guard let lane = lanes[held.lane], lane.generation == ticket.generation else {
            settle(ticket, as: .notSent)
            return
        }
        if refused.lanes.contains(ticket.device) || held.claim.map(refused.claims.contains) == true {
            // Another writer was first: it may have sent this start (L10). Spent, not repeated.
            environment.trace.record(.fenced(ticket.device))
            settle(ticket, as: .unknown)
        } else if held.order.event != .end, await !lane.isCurrent(held.order) {
            settle(ticket, as: .notSent)  // A4: computed from an older selection
        } else {
            release(held.push)
        }
    }

    private func settle(_ ticket: PushTicket, as verdict: Verdict) {
        inbox.take([PushAnswer(ticket: ticket, verdict: verdict)])
    }

    // MARK: - Places

    private func add(_ device: DeviceID, state: LaneState, generation: Generation) -> Int {
        let lane = Lane(state: state, generation: generation, shard: self)
        let place: Int
        if let free = freePlaces.popLast() {
            place = free
            lanes[free] = lane
            devices[free] = device
        } else {
            place = lanes.count
            lanes.append(lane)
            devices.append(device)
            deadlines.grow(to: lanes.count)
        }
        places[device] = place
        return place
    }

    /// Nothing is owed by the device, and it has not come back meanwhile.
    private func isStillToGo(_ erased: Outbox.Erased) async -> Bool {
        guard devices[erased.lane] == erased.device, let lane = lanes[erased.lane] else { return false }
        return await lane.isRemoved
    }

    /// The record is gone from the store: so is the lane, unless the device has come back meanwhile.
    private func forget(_ erased: Outbox.Erased) async {
        let place = erased.lane
        guard devices[place] == erased.device, let lane = lanes[place] else { return }
        guard await lane.isRemoved else {
            outbox.gathering.lanes.insert(place)
            return
        }
        goneGeneration = max(goneGeneration, lane.generation.value)
        deadlines.clear(place)
        lanes[place] = nil
        devices[place] = nil
        places[erased.device] = nil
        freePlaces.append(place)
    }
}

extension Verdict {
    /// For the timeline.
    fileprivate var statusAndReason: (Int?, String?) {
        switch self {
        case .accepted: (200, nil)
        case .refused(let refusal): (refusal.status, refusal.reason.word)
        case .notSent: (nil, "not sent")
        case .unknown: (nil, "unknown")
        }
    }
}
