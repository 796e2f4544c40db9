import CardRules
import Simulation
import Testing

@testable import Lanes

/// A lane's row that does not parse.
@Suite(.timeLimit(.minutes(1))) struct DamageTests {
    private let rig = Rig()
    private let torn = StoreError.corrupt(table: "lane", key: "phone", detail: "torn")

    /// Two phones of one partition, kept by a process that is gone, and the row of one damaged since.
    private func leave() async throws -> (other: DeviceID, row: StoredLane) {
        let other = try #require(
            (0..<10_000).map { DeviceID(unchecked: "d\($0)") }.first { partition(of: $0) == partition(of: "phone") })
        let first = try await rig.system()
        try await rig.running(first) {
            for device in ["phone", other] { #expect(await rig.register(device, on: first) == .done) }
        }
        let row = try #require(rig.store.lane("phone"))
        rig.store.damage("phone", as: "torn")
        return (other, row)
    }

    /// Its device alone is turned away until somebody has mended the row.
    private func judge(_ system: Supervisor, _ other: DeviceID, _ row: StoredLane) async throws {
        #expect(rig.trace.all.contains { if case .storeFailed(torn) = $0 { true } else { false } }, "not said")
        #expect(await rig.register("phone", on: system) == .unavailable)
        #expect(await system.answer(to: Rig.cardToken(), for: "phone") == .unavailable)
        await #expect(throws: torn) { try await system.look(at: "phone") }
        try await rig.play(on: system)
        await rig.live(1, system)
        #expect(rig.pusher.sent(.start, to: other).count == 1, "the other goes on")
        #expect(rig.pusher.sent(.start, to: "phone").isEmpty)
        await #expect(throws: torn) { try await system.unpark("phone") }
        await system.settle()
        #expect(await rig.register("phone", on: system) == .unavailable)
        #expect(rig.store.lane("phone") == row, "nothing is written over it")

        rig.store.damage("phone", as: nil)
        let goesOn = try await system.unpark("phone")
        #expect(goesOn)
        await rig.live(1, system)
        #expect(rig.pusher.sent(.start, to: "phone").count == 1)
        #expect(await rig.register("phone", on: system) == .done)
    }

    @Test func `a row that does not parse: its device's calls are answered 503, all else goes on, nothing is lost`()
        async throws
    {
        let (other, row) = try await leave()
        let system = try await rig.system()
        try await rig.running(system) { try await judge(system, other, row) }
    }

    @Test func `in a cluster its partition runs all the same, and is handed over without a wait`() async throws {
        let (other, row) = try await leave()
        let place = partition(of: other)
        let cluster = FakeCluster(over: rig.store)
        let system = try await rig.system(cluster: cluster)
        try await rig.running(system) {
            cluster.gain(place, epoch: 1)
            await rig.until("its partition runs") { await system.switchboard.table[place] == .here(epoch: 1) }
            await system.settle()
            try await judge(system, other, row)
        }
        rig.store.damage("phone", as: "torn")
        let next = FakeCluster(over: rig.store)
        let second = try await rig.system(cluster: next)
        try await rig.running(second) {
            next.gain(place, epoch: 2)
            await rig.until("it runs again") { await second.switchboard.table[place] == .here(epoch: 2) }
            await second.settle()
            // No time passes: it waits for no limit.
            next.tell(.asked(partition: place))
            await rig.until("it is handed over") { next.now.released == [place] }
            next.gain(place, epoch: 3)
            await rig.until("it comes back") { await second.switchboard.table[place] == .here(epoch: 3) }
            await second.settle()
            #expect(await second.answer(to: Rig.cardToken(), for: "phone") == .unavailable)
        }
    }
}
