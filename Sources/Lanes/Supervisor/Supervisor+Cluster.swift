public import CardRules

/// One node among several: partitions come and go, ticks, sessions and pauses come from everywhere, and calls for other
/// nodes' devices go to them.
extension Supervisor {
    /// How long the lanes of a partition that another node should have may wait for the verdicts of what is under way.
    static let restSeconds = 5.0
    /// Partitions that are read and installed at a time: their records are in memory twice meanwhile.
    static let loadsAtOnce = 8

    nonisolated func follow(_ cluster: any Cluster) async {
        let (loads, load) = AsyncStream<(partition: Int, epoch: Int64)>.makeStream()
        let (readings, reading) = AsyncStream<ClusterEvent>.makeStream()
        await withDiscardingTaskGroup { group in
            group.addTask {
                // A few at a time: the first to be there act while the others are read, and one that waits for its shard's
                // next turn holds up no other.
                await withTaskGroup(of: Void.self) { adoptions in
                    var count = 0
                    for await next in loads {
                        if count >= Self.loadsAtOnce { await adoptions.next() }
                        count += 1
                        adoptions.addTask { await self.adopt(next.partition, epoch: next.epoch, cluster) }
                    }
                }
            }
            // A store that is slow to read holds up no news of leases.
            group.addTask { for await event in readings { await self.read(event) } }
            for await event in cluster.events {
                switch event {
                case .gained(let partition, let epoch):
                    for step in switchboard.change({ $0.gained(partition, epoch: epoch) }) {
                        if case .load(let partition, let epoch) = step {
                            inbox(ofPartition: partition).offer(.arrive(partition, epoch: epoch))
                            cluster.listen(to: partition, epoch: epoch)
                            load.yield((partition, epoch))
                        } else {
                            await carryOut([step])
                        }
                    }
                case .asked(let partition):
                    let steps = switchboard.change { $0.asked(partition) }
                    group.addTask { await self.carryOut(steps) }
                case .lost(let partitions): await carryOut(switchboard.change { $0.lost(partitions) })
                case .news, .posted: reading.yield(event)
                }
            }
            load.finish()
            reading.finish()
        }
    }

    /// What the table says, but for loading.
    nonisolated func carryOut(_ steps: [PartitionTable.Step], restSeconds: Double = restSeconds) async {
        for step in steps {
            switch step {
            case .load: break
            case .drop(let partition, let epoch): inbox(ofPartition: partition).offer(.drop(partition, epoch: epoch))
            case .release(let partition, let epoch): environment.cluster?.release(partition, epoch: epoch)
            case .rest(let partition, let epoch):
                await rest(partition, epoch: epoch, seconds: restSeconds)
                await carryOut(switchboard.change { $0.rested(partition, epoch: epoch) })
            }
        }
    }

    nonisolated func inbox(ofPartition partition: Int) -> ShardInbox { shards[partition % shards.count].inbox }

    // MARK: - Partitions

    /// Brings the lanes of a partition to rest: turns are finished, records written, verdicts awaited, so long.
    private nonisolated func rest(_ partition: Int, epoch: Int64, seconds: Double) async {
        let (ends, end) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        inbox(ofPartition: partition).offer(
            .rest(partition, epoch: epoch) {
                end.yield()
                end.finish()
            })
        let clock = environment.clock
        await withDiscardingTaskGroup { group in
            group.addTask {
                do { try await clock.sleep(until: clock.now.advanced(bySeconds: seconds)) } catch { return }
                end.finish()
            }
            for await _ in ends {}
            group.cancelAll()
        }
    }

