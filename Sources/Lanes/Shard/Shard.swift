import CardRules
import PushWire

/// Runs the lanes of some partitions, one turn at a time, and carries out what they decide.
///
/// A plain default actor; its lanes borrow its executor. Everything from outside comes through the inbox, so the loop in
/// `run` is the only caller of a turn, and it awaits nothing but its own lanes.
actor Shard {
    let inbox: ShardInbox
    let environment: ShardEnvironment
    let router: any ShardRouter

    var lanes: [Lane?] = []
    var devices: [DeviceID?] = []
    var places: [DeviceID: Int] = [:]
    var freePlaces: [Int] = []
    var deadlines: DeadlineWheel
    var outbox = Outbox()
    var renderers: [AppID: PayloadRenderer]
    /// What turns look at, by how many starts they may claim.
    var surroundings: [Surroundings]
    var slate: SlateSnapshot { surroundings[0].slate }
    /// Pushes handed to the pool and not answered.
    var inFlight: [PushTicket: InFlight] = [:]
    /// P5: timestamps up to this one are stored as given out, for each partition of the shard.
    var timestampMark: Int64?
    /// The newest mark on its way to the store.
    var askedMark: Int64 = 0
    /// Of its partitions, those that are on this node. Without a cluster all of them.
    var tenures: [Int: Tenure] = [:]
    /// Those that another node is to have.
    var resting: Set<Int> = []
    /// Nothing comes and goes: no call needs to be asked for its partition.
    let isAlone: Bool
    var tuning: Tuning
    /// The tick whose turns are being taken.
    var tick: TickWatch?
    /// When lanes were thrown away lately.
    var deaths: [DeviceID: [WallTime]] = [:]
    var idleWaiters: [CheckedContinuation<Void, Never>] = []
    var isWorking = false
    var isOver = false
    /// L10: starts that may be claimed; asked for before the turn that may need them, given back when nobody did.
    var permits = 0
    /// The latest time seen: a clock that was set back shows (R7).
    var lookedAt: WallTime
    /// The newest generation of a lane that is gone: a device that comes back must not answer to its tickets.
    var goneGeneration: UInt32 = 0
    /// The pushes of one turn of the loop, handed over together.
    var outgoing: [OutgoingPush] = []
    /// Lanes that were thrown away and are being read again.
    var fallen: [DeviceID: FallenLane] = [:]

    struct InFlight {
        let lane: Int
        let event: PushEvent
        let gateway: Gateway
        let priority: PushPriority
        let id: ApnsID
        /// It counts against L10 until it is answered.
        let isClaim: Bool
        let isReissue: Bool
        /// The tick that it was ordered for.
        let tick: TickWatch?
    }

    /// Lanes looked at before the shard gives way to others.
    static let lanesPerStretch = 4096

    /// - Parameter partitions: that may ever be here.
    init(environment: ShardEnvironment, router: any ShardRouter, partitions: [Int], tuning: Tuning) {
        self.environment = environment
        self.tuning = tuning
        self.router = router
        isAlone = environment.cluster == nil
        if isAlone { for partition in partitions { tenures[partition] = Tenure(epoch: 0) } }
        inbox = ShardInbox(callsHeld: environment.callsHeld)
        lookedAt = environment.clock.now
        deadlines = DeadlineWheel(now: environment.clock.now)
        renderers = environment.profiles.mapValues { PayloadRenderer(profile: $0) }
        surroundings = Shard.surroundings(.empty, tuning)
    }

    static func surroundings(_ slate: SlateSnapshot, _ tuning: Tuning) -> [Surroundings] {
        (0...Surroundings.claimsATurn).map { Surroundings(slate: slate, tuning: tuning, claims: $0) }
    }

    // MARK: - Life

    /// Works until the inbox is finished or the task is cancelled.
    func run() async {
        for await _ in inbox.wakes { await work() }
        isOver = true
        inbox.endLoop()
        for tenure in tenures.values where !tenure.isAtRest { tenure.whenAtRest?() }
        for waiter in idleWaiters { waiter.resume() }
        idleWaiters = []
    }

    /// Answers whoever waits, and breaks the circle of shard and lanes. Nothing happens in the shard afterwards.
    func close() {
        isOver = true
        let rest = inbox.finish()
        for call in rest.calls + fallen.values.flatMap(\.calls) { call.reply(.unavailable) }
        for order in rest.kills { order.whenWritten(false) }
        for gone in fallen.values { if case .writing = gone.stage { gone.whenWritten(false) } }
        fallen = [:]
        for reply in (outbox.committing?.replies ?? []) + outbox.gathering.replies { reply.tell(.unavailable) }
        for call in tenures.values.flatMap({ $0.waiting ?? [] }) { call.reply(.unavailable) }
        tenures = [:]
        resting = []
        outbox = Outbox()
        inFlight = [:]
        lanes = []
        devices = []
        places = [:]
    }

    /// Lanes of a partition.
    /// - Parameter isWhileRunning: their overdue reissues wait until they are paced (R7).
    /// - Returns: what is left to be done for them when all are there.
    func install(_ loaded: LoadedPartition, isWhileRunning: Bool = false) -> Installed {
        let (timestampFloor, sessions) = (loaded.timestampFloor, loaded.sessions)
        timestampMark = min(timestampMark ?? timestampFloor, timestampFloor)
        var installed = Installed()
        let now = environment.clock.now
        for row in loaded.rows {
            let zone = environment.zone(row.record.settings.timeZone) ?? .utc
            var state = LaneState(
                restoring: row.record, zone: zone, timestampFloor: timestampFloor,
                sessions: row.record.sessions.compactMap { sessions.all[$0.key] })
            installed.unheard += sessions.unheard(by: row.record)
            if let overdue = state.overdueReissues(at: now, in: surroundings[0]) {
                installed.overdue.append(
                    OverdueReissue(device: row.record.device, limit: overdue.limit, starts: overdue.starts))
                if isWhileRunning { state.holdReissues(until: now.advanced(bySeconds: Shard.heldUntilPacedSeconds)) }
            }
            // Here before and dropped, it may never have written its generation.
            let newest = isAlone ? row.generation.value : max(row.generation.value, goneGeneration)
            let lane = add(row.record.device, state: state, generation: Generation(newest &+ 1))
            deadlines.arm(lane, at: state.nextLook)
            for effect in state.pendingOwnership {
                installed.owed.append(
                    OwedMessage(
                        from: row.record.device, effect: effect,
                        reportedAt: row.record.pushToStart?.reportedAt ?? .distantPast))
            }
        }
        for damaged in loaded.damaged { rest(damaged) }
        inbox.offerTime()
        return installed
    }

    /// Longer than the pacing of one partition's reissues takes to be worked out.
    private static let heldUntilPacedSeconds = 30.0

    /// R7: no reissue of this device begins before then.
    func holdReissues(of device: DeviceID, until time: WallTime) async {
        guard let place = places[device], let lane = lanes[place] else { return }
        await lane.holdReissues(until: time)
        if !isAlone { deadlines.arm(place, at: time) }
        inbox.offerTime()
    }

    /// The app of each device that is there and not on its way out.
    func apps(of asked: [DeviceID]) async -> [DeviceID: AppID] {
        var apps: [DeviceID: AppID] = [:]
        for device in asked {
            guard let place = places[device], let lane = lanes[place], await !lane.isRemoved else { continue }
            apps[device] = await lane.app
        }
        return apps
    }

    /// Returns when nothing waits: no call, no commit, no push without a verdict.
    /// - Returns: whether there was anything to wait for.
    func settled() async -> Bool {
        guard !isIdle, !isOver else { return false }
        await withCheckedContinuation { idleWaiters.append($0) }
        return true
    }

    var isIdle: Bool {
        !isWorking && inbox.isEmpty && inFlight.count == outbox.heldPushes && outbox.isIdle && outgoing.isEmpty
            && !isReadingFallen
    }

    private var isReadingFallen: Bool {
        fallen.values.contains { if case .reading = $0.stage { true } else { false } }
    }

    /// The state of one device, for people and for tests.
    func state(of device: DeviceID) async -> LaneState? {
        guard let place = places[device], let lane = lanes[place] else { return nil }
        return await lane.snapshot
    }

    var laneCount: Int { places.count }

    // MARK: - The loop

    func work() async {
        isWorking = true
        while true {
            let load = inbox.takeAll()
            if load.isEmpty { break }
            if let snapshot = load.snapshot {
                // Before anything else looks: after a restart the slate held is empty, and would end every card.
                if let newest = load.tuning { tuning = newest }
                surroundings = Shard.surroundings(snapshot, tuning)
            }
            await followClock()
            for order in load.kills { kill(order) }
            for (device, news) in load.fallenNews { await take(news, of: device) }
            await carryOut(load.orders)
            for outcome in load.commits { await settleCommit(outcome) }
            for call in load.calls { await take(call) }
            for answer in load.answers { await take(answer) }
            if load.snapshot != nil { await sweep(for: load) }
            await fireDeadlines()
            // Of a partition that has gone, the next owner reads the post again.
            outbox.gathering.applied += load.applied.filter { runs($0.id.partition) }
            sendOutgoing()
            await commitIfDue(flushing: load.isFlush || !resting.isEmpty)
            readFallenLanes()
            tellOfRest()
        }
        for _ in 0..<permits { environment.claims.giveBack() }
        permits = 0
        isWorking = false
        inbox.nextDeadline = [deadlines.earliest, outbox.retryAt, outbox.timelineDueAt].compactMap { $0 }.min()
        if isIdle {
            for waiter in idleWaiters { waiter.resume() }
            idleWaiters = []
        }
    }

    /// R7: after a step back every deadline is judged anew; the wheel itself never goes back.
    func followClock() async {
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
        outbox.gathering.timelineSince = outbox.gathering.timelineSince.map { min($0, now) }
        await sweep(.look)
    }

    private func sweep(for load: ShardInbox.Load) async {
        tick = load.ticks.first
        await sweep(load.tuning == nil ? .tick : .retuned)
        tick = nil
        for watch in load.ticks { watch.decided() }
    }

    /// Every lane looks at the newest snapshot, in the order in which the lanes lie in memory.
    func sweep(_ event: LaneEvent) async {
        var index = 0
        while index < lanes.count {
            if let lane = lanes[index], !isResting(index) { await turn(index, lane, event) }
            index += 1
            if index % Shard.lanesPerStretch == 0 {
                sendOutgoing()
                await Task.yield()
            }
        }
    }

    func fireDeadlines() async {
        let now = environment.clock.now
        for index in deadlines.advance(to: now) {
            if let lane = lanes[index], !isResting(index) { await turn(index, lane, .look) }
        }
    }

    func take(_ call: DeviceCall) async {
        guard isAlone || admits(call) else { return }
        if call.hear != nil, outbox.retryAt != nil {
            call.reply(.unavailable)  // the store is away: nothing is applied that cannot be kept, the app repeats it
            return
        }
        guard call.hear == nil || outbox.gathering.replies.count < environment.callsHeld else {
            call.reply(.overloaded)
            return
        }
        let session = call.event.sessionKey.flatMap { router.session($0) }
        guard call.event.sessionKey == nil || session != nil else {
            if !lookUp(call) { conclude(call, .unknownCard) }
            return
        }
        let place: Int
        if let known = places[call.device] {
            place = known
        } else if case .registered(let patch) = call.event, let app = call.app ?? onlyApp, renderers[app] != nil {
            let state = LaneState(
                device: call.device, app: app, zone: patch.zone ?? .utc, at: environment.clock.now,
                tuning: tuning)
            place = add(call.device, state: state, generation: Generation(goneGeneration &+ 1))
        } else {
            // Posts come in their order: what was posted before is here. Lanes among themselves ask no question.
            if call.post == nil, call.hear != nil, lookUp(call) { return }
            conclude(call, .unknownDevice)
            router.undelivered(call)
            return
        }
        guard let lane = lanes[place] else {
            if !park(call) { conclude(call, .unknownDevice) }
            return
        }
        if case .registered = call.event, let app = call.app {
            let held = await lane.app
            guard held == app else {
                conclude(call, .otherApp(held: held), needsToken: await lane.needsToken(tuning))
                return
            }
        }
        // What the app says of a session's card may come before the session itself has.
        if let session { await turn(place, lane, .session(session, as: nil)) }
        let outcome = await turn(place, lane, call.event)
        if isAlone, case .owned(let token, _, _) = call.event, await lane.owns(token) {
            // In a cluster the row has been moved already. Not where a third record came in between: the row of that one must stand.
            outbox.gathering.owners.append(PhoneOwner(token: token, device: call.device))
        }
        switch outcome {
        case .kept:
            if call.post != nil { return conclude(call, .done, needsToken: await lane.needsToken(tuning)) }
            guard let hear = call.hear else { return }
            let needsToken = await lane.needsToken(tuning)
            outbox.gathering.replies.append(
                Outbox.Reply(partition: partition(of: call.device)) {
                    hear(DeviceReply(answer: $0, needsToken: needsToken))
                })
        case .stale(let held):
            conclude(call, .staleSelection(held: held), needsToken: await lane.needsToken(tuning))
        case .forwarded(let event, let owner):
            // Durable is what the owner has: it answers the app.
            router.deliver(DeviceCall(event.event, for: owner, hear: call.post.map(whenForwarded) ?? call.hear))
        }
    }

    /// In a cluster what is not known here is asked for, once.
    private func lookUp(_ call: DeviceCall) -> Bool {
        guard !isAlone, !call.isLookedUp else { return false }
        router.lookUp(Doubt(call: call, isOfDevice: places[call.device] == nil))
        return true
    }

    /// Answers a call that has changed nothing, or was posted and is done with: the poster hears of it when that is durable.
    private func conclude(_ call: DeviceCall, _ answer: DeviceAnswer, needsToken: Bool = false) {
        guard let post = call.post else { return call.reply(answer, needsToken: needsToken) }
        outbox.gathering.applied.append(
            AppliedPost(id: post.id, reply: DeviceReply(answer: answer, needsToken: needsToken)))
    }

    /// Done with when the record that it went on to has it.
    private func whenForwarded(_ post: DeviceCall.Post) -> @Sendable (DeviceReply) -> Void {
        { [inbox, environment] reply in
            switch reply.answer {
            case .unavailable, .overloaded: environment.cluster?.postponed([post.id])
            case .done, .unknownDevice, .unknownCard, .staleSelection, .otherApp:
                inbox.offer(AppliedPost(id: post.id, reply: reply))
            }
        }
    }

    func take(_ answer: PushAnswer) async {
        guard let push = inFlight.removeValue(forKey: answer.ticket) else { return }
        if push.isClaim { environment.claims.giveBack() }
        environment.trace.record(.answered(push.event, push.gateway, answer.verdict))
        if push.isReissue { environment.trace.record(.reissued(answer.verdict)) }
        push.tick?.answered()
        guard let lane = lanes[push.lane], devices[push.lane] == answer.ticket.device,
            lane.generation == answer.ticket.generation
        else {
            environment.trace.record(.fenced(answer.ticket.device))
            return
        }
        await turn(push.lane, lane, .verdict(answer.ticket.number, answer.verdict), answered: (push, answer))
    }

    /// The app that need not be named.
    private var onlyApp: AppID? { renderers.count == 1 ? renderers.keys.first : nil }
}
