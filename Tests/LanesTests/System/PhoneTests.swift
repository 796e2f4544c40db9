import CardRules
import Lanes
import PushWire
import Simulation
import Testing

/// S7: two records of one phone, whichever shards they live on.
@Suite(.timeLimit(.minutes(1))) struct PhoneTests {
    private let rig = Rig()
    private static let shards = 4
    private let token: [UInt8] = [0xaa, 0xbb]

    /// Records that live on shards of their own.
    private static let records: [DeviceID] = {
        var seen: Set<Int> = []
        return (0..<100).map { DeviceID(unchecked: "record-\($0)") }
            .filter { seen.insert(partition(of: $0) % shards).inserted }
    }()
    private let older = records[0]
    private let newer = records[1]
    private let third = records[2]

    /// The older record has a card with an update token.
    private func standing(_ system: Supervisor) async throws {
        #expect(await rig.register(older, token: token, on: system) == .done)
        try await rig.play(on: system)
        await system.settle()
        #expect(await system.answer(to: Rig.cardToken(), for: older) == .done)
        await system.settle()
        rig.clock.advance(bySeconds: 20)
    }

    private func expectOneCard(of record: DeviceID, _ system: Supervisor) async throws {
        #expect(await rig.cardState(record, system) == .confirmed)
        #expect(await system.state(of: record)?.kept.ledger[.slate].sent == 1)
        for other in Self.records where other != record { #expect(await rig.cardState(other, system) == nil) }
        let before = rig.pusher.sent.count
        rig.clock.advance(bySeconds: 20)
        try await rig.play(goals: 3, on: system)
        try await rig.play("g2", on: system)
        await system.settle()
        await rig.pass(700, system)
        #expect(rig.pusher.starts == 1)
        let since = rig.pusher.sent.dropFirst(before)
        #expect(!since.isEmpty)
        #expect(since.allSatisfy { $0.ticket.device == record && $0.request.event == .update })
        let timestamps = rig.pusher.sent.compactMap(\.timestamp)
        #expect(zip(timestamps, timestamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `S7: the spend and the card move to the newer record, and the older one starts nothing`() async throws {
        let system = try await rig.system(shards: Self.shards)
        try await rig.running(system) {
            try await standing(system)
            #expect(await rig.register(newer, token: token, on: system) == .done)
            try await expectOneCard(of: newer, system)
        }
    }

    @Test func `S7: where the older record is gone the newer one simply owns the phone`() async throws {
        let system = try await rig.system(shards: Self.shards)
        try await rig.running(system) {
            #expect(await rig.register(older, token: token, on: system) == .done)
            #expect(await system.answer(to: .removed, for: older) == .done)
            await system.settle()
            #expect(rig.store.lane(older) == nil)
            #expect(await rig.register(newer, token: token, on: system) == .done)
            try await rig.play(on: system)
            await system.settle()
            #expect(rig.pusher.sent(.start).map(\.ticket.device) == [newer])
        }
    }

    @Test func `S7: a third record that comes in between gets everything, and nothing starts twice`() async throws {
        let system = try await rig.system(shards: Self.shards)
        try await rig.running(system) {
            try await standing(system)
            rig.store.hold()
            let second = rig.submit(
                .registered(Rig.patch(newer, token: token)), for: newer, on: system)
            await rig.until("the second record's commit") { rig.store.heldCommits == 1 }
            let last = rig.submit(
                .registered(Rig.patch(third, token: token)), for: third, on: system)
            await rig.until("the third record's commit") { rig.store.heldCommits == 2 }
            rig.store.release()
            await system.settle()
            #expect(second.all == [.done])
            #expect(last.all == [.done])
            try await expectOneCard(of: third, system)
        }
    }

    @Test func `S7: a record that reports twice before the older one has answered does not own the phone before`()
        async throws
    {
        let system = try await rig.system(shards: Self.shards)
        try await rig.running(system) {
            try await standing(system)
            rig.store.hold()
            let first = rig.submit(.registered(Rig.patch(newer, token: token)), for: newer, on: system)
            await rig.until("the claim's commit") { rig.store.heldCommits == 1 }
            let second = rig.submit(.registered(Rig.patch(newer, token: token)), for: newer, on: system)
            rig.store.release()
            rig.store.hold()
            // The older record's commit, and that of the second report: the second one lands, the older one's does not.
            await rig.until("both commits") { rig.store.heldCommits == 2 }
            #expect(await system.state(of: newer)?.kept.pushToStart?.ownership == .claiming)
            rig.store.release()
            await system.settle()
            #expect(first.all == [.done] && second.all == [.done])
            try await expectOneCard(of: newer, system)
        }
    }

    @Test func `S7: an app that still reports under the older record is answered when the owner has it durable`()
        async throws
    {
        let system = try await rig.system(shards: Self.shards)
        try await rig.running(system) {
            try await standing(system)
            #expect(await rig.register(newer, token: token, on: system) == .done)
            rig.store.hold()
            let reply = rig.submit(
                .reported(CardReport(key: .slate, kind: .dismissed, activity: "a1", at: rig.clock.now)), for: older,
                on: system)
            await rig.until("the owner's commit") { rig.store.heldCommits == 1 && reply.all.isEmpty }
            #expect(rig.store.lane(newer)?.record.ledger[.slate].isDismissed == false)
            rig.store.release()
            await system.settle()
            #expect(reply.all == [.done])
            #expect(rig.store.lane(newer)?.record.ledger[.slate].isDismissed == true)
        }
    }

    /// Commits that land after the newer record's registration is durable, before the process dies.
    @Test(arguments: 0...4)
    func `S7: a restart in the middle of a handover loses nothing and starts nothing`(landing: Int) async throws {
        let first = try await rig.system(shards: Self.shards)
        try await rig.running(first) {
            try await standing(first)
            rig.store.hold()
            let reply = rig.submit(.registered(Rig.patch(newer, token: token)), for: newer, on: first)
            // Each step of a handover is a commit: the claim, the older record, the newer one, the older one again.
            for _ in 0..<landing {
                await rig.until("a commit of the handover") { rig.store.heldCommits > 0 }
                rig.store.release()
                rig.store.hold()
            }
            if landing < 4 { await rig.until("the next commit") { rig.store.heldCommits > 0 } }
            #expect(reply.all.isEmpty == (landing == 0))
        }
        rig.store.crash()
        let second = try await rig.system(shards: Self.shards)
        try await rig.running(second) {
            await second.passTime()
            await second.settle()
            try await expectOneCard(of: landing == 0 ? older : newer, second)
            if landing > 0 { #expect(await second.state(of: older)?.pendingOwnership == []) }
        }
    }

    @Test
    func `S7: of two records that were asking when the process died the one whose report came last owns the phone`()
        async throws
    {
        // Whatever the order of their partitions.
        for (second, last) in [(newer, third), (third, newer)] {
            let rig = Rig()
            let system = try await rig.system(shards: Self.shards)
            try await rig.running(system) {
                #expect(await rig.register(older, token: token, on: system) == .done)
                rig.store.hold()
                _ = rig.submit(.registered(Rig.patch(second, token: token)), for: second, on: system)
                await rig.until("a commit") { rig.store.heldCommits == 1 }
                rig.clock.advance(bySeconds: 1)
                _ = rig.submit(.registered(Rig.patch(last, token: token)), for: last, on: system)
                await rig.until("a commit") { rig.store.heldCommits == 2 }
            }
            rig.store.crash(landing: 2)
            let again = try await rig.system(shards: Self.shards)
            try await rig.running(again) {
                await again.settle()
                #expect(await again.state(of: last)?.kept.pushToStart?.ownership == .owner)
                try await rig.play(on: again)
                await again.settle()
                #expect(rig.pusher.sent(.start).map(\.ticket.device) == [last])
            }
        }
    }
}
