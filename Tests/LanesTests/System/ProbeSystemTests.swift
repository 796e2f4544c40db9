import CardRules
import Lanes
import PushWire
import Simulation
import Testing

@Suite struct ProbeSystemTests {
    @Test func `a probe answers with its variants, and its timeline tells what became of each`() async throws {
        let rig = Rig()
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            _ = await rig.register("p2", on: system)
            #expect(try await system.probe("p1") == ProbeVariant.allCases)
            await #expect(throws: ProbeFault.running) { try await system.probe("p2") }
            await #expect(throws: ProbeFault.running) { try await system.probe("p1") }
            #expect(await system.gauges().probing == 1)
            await rig.live(4 * 60, system)
            let starts = rig.pusher.sent.filter { $0.request.event == .start }
            #expect(starts.count == 5 && starts.allSatisfy { $0.request.collapseID == "probe" })
            #expect(Set(starts.map(\.request.payload)).count == 5)
            let told = try await system.timeline(device: "p1", after: nil, limit: 99).map(\.row)
                .filter { $0.entry.kind == .probe }
            #expect(told.count == 10)
            #expect(told.filter { $0.push?.status == 200 && $0.apnsID != nil }.count == 5)
            // The first is over: the second may be probed.
            #expect(try await system.probe("p2", gateway: .sandbox) == ProbeVariant.allCases)
        }
    }

    @Test func `a phone that cannot be probed is told why`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            await #expect(throws: ProbeFault.unknownDevice) { try await system.probe("p0") }
            _ = await rig.register("p1", on: system) { $0.pushToStart = .null }
            await #expect(throws: ProbeFault.obstacle(.noToken)) { try await system.probe("p1") }
            _ = await rig.register("old", token: [1, 2], on: system)
            _ = await rig.register("new", token: [1, 2], on: system)
            await #expect(throws: ProbeFault.obstacle(.superseded(by: "new"))) { try await system.probe("old") }
            // Ten minutes after each start its card is given up, and makes room (L9, S13).
            _ = try await system.probe("new")
            await rig.live(15 * 60, system)
            _ = try await system.probe("new")
            await rig.live(15 * 60, system)
            await #expect(throws: ProbeFault.obstacle(.unitsSpent(left: 0, needed: 5))) {
                try await system.probe("new")
            }
            #expect(ProbeFault.obstacle(.unitsSpent(left: 0, needed: 5)).isConflict && ProbeFault.running.isConflict)
            #expect(!ProbeFault.obstacle(.noToken).isConflict)
        }
    }

    @Test func `L1: a probe that cannot be kept is refused, and sends nothing`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            rig.store.fail(with: .unavailable(detail: "gone"))
            await #expect(throws: ProbeFault.unavailable) { try await system.probe("p1") }
            #expect(rig.pusher.starts == 0)
        }
    }

    @Test func `a probe's card is reported under its own key, and its end is sent`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            _ = try await system.probe("p1")
            await system.settle()
            #expect(await system.answer(to: Rig.cardToken("x1", key: .probe), for: "p1") == .done)
            await system.settle()
            let ends = rig.pusher.sent.filter { $0.request.event == .end }
            #expect(ends.map(\.request.address.token) == [Array("x1".utf8)])
        }
    }

    @Test func `L10: after a restart no variant is repeated and another probe may begin`() async throws {
        let rig = Rig()
        let first = try await rig.system()
        try await rig.running(first) {
            _ = await rig.register("p1", on: first)
            _ = try await first.probe("p1")
            await first.settle()
        }
        let second = try await rig.system()
        try await rig.running(second) {
            await rig.live(600, second)
            await second.flush()
            #expect(rig.pusher.sent.count { $0.request.event == .start } == 1)
            let told = try await second.timeline(device: "p1", after: nil, limit: 99).map(\.row.entry)
            #expect(told.contains { $0.kind == .probe && $0.rule == .l10 })
            #expect(try await second.probe("p1").count == 5)
        }
    }

    @Test func `a session must not take the probe's key`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            await #expect(throws: SessionFault.reservedID) { try await system.put("probe", Rig.terms(["p1"])) }
        }
    }

    @Test func `a made-up moment names a game, phones and seconds that there are`() async throws {
        let rig = Rig()
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            _ = await rig.register("p2", on: system)
            try await rig.play("g1", on: system)
            await system.settle()
            let faults: [(GameID, Double, [DeviceID], MomentFault)] = [
                ("g9", 30, ["p1"], .unknownGame), ("g1", 30, ["p1", "p9"], .unknownDevice("p9", index: 1)),
                ("g1", 30, [], .noDevices), ("g1", 0.5, ["p1"], .seconds), ("g1", 3601, ["p1"], .seconds),
                ("g1", .nan, ["p1"], .seconds),
                ("g1", 30, Array(repeating: "p1", count: 101), .tooManyDevices(limit: 100)),
            ]
            for (game, seconds, devices, fault) in faults {
                await #expect(throws: fault) {
                    try await system.makeUpMoment(game: game, kind: .overtime, seconds: seconds, devices: devices)
                }
            }
            try await system.makeUpMoment(game: "g1", kind: .shootout, seconds: 30, devices: ["p1", "p1"])
            await system.flush()
            let moments = rig.store.timeline.filter { $0.entry.kind == .moment }
            #expect(moments.map(\.device) == ["p1"])
        }
    }
}