    /// Reads the lanes of a partition that has been gained, again and again while the store cannot be read.
    private nonisolated func adopt(_ partition: Int, epoch: Int64, _ cluster: any Cluster) async {
        while !Task.isCancelled, switchboard.table[partition] == .arriving(epoch: epoch) {
            do {
                // After the lease was taken no record of an earlier owner can land any more: this is the truth. Sessions
                // that change from here on are told to the lanes, which hear of it when they are there.
                try await readSessions(tells: true)
                let loaded = try await load(partition, sessions: await restoredSessions)
                guard switchboard.table[partition] == .arriving(epoch: epoch) else { return }
                let installed = await withCheckedContinuation { done in
                    inbox(ofPartition: partition).offer(
                        .install(partition, epoch: epoch, loaded) { done.resume(returning: $0) })
                }
                guard let installed, switchboard.change({ $0.loaded(partition, epoch: epoch) }) else { return }
                return await settle(installed)
            } catch {
                environment.trace.record(.storeFailed(error as? StoreError ?? .unavailable(detail: "\(error)")))
                let again = environment.clock.now.advanced(bySeconds: environment.storeRetrySeconds)
                do { try await environment.clock.sleep(until: again) } catch { return }
            }
        }
    }

    nonisolated func load(_ partition: Int, sessions: RestoredSessions) async throws -> LoadedPartition {
        let floor = try await environment.store.timestampMark(partition: partition) ?? 0
        let rows = Rows()
        let damaged = try await environment.store.loadLanes(partition: partition) { rows.add($0) }
        return LoadedPartition(rows: rows.taken, damaged: damaged, timestampFloor: floor, sessions: sessions)
    }

    /// What lanes that have come have to ask, and have not heard.
    func settle(_ installed: Installed) async {
        // S7: the phone is its whose report was accepted last, also when several were asking.
        for message in installed.owed.sorted(by: { ($0.reportedAt, $0.from) < ($1.reportedAt, $1.from) }) {
            switchboard.route(message.effect, from: message.from)
        }
        for call in installed.unheard { switchboard.deliver(call) }
        await pace(installed.overdue)
    }

    /// How many partitions are here, and how many of them are still being loaded.
    public nonisolated var partitions: (owned: Int, loading: Int) {
        let table = switchboard.table
        return (table.owned.count, table.arriving.count)
    }

    /// Hands every partition over, each as soon as its lanes are at rest. Returns when that is done.
    /// - Parameter seconds: what is under way then is given up.
    public nonisolated func leave(withinSeconds seconds: Double) async {
        guard let cluster = environment.cluster else { return }
        cluster.retire()
        await withDiscardingTaskGroup { group in
            for partition in switchboard.table.owned {
                let steps = switchboard.change { $0.asked(partition) }
                group.addTask { await self.carryOut(steps, restSeconds: seconds) }
            }
        }
    }

    // MARK: - From other nodes

    private func read(_ event: ClusterEvent) async {
        switch event {
        case .news(let news): await read(news)
        case .posted(let posts): await take(posts)
        case .gained, .asked, .lost: break
        }
    }

    private func take(_ posts: [ReceivedPost]) async {
        for post in posts {
            let event: LaneEvent
            switch post.event.content {
            case .event(.registered(var patch)):
                // Its zone came by name.
                patch.zone = patch.zone.flatMap { environment.zone($0.name) ?? $0 }
                event = .registered(patch)
            case .event(let posted): event = posted
            case .session(let key, let device):
                if switchboard.session(key) == nil { try? await readSessions(tells: true) }
                // One that is not there any more is over, and its lanes know.
                event = switchboard.session(key).map { .session($0, as: device) } ?? .look
            }
            inbox(of: post.event.device).offerInternal(DeviceCall(event, of: post))
        }
    }

    /// Reads what other nodes have answered for, then lets the calls go on: what is not known after that does not exist.
    /// What cannot be read now is asked again (503).
    func lookUp(_ doubts: [Doubt], _ cluster: any Cluster) async {
        var areSessionsRead = true
        if doubts.contains(where: { $0.call.event.sessionKey != nil }) {
            do { try await readSessions(tells: true) } catch { areSessionsRead = false }
        }
        for doubt in doubts {
            var call = doubt.call
            call.isLookedUp = true
            var isCertain = call.event.sessionKey == nil || areSessionsRead
            if let post = call.post {
                if isCertain { inbox(of: call.device).offerInternal(call) } else { cluster.postponed([post.id]) }
                continue
            }
            // Its registration may be durable, and not have reached its lane yet.
            if isCertain, doubt.isOfDevice { isCertain = (try? await cluster.isAwaited(call.device)) == false }
            if isCertain { switchboard.deliver(call) } else { call.reply(.unavailable) }
        }
    }

