import CardRules
import Simulation
import Testing

@testable import Lanes

/// A node whose partitions come and go, robbed and late to hear of it, judged by what reaches phones and store.
@Suite(.timeLimit(.minutes(1))) struct TenureTests {
    private let rig = Rig()
    private let one: DeviceID = "d1"
    private let two: DeviceID = "d2"
    private var placeOne: Int { partition(of: one) }
    private var placeTwo: Int { partition(of: two) }

    /// One shard, which runs the partitions of these devices, by leases of epoch 1.
    private func node(_ devices: [DeviceID], _ body: (Supervisor, FakeCluster) async throws -> Void) async throws {
        #expect(placeOne != placeTwo)
        let cluster = FakeCluster(over: rig.store)
        let system = try await rig.system(cluster: cluster)
        try await rig.running(system) {
            for device in devices { cluster.gain(partition(of: device), epoch: 1) }
            for device in devices { await runs(partition(of: device), epoch: 1, system) }
            try await body(system, cluster)
        }
    }

    private func runs(_ place: Int, epoch: Int64, _ system: Supervisor) async {
        await rig.until("partition \(place) runs") { await system.switchboard.table[place] == .here(epoch: epoch) }
        await system.settle()
    }

    // MARK: - Fencing

    @Test
    func `fencing: robbed and not knowing it, a node sends no start and drops its lanes; the next tenure sends one`()
        async throws
    {
        try await node([one, two]) { system, cluster in
            for device in [one, two] { #expect(await rig.register(device, on: system) == .done) }
            cluster.change { $0.held[placeOne] = nil }
            #expect(cluster.mayAct)
            try await rig.play(on: system)
            await rig.until("it is released") { cluster.now.released == [placeOne] }
            await system.settle()
            #expect(rig.pusher.sent(.start, to: one).isEmpty && rig.pusher.sent(.start, to: two).count == 1)
            #expect(rig.store.claims.map(\.device) == [two])
            #expect(await system.state(of: one) == nil)
            #expect(await system.switchboard.table[placeOne] == .elsewhere)
            cluster.gain(placeOne, epoch: 3)
            await runs(placeOne, epoch: 3, system)
            await rig.live(1, system)
            #expect(rig.pusher.sent(.start, to: one).count == 1 && rig.pusher.starts == 2)
        }
    }

    @Test func `past its lease a node lets nothing leave, also what needs no commit; the next tenure sends the newest`()
        async throws
    {
        try await node([one]) { system, cluster in
            try await rig.confirm(one, on: system)
            let before = rig.pusher.sent.count
            cluster.change { $0.mayAct = false }
            for goals in 1...3 {
                try await rig.play(goals: goals, on: system)
                await system.settle()
                rig.clock.advance(bySeconds: 20)
            }
            #expect(rig.pusher.sent.count == before)
            cluster.lose(placeOne)
            cluster.change { $0.mayAct = true }
            cluster.gain(placeOne, epoch: 2)
            await runs(placeOne, epoch: 2, system)
            await rig.live(1, system)
            #expect(rig.pusher.sent(.update).last?.text.contains(#""homeScore":3"#) == true)
            #expect(rig.pusher.starts == 1)
        }
    }

    @Test func `fencing: what was gathered under an earlier lease is not written when its partition has come back`()
        async throws
    {
        try await node([one]) { system, cluster in
            rig.store.hold()
            let reply = rig.submit(.registered(Rig.patch(one)), for: one, on: system)
            await rig.until("its commit") { rig.store.heldCommits == 1 }
            cluster.lose(placeOne)
            cluster.gain(placeOne, epoch: 2)
            await rig.until("it has come back") {
                await system.switchboard.table[placeOne] == .here(epoch: 2) && reply.isThere
            }
            rig.store.release()
            await system.settle()
            #expect(reply.all == [.unavailable])
            #expect(rig.store.lane(one) == nil)
            #expect(await rig.register(one, on: system) == .done)
            #expect(rig.store.lane(one) != nil)
        }
    }

    @Test func `fencing: what has gathered behind a commit under way goes with its tenure as well`() async throws {
        try await node([one]) { system, cluster in
            #expect(await rig.register(one, on: system) == .done)
            rig.store.hold()
            let first = rig.submit(.registered(Rig.patch(one) { $0.sound = true }), for: one, on: system)
            await rig.until("its commit") { rig.store.heldCommits == 1 }
            let second = rig.submit(.registered(Rig.patch(one) { $0.spoilerFree = true }), for: one, on: system)
            // Taken: then what comes about its partition is carried out after it.
            await rig.until("it is taken") { system.inbox(ofPartition: placeOne).isEmpty }
            cluster.lose(placeOne)
            cluster.gain(placeOne, epoch: 2)
            await rig.until("it has come back") { await system.switchboard.table[placeOne] == .here(epoch: 2) }
            rig.store.release()
            await system.settle()
            #expect(first.all == [.unavailable] && second.all == [.unavailable])
            let kept = rig.store.lane(one)?.record.settings
            #expect(kept?.sound == false && kept?.spoilerFree == false)
        }
    }

    @Test func `fenced, a partition's calls go elsewhere at once, and do not come back to its shard`() {
        let cluster = FakeCluster(over: rig.store)
        let board = Switchboard(cluster: cluster)
        let inbox = ShardInbox(callsHeld: 9)
        board.connect([inbox])
        _ = board.change { $0.gained(placeOne, epoch: 5) }
        _ = board.change { $0.loaded(placeOne, epoch: 5) }
        board.deliver(DeviceCall(device: one, event: .look))
        #expect(inbox.callsWaiting == 1 && cluster.now.posted.isEmpty)
        board.fenced(placeOne, epoch: 5)
        board.deliver(DeviceCall(device: one, event: .look))
        #expect(inbox.callsWaiting == 1 && cluster.now.posted == [one])
    }

    @Test func `a late word of an earlier tenure leaves the lanes of the next one alone`() async throws {
        try await node([one]) { system, _ in
            #expect(await rig.register(one, on: system) == .done)
            system.inbox(ofPartition: placeOne).offer(.drop(placeOne, epoch: 0))
            await system.settle()
            #expect(await system.state(of: one) != nil)
            #expect(await rig.register(one, on: system) == .done)
        }
    }

    @Test func `a post that went on and is answered after its partition has gone holds up nobody`() async throws {
        try await node([one]) { system, _ in
            let stray = PostID(partition: placeTwo, origin: 9, number: 1)
            system.inbox(ofPartition: placeTwo).offer(
                AppliedPost(id: stray, reply: DeviceReply(answer: .done, needsToken: false)))
            await system.settle()
            #expect(await rig.register(one, on: system) == .done)
            #expect(rig.trace.storeFailures == 0)
        }
    }

    // MARK: - R7

    @Test func `R7: partitions that come at once share one pace of their overdue reissues`() async throws {
        try await node([one, two]) { system, _ in
            let overdue = (1...200).map {
                OverdueReissue(device: $0 % 2 == 0 ? one : two, limit: rig.clock.now, starts: 1)
            }
            await withDiscardingTaskGroup { group in
                for _ in 1...8 { group.addTask { await system.pace(overdue) } }
            }
            let seconds = await system.pacedUntil.seconds(since: rig.clock.now)
            #expect(seconds == 8 * 200 / Tuning().reissue.perSecond)
        }
    }

    // MARK: - P5

    @Test func `P5: a mark that lands while a partition has come lets nothing leave before that one's own has landed`()
        async throws
    {
        try await node([one]) { system, cluster in
            try await rig.play(on: system)
            rig.store.hold()
            _ = rig.submit(.registered(Rig.patch(one)), for: one, on: system)
            await rig.until("its record's commit") { rig.store.heldCommits == 1 }
            rig.store.releaseOne()
            await rig.until("its start's commit, with a mark") { rig.store.heldCommits == 1 }
            cluster.gain(placeTwo, epoch: 1)
            await rig.until("the other has come") { await system.switchboard.table[placeTwo] == .here(epoch: 1) }
            rig.store.releaseOne()
            await rig.until("the other's mark's commit") { rig.store.heldCommits == 1 }
            let shard = await system.shards[0]
            let (first, second) = try await (
                rig.store.timestampMark(partition: placeOne), rig.store.timestampMark(partition: placeTwo)
            )
            #expect(first != nil && second == nil)
            #expect(await shard.timestampMark == 0, "what may leave without a commit")
            rig.store.release()
            await system.settle()
            let mark = try await rig.store.timestampMark(partition: placeTwo)
            #expect(await shard.timestampMark == mark)
            #expect(mark != nil)
        }
    }

    // MARK: - Known elsewhere

    private func selection() -> LaneEvent {
        .selected(games: ["g1"], pinned: nil, muted: [], syncedAt: rig.clock.now)
    }

    @Test func `a session that another node has answered for is known here: its news are read before a 404`()
        async throws
    {
        try await node([one]) { system, cluster in
            #expect(await rig.register(one, on: system) == .done)
            cluster.change {
                $0.sessions = [ChangedSession(change: 1, session: .opened("nap", Rig.terms(["d1"])))]
            }
            #expect(await system.answer(to: Rig.cardToken("a1", key: "nap"), for: one) == .done)
            #expect(await system.answer(to: Rig.cardToken("a2", key: "none"), for: one) == .unknownCard)
            cluster.change { $0.isAway = true }
            #expect(await system.answer(to: Rig.cardToken("a2", key: "none"), for: one) == .unavailable)
            // The same by the inbox: put off until it is certain.
            let post = ReceivedPost(
                id: PostID(partition: placeOne, origin: 9, number: 1), epoch: 1,
                event: PostedEvent(device: one, app: nil, content: .event(Rig.cardToken("a3", key: "walk"))))
            cluster.tell(.posted([post]))
            await rig.until("it is put off") { cluster.now.postponed == [post.id] }
            cluster.change { state in
                state.isAway = false
                state.sessions.append(ChangedSession(change: 2, session: .opened("walk", Rig.terms(["d1"]))))
            }
            cluster.tell(.posted([post]))
            await rig.until("it is applied") { cluster.now.applied == [post.id] }
            #expect(await system.state(of: one)?.card("walk")?.state == .confirmed)
        }
    }

    @Test func `a device whose registration is durable and has not reached its lane is answered 503, not 404`()
        async throws
    {
        try await node([one]) { system, cluster in
            cluster.change { $0.awaited = ["d1"] }
            #expect(await system.answer(to: selection(), for: one) == .unavailable)
            await #expect(throws: StoreError.self) { _ = try await system.look(at: one) }
            cluster.change { $0.awaited = [] }
            #expect(await system.answer(to: selection(), for: one) == .unknownDevice)
            let found = try await system.look(at: one)
            #expect(found == nil)
            cluster.change { $0.isAway = true }
            #expect(await system.answer(to: selection(), for: one) == .unavailable)
        }
    }

    @Test func `a device whose partition goes while it is asked for is found in the store: no 404, no 422`()
        async throws
    {
        try await node([one]) { system, _ in
            #expect(await rig.register(one, on: system) == .done)
            // As between the look at the table and the shard's answer.
            system.inbox(ofPartition: placeOne).offer(.drop(placeOne, epoch: 1))
            await rig.until("its lane is gone") { await system.state(of: one) == nil }
            let found = try await system.look(at: one)
            #expect(found?.kept.device == one)
            var terms = Rig.terms([one])
            terms.title = String(repeating: "x", count: 5000)
            // The app of the device was found: its largest push is what is refused.
            let fault = await #expect(throws: SessionFault.self) { try await system.put("nap", terms) }
            guard case .tooLarge = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
        }
    }
}
