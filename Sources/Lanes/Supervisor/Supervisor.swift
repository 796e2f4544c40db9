public import CardRules
public import PushWire

/// The system of one node: the slate, the shards with their lanes, and the way between them and the outside.
///
/// Life: `restore()` once, then `run()` until its task is cancelled. While it runs, feed it ticks and calls. Time passes
/// by `run(by:)`, or, where a test moves the clock, by `passTime()`.
public actor Supervisor {
    let environment: ShardEnvironment
    /// Says when a timeline has grown, for whoever follows one.
    public nonisolated let hub: TimelineHub
    let switchboard: Switchboard
    let shards: [Shard]
    var slate: Slate
    /// In a cluster: the last line of the slate that was applied, and the last change of a session.
    var slateNumber: Int64 = 0
    var sessionChange: Int64 = 0
    var madeSessions: (change: Int64, sessions: RestoredSessions)?
    /// Of its own batches of lines, what became of each line, until that is asked.
    var ownLines: [Int64: [SlateChange]] = [:]
    /// R7: until then reissues are paced already.
    var pacedUntil = WallTime.distantPast
    /// Paused by an operator, as was last heard.
    var paused: Set<Gateway> = []
    /// How often this node itself has changed that.
    var pauseChanges = 0
    /// The rules' values as they are now (section 12).
    public private(set) var tuning: Tuning
    /// One probe at a time on this node, and one being asked for.
    var probing: DeviceID?
    var isAskingForProbe = false
    private var slateForgottenAt = WallTime.distantPast
    var sessionsForgottenAt = WallTime.distantPast
    /// By app, for what a session comes to on the wire (P8).
    var renderers: [AppID: PayloadRenderer]
    /// The latest time seen: a clock that was set back shows (R7).
    private var lookedAt: WallTime

    /// - Parameters:
    ///   - configuration: bounds and rules; see `Configuration`.
    ///   - cluster: the other nodes; `nil`: there are none, and every partition is here.
    ///   - steady: measures ticks and commits for the trace; `nil`: nothing is measured.
    public init(
        configuration: Configuration, store: any Store, cluster: (any Cluster)? = nil, pusher: any Pusher,
        clock: any WallClock, random: any RandomSource, trace: any Trace = NoTrace(), steady: (any SteadyClock)? = nil,
        zone: @escaping @Sendable (String) -> Zone?
    ) {
        let count = max(1, min(configuration.shards, partitionCount))
        let environment = ShardEnvironment(
            profiles: Dictionary(configuration.apps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }),
            store: store, cluster: cluster, pusher: pusher, clock: clock, random: random, trace: trace, zone: zone,
            claims: ClaimCount(limit: configuration.tuning.starts.claimedAtOnce),
            hub: TimelineHub(followersAtMost: configuration.followers),
            keepsTimeline: configuration.keepsTimeline, storeRetrySeconds: configuration.storeRetrySeconds,
            restarts: configuration.restarts, steady: steady, callsHeld: configuration.callsHeld)
        let switchboard = Switchboard(cluster: cluster)
        self.switchboard = switchboard
        self.environment = environment
        hub = environment.hub
        renderers = environment.profiles.mapValues { PayloadRenderer(profile: $0) }
        shards = (0..<count).map { index in
            Shard(
                environment: environment, router: switchboard,
                partitions: (0..<partitionCount).filter { $0 % count == index }, tuning: configuration.tuning)
        }
        tuning = configuration.tuning
        slate = Slate(tuning: configuration.tuning)
        lookedAt = clock.now
        switchboard.connect(shards.map(\.inbox))
    }

    public struct Configuration: Sendable {
        public var tuning: Tuning
        public var apps: [AppProfile]
        /// As many as cores, to twice that.
        public var shards: Int
        /// Decisions are kept for people; a system of a million phones may leave that.
        public var keepsTimeline: Bool
        /// How long after a failed commit the store is tried again.
        public var storeRetrySeconds: Double
        /// Calls that may wait in a shard, and as many for their record to be durable; another is told `overloaded`.
        public var callsHeld: Int
        /// Followers of timelines at a time.
        public var followers = 1000
        /// How often a lane may be thrown away before it is parked.
        public var restarts = RestartIntensity()

        public init(
            tuning: Tuning, apps: [AppProfile], shards: Int = 4, keepsTimeline: Bool = true,
            storeRetrySeconds: Double = 1, callsHeld: Int = 200_000
        ) {
            self.tuning = tuning
            self.apps = apps
            self.shards = shards
            self.keepsTimeline = keepsTimeline
            self.storeRetrySeconds = storeRetrySeconds
            self.callsHeld = callsHeld
        }
    }

    /// How long slate lines are kept for a restart.
    static let slateKeptSeconds = 36.0 * 3600

    // MARK: - Life

    /// Reads the slate, then every lane that is here for good, in stable order; in a cluster lanes come while it runs.
    /// Nothing is sent before `run`.
    /// - Throws: `StoreError`; nothing was changed then.
    public func restore() async throws {
        try await readPauses()
        let now = environment.clock.now
        if environment.cluster == nil {
            let since = now.advanced(bySeconds: -Supervisor.slateKeptSeconds)
            for arrived in try await environment.store.loadSlate(since: since) {
                _ = slate.apply(arrived.line, at: arrived.at)
            }
            try await environment.store.loadOwners { [switchboard] owners in switchboard.learn(owners) }
            publish(at: now)
            try await restoreSessions()
            let sessions = restoredSessions
            var installed = Installed()
            for partition in 0..<partitionCount {
                let loaded = try await load(partition, sessions: sessions)
                installed += await shards[partition % shards.count].install(loaded)
            }
            await settle(installed)
        } else {
            try await readSlate()
            publish(at: now)
            try await readSessions(tells: false)
        }
    }

    /// Runs the shards until the task is cancelled.
    public nonisolated func run() async {
        await withDiscardingTaskGroup { group in
            for shard in shards { group.addTask { await shard.run() } }
            if let cluster = environment.cluster {
                let hub = hub
                group.addTask { await cluster.run(followsTimeline: { hub.followers > 0 }) }
                group.addTask { await self.follow(cluster) }
                group.addTask { for await steps in self.switchboard.fencings { await self.carryOut(steps) } }
                group.addTask {
                    for await _ in self.switchboard.doubtsCame {
                        await self.lookUp(self.switchboard.takeDoubts(), cluster)
                    }
                }
            }
            group.addTask {
                // A row that cannot be read has told its shard so.
                for await device in self.switchboard.rereads { _ = try? await self.read(device) }
            }
        }
        for shard in shards { await shard.close() }
        for doubt in switchboard.takeDoubts() { doubt.call.reply(.unavailable) }
    }

    /// Passes time on, as the clock tells it, until the task is cancelled. A step of the clock is noticed within a
    /// second (R7).
    public func run(by clock: any WallClock) async {
        while !Task.isCancelled {
            passTime()
            let latest = clock.now.advanced(bySeconds: Supervisor.heartbeatSeconds)
            do { try await clock.sleep(until: min(nextDeadline ?? latest, latest)) } catch { return }
        }
    }

    static let heartbeatSeconds = 0.25

    /// Wakes what is due now.
    public func passTime() {
        let now = environment.clock.now
        let isBack = now.seconds(since: lookedAt) < -clockStepSeconds
        lookedAt = isBack ? now : max(lookedAt, now)
        if isBack || slate.nextChange.map({ $0 <= now }) == true { publish(at: now) }
        for shard in shards {
            if isBack {
                shard.inbox.offerTime()
            } else if let deadline = shard.inbox.nextDeadline, deadline <= now {
                shard.inbox.offerTime()
            }
        }
    }

    /// The next time at which anything happens by itself.
    public var nextDeadline: WallTime? {
        (shards.map(\.inbox.nextDeadline) + [slate.nextChange]).compactMap { $0 }.min()
    }

    /// Returns when nothing waits but for time to pass: no call, no commit, no push without a verdict.
    public nonisolated func settle() async {
        var isBusy = true
        while isBusy {
            // Unchanged: no shard has said anything to another that was looked at before.
            let offers = shards.map(\.inbox.offers)
            isBusy = false
            for shard in shards where await shard.settled() { isBusy = true }
            if offers != shards.map(\.inbox.offers) { isBusy = true }
        }
    }

    /// Settles, and writes what could have waited for company.
    public func flush() async {
        await settle()
        for shard in shards { shard.inbox.offerFlush() }
        await settle()
    }

    // MARK: - From outside

    /// A batch of slate lines: one tick. Merged, ranked once, handed to every shard, and durable when this returns.
    /// - Returns: what became of each line, in their order.
    /// - Throws: `StoreError` when the lines could not be kept; they count all the same until a restart.
    @discardableResult
    public func tick(_ lines: [SlateLine]) async throws(StoreError) -> [SlateChange] {
        if environment.cluster != nil { return try await tickAll(lines) }
        let now = environment.clock.now
        let watch = environment.steady.map {
            TickWatch(shards: shards.count, clock: $0, trace: environment.trace)
        }
        var changes: [SlateChange] = []
        changes.reserveCapacity(lines.count)
        for line in lines { changes.append(slate.apply(line, at: now)) }
        // Handed to the store before any lane can hand it a start that rests on it (L1).
        try await keep(lines, at: now) { publish(at: now, watch: watch) }
        return changes
    }

    /// - Parameters:
    ///   - tag: by which this node knows them again.
    ///   - then: done once the store has them in hand; what is handed to it later lands later, if at all.
    func keep(
        _ lines: [SlateLine], at now: WallTime, tag: Int64 = 0, then: () -> Void = {}
    ) async throws(StoreError) {
        var batch = CommitBatch()
        batch.slateLines = lines.map { ArrivedLine(line: $0, at: now) }
        batch.slateTag = tag
        if abs(now.seconds(since: slateForgottenAt)) > 3600 {
            slateForgottenAt = now
            batch.forgetSlateBefore = now.advanced(bySeconds: -Supervisor.slateKeptSeconds)
        }
        let outcome = await withCheckedContinuation { done in
            environment.store.commit(batch) { done.resume(returning: $0) }
            then()
        }
        if case .failed(let error) = outcome { throw error }
    }

    /// A call of an app. Its reply comes when the outcome is durable.
    public nonisolated func submit(_ call: DeviceCall) {
        guard let inbox = switchboard.ownInbox(of: call.device) else { return switchboard.post(call) }
        if let refusal = inbox.offer(call) { call.reply(refusal) }
    }

    /// A call of an app, awaited.
    public nonisolated func answer(to event: LaneEvent, for device: DeviceID, app: AppID? = nil) async -> DeviceAnswer {
        await withCheckedContinuation { done in
            submit(DeviceCall(device: device, app: app, event: event) { done.resume(returning: $0) })
        }
    }

    /// The same, with what the app should be told besides (S14).
    public nonisolated func reply(to event: LaneEvent, for device: DeviceID, app: AppID? = nil) async -> DeviceReply {
        await withCheckedContinuation { done in
            submit(DeviceCall(event, for: device, app: app) { done.resume(returning: $0) })
        }
    }

    /// The state of one device's lane; `nil` where there is none.
    public func state(of device: DeviceID) async -> LaneState? {
        await shards[partition(of: device) % shards.count].state(of: device)
    }

    func snapshotHolds(_ game: GameID) -> Bool { slate.game(game) != nil }

    /// What the worth of a game is made of (T10); `nil` for one that the slate does not hold.
    public func worthParts(of game: GameID) -> Worth? { slate.worthParts(of: game) }

    /// Tonight's games as they are. What time has changed is told to the lanes too: who reads must not be the only one
    /// to know.
    public var snapshot: SlateSnapshot {
        let now = environment.clock.now
        if slate.nextChange.map({ $0 <= now }) == true { publish(at: now) }
        return slate.snapshot(at: now)
    }

    /// The same with all that is merged, and with what the worth of each game is made of.
    public var ranking: SlateRanking {
        let snapshot = snapshot
        let games = snapshot.games.compactMap { ranked in
            slate.game(ranked.id).flatMap { merged in
                slate.worthParts(of: ranked.id).map { SlateRanking.Game(ranked: ranked, merged: merged, worth: $0) }
            }
        }
        return SlateRanking(
            version: snapshot.version, asOf: snapshot.asOf,
            games: games.sorted { ($1.ranked.worth, $0.ranked.id) < ($0.ranked.worth, $1.ranked.id) })
    }

    nonisolated func inbox(of device: DeviceID) -> ShardInbox { shards[partition(of: device) % shards.count].inbox }

    public func laneCount() async -> Int {
        var count = 0
        for shard in shards { count += await shard.laneCount }
        return count
    }

    /// Hands each shard a copy of its own; one not looked at yet is replaced.
    func publish(at now: WallTime, tuning: Tuning? = nil, watch: TickWatch? = nil) {
        let snapshot = slate.snapshot(at: now)
        for shard in shards { shard.inbox.offer(snapshot.copy(), tuning: tuning, watch: watch) }
    }

    /// Other values of `tuning`, at run time (`SIGHUP`). They reach the slate at once, each lane with the snapshot that
    /// this publishes. What waits for a time that was worked out before keeps to it: holds of G3 and G5, retries.
    ///
    /// - Parameter tuning: the whole of it. Whoever sends pushes has its own copy of what is under `gateway`.
    /// - Returns: names of values that are others now, and stay as they were until the next start.
    @discardableResult
    public func retune(_ tuning: Tuning) -> [String] {
        var next = tuning
        // Tonight's end has been worked out by it, and is what claims are unique by.
        next.night = self.tuning.night
        let kept = TuningKey.all.filter { $0.value(in: tuning) != $0.value(in: next) }.map(\.name)
        guard next != self.tuning else { return kept }
        self.tuning = next
        let now = environment.clock.now
        slate.retune(next, at: now)
        environment.claims.change(limit: next.starts.claimedAtOnce)
        publish(at: now, tuning: next)
        return kept
    }
}