    /// What cannot be read now is read with the next news.
    private func read(_ news: ClusterNews) async {
        do {
            if news.contains(.slate), try await readSlate() { publish(at: environment.clock.now) }
            if news.contains(.sessions) { try await readSessions(tells: true) }
            if news.contains(.pauses) { try await readPauses() }
        } catch {
            environment.trace.record(.storeFailed(error as? StoreError ?? .unavailable(detail: "\(error)")))
        }
        if news.contains(.timeline) { hub.tellAll() }
    }

    /// Applies the lines that came since, in the one order that all nodes have.
    /// - Returns: whether there were any.
    @discardableResult
    func readSlate() async throws -> Bool {
        guard let cluster = environment.cluster else { return false }
        let lines = try await cluster.slate(after: slateNumber)
        var hasNew = false
        // Somebody else may have read on meanwhile.
        for line in lines where line.number > slateNumber {
            slateNumber = line.number
            let change = slate.apply(line.arrived.line, at: line.arrived.at)
            ownLines[line.tag]?.append(change)
            hasNew = true
        }
        return hasNew
    }

    /// - Parameter tells: whether lanes that are here are to hear of it.
    func readSessions(tells: Bool) async throws {
        guard let cluster = environment.cluster else { return }
        let changed = try await cluster.sessions(changedAfter: sessionChange)
        for change in changed { sessionChange = max(sessionChange, change.change) }
        if tells {
            for change in changed { hear(of: change.session) }
        } else {
            switchboard.sessions.learn(changed.map(\.session))
        }
    }

    func readPauses() async throws {
        var seen: Int
        var now: Set<Gateway>
        // What was read while this node changed it may be from before, and must not undo it.
        repeat {
            seen = pauseChanges
            now = try await environment.store.pausedGateways()
        } while seen != pauseChanges
        for gateway in now.subtracting(paused) { environment.pusher.pause(gateway) }
        for gateway in paused.subtracting(now) { environment.pusher.resume(gateway) }
        paused = now
    }

    /// Made once for all partitions that come between two changes.
    var restoredSessions: RestoredSessions {
        if let made = madeSessions, made.change == sessionChange, environment.cluster != nil { return made.sessions }
        let sessions = RestoredSessions(switchboard.sessions.allDurable)
        madeSessions = (sessionChange, sessions)
        return sessions
    }

    /// A tick in a cluster: its lines are kept first and then applied here, as on every node, in their place among all.
    /// While the store cannot write they are applied here alone, and the caller is to repeat them.
    func tickAll(_ lines: [SlateLine]) async throws(StoreError) -> [SlateChange] {
        let now = environment.clock.now
        let watch = environment.steady.map {
            TickWatch(shards: shards.count, clock: $0, trace: environment.trace)
        }
        let tag = Int64(truncatingIfNeeded: environment.random.next() | 1)
        ownLines[tag] = []
        defer { ownLines[tag] = nil }
        do throws(StoreError) { try await keep(lines, at: now, tag: tag) } catch {
            for line in lines { _ = slate.apply(line, at: now) }
            publish(at: now, watch: watch)
            throw error
        }
        environment.cluster?.announce(.slate)
        // They are kept: when they cannot be read back now they are with the next news.
        _ = try? await readSlate()
        publish(at: environment.clock.now, watch: watch)
        return ownLines[tag] ?? []
    }

    /// One device, whichever node runs its lane; from the store where that is another one.
    /// - Returns: `nil` where there is no such device.
    /// - Throws: `StoreError`.
    public nonisolated func look(at device: DeviceID) async throws -> LaneState? {
        // Its partition may go while it is asked for: then the store has it, as for any that is not here.
        if switchboard.table.runs(partition(of: device)), let state = await state(of: device) { return state }
        guard let row = try await environment.store.loadLane(device) else {
            if let cluster = environment.cluster, try await cluster.isAwaited(device) {
                throw StoreError.unavailable(detail: "what came for the device waits for its owner")
            }
            return nil
        }
        return LaneState(
            restoring: row.record, zone: environment.zone(row.record.settings.timeZone) ?? .utc, timestampFloor: 0,
            sessions: row.record.sessions.compactMap { switchboard.session($0.key) })
    }
}
