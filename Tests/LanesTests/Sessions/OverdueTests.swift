import Lanes
import PushWire
import Simulation
import Testing

@testable import CardRules

/// R7: what fell due while nobody was there.
@Suite(.timeLimit(.minutes(5))) struct OverdueTests {
    @Test func `R7, After a restart every overdue timer fires at once: nearest limit first, two hundred a second`()
        async throws
    {
        let rig = Rig()
        let count = 1000
        _ = await Self.leave(count, in: rig.store)
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            await rig.live(0, system)
            await rig.live(Double(count) / 200 + 2, system)
            let starts = rig.pusher.sent(.start)
            #expect(starts.count == count)
            try judgePace(of: rig.store.claims.map(\.at), count: count, atMost: 200)
            // Nearest limit first, to the tenth of a second that the deadlines have.
            let ages = starts.map { number(of: $0.ticket.device) * 7919 % 180 }
            let disorder = zip(ages, ages.dropFirst()).count { $0 < $1 - 8 }
            #expect(disorder == 0)
        }
    }

    @Test func `R7: partitions that a node takes together, on several shards, start two hundred a second between them`()
        async throws
    {
        let rig = Rig()
        let count = 600
        let session = await Self.leave(count, in: rig.store)
        let cluster = FakeCluster(over: rig.store)
        cluster.change { $0.sessions = [ChangedSession(change: 1, session: session)] }
        let system = try await rig.system(shards: 2, cluster: cluster)
        try await rig.running(system) {
            for place in 0..<partitionCount { cluster.gain(place, epoch: 1) }
            // Held until its pace is worked out, a lane looks again much later than any pace.
            let latest = rig.clock.now.advanced(bySeconds: 10)
            await rig.until("every lane has its time") {
                guard system.partitions == (partitionCount, 0) else { return false }
                for number in 0..<count {
                    guard let state = await system.state(of: DeviceID(unchecked: "phone-\(number)")),
                        state.reissueNotBefore < latest
                    else { return false }
                }
                return true
            }
            await rig.live(0, system)
            await rig.live(Double(count) / 200 + 2, system)
            // One more where a time that is no whole millisecond was cut to the one before.
            try judgePace(of: rig.store.claims.map(\.at), count: count, atMost: 201)
        }
    }

    /// In each second from the first on.
    private func judgePace(of times: [WallTime], count: Int, atMost most: Int) throws {
        #expect(times.count == count)
        let first = try #require(times.min())
        for second in 0..<(count / 200) {
            let from = first.advanced(bySeconds: Double(second))
            let inside = times.count { $0 >= from && $0 < from.advanced(bySeconds: 1) }
            #expect(inside <= most && inside >= 150, "second \(second): \(inside)")
        }
    }

    /// Phones whose cards are overdue, as a node leaves them that is gone.
    private static func leave(_ count: Int, in store: MemoryStore) async -> Session {
        let began = Rig.evening.advanced(bySeconds: -27_900)
        var batch = CommitBatch()
        for number in 0..<count {
            // Ages of 7 h 45 min to 7 h 48 min, in no order.
            let age = began.advanced(bySeconds: -Double(number * 7919 % 180))
            let device = DeviceID(unchecked: "phone-\(number)")
            batch.lanes.append(StoredLane(record: record(device, age: age), generation: Generation(1)))
        }
        let terms = Rig.terms((0..<count).map { DeviceID(unchecked: "phone-\($0)") }, startedAt: began)
        let session = Session.opened("nap", terms)
        batch.sessions = [session]
        let made = batch
        _ = await withCheckedContinuation { done in store.commit(made) { done.resume(returning: $0) } }
        return session
    }

    private func number(of device: DeviceID) -> Int { Int(device.text.dropFirst(6)) ?? 0 }

    private static func record(_ device: DeviceID, age: WallTime) -> LaneRecord {
        var record = LaneRecord(
            device: device, app: Rig.app,
            ledger: NightLedger(
                from: Rig.evening.advanced(bySeconds: -50_400), to: Rig.evening.advanced(bySeconds: 36_000)))
        record.settings.user = "owner"
        record.settings.osVersion = OSVersion(major: 18, minor: 0)
        record.pushToStart = PushToStart(
            address: PushAddress(token: Array(device.text.utf8), gateway: .production), reportedAt: age,
            ownership: .owner)
        var card = Card(key: "nap", state: .confirmed, startedBy: .push)
        card.ageBegan = age
        card.claimedAt = age
        card.activity = ActivityID(unchecked: "\(device)-1")
        card.updateAddress = PushAddress(token: Array("u-\(device)".utf8), gateway: .production)
        record.cards = [card]
        record.sessions = [SessionMember(key: "nap", version: 1)]
        return record
    }
}
