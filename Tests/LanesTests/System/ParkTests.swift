import CardRules
import Lanes
import Simulation
import Testing

@Suite struct ParkTests {
    /// Killed until it rests.
    private func park(_ device: DeviceID, _ rig: Rig, _ system: Supervisor) async throws {
        for death in 1...6 {
            #expect(try await system.kill(device) == (death <= 5), "death \(death)")
            await system.settle()
        }
    }

    @Test func `a lane that keeps dying is parked with its reason, and its shard goes on`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            _ = await rig.register("p2", on: system)
            try await park("p1", rig, system)
            let parked = await system.parkedLanes()
            #expect(parked.map(\.device) == ["p1"] && parked[0].reason.contains("5 times in 60 s"))
            #expect(await system.gauges().lanes[.parked] == 1)
            #expect(rig.trace.all.contains { if case .parked("p1", _) = $0 { true } else { false } })
            #expect(await rig.register("p1", on: system) == .unavailable)
            #expect(await rig.register("p2", on: system) == .done)
            let isKilled = try await system.kill("p1")
            #expect(!isKilled)
            let isWrong = try await system.unpark("p2")
            #expect(!isWrong)
            #expect(try await system.unpark("p1"))
            await system.settle()
            #expect(await rig.register("p1", on: system) == .done)
            #expect(await system.parkedLanes().isEmpty)
            let causes = rig.trace.all.compactMap { if case .restarted(_, let cause) = $0 { cause } else { nil } }
            #expect(causes == Array(repeating: .killed, count: 5) + [.unparked])
        }
    }

    @Test func `a parked lane goes on with the first call after a while, and loses none`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            try await park("p1", rig, system)
            await rig.live(59, system)
            #expect(await rig.register("p1", on: system) == .unavailable)
            await rig.live(2, system)
            #expect(await rig.register("p1", on: system) == .done)
            #expect(await system.state(of: "p1") != nil)
            // What is past counts no more: it takes as many deaths again.
            try await park("p1", rig, system)
        }
    }

    @Test func `deaths far apart park nothing`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            for _ in 0..<12 {
                let isKilled = try await system.kill("p1")
                #expect(isKilled)
                await rig.live(13, system)
            }
        }
    }
}
