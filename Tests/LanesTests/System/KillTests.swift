import CardRules
import Lanes
import PushWire
import Simulation
import Testing

/// One lane dies, and goes on from what the store knows.
@Suite(.timeLimit(.minutes(1))) struct KillTests {
    private let rig = Rig()

    /// A phone whose card is confirmed and shows the game with no goals.
    private func standing(_ system: Supervisor) async throws {
        #expect(await rig.register("phone", on: system) == .done)
        try await rig.play(on: system)
        await system.settle()
        #expect(await system.answer(to: Rig.cardToken(), for: "phone") == .done)
        await system.settle()
        rig.clock.advance(bySeconds: 60)
    }

    private func isKilled(_ device: DeviceID, _ system: Supervisor) async throws {
        let isKilled = try await system.kill(device)
        #expect(isKilled)
    }

    @Test func `L1: a killed lane goes on as the store knows it, under a newer generation`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            try await standing(system)
            let before = try #require(rig.store.lane("phone"))
            try await isKilled("phone", system)
            await system.settle()
            #expect(await system.state(of: "phone")?.kept.cards == before.record.cards)
            #expect(rig.trace.restarted == ["phone"])
            try await rig.play(goals: 1, on: system)
            await system.settle()
            #expect(await system.answer(to: .registered(Rig.patch("phone") { $0.sound = true }), for: "phone") == .done)
            #expect(try #require(rig.store.lane("phone")).generation > before.generation)
            #expect(rig.pusher.starts == 1)
        }
    }

    @Test func `L1: what it had asked to be kept is kept, and a call that comes meanwhile is applied once it stands`()
        async throws
    {
        let system = try await rig.system()
        try await rig.running(system) {
            #expect(await rig.register("phone", on: system) == .done)
            rig.store.hold()
            let early = rig.submit(.registered(Rig.patch("phone") { $0.sound = true }), for: "phone", on: system)
            await rig.until("its record's commit") { rig.store.heldCommits == 1 }
            async let isKilled = system.kill("phone")
            await rig.until("its fall") { await system.state(of: "phone") == nil }
            let late = rig.submit(.registered(Rig.patch("phone") { $0.spoilerFree = true }), for: "phone", on: system)
            #expect(early.all.isEmpty && late.all.isEmpty)
            rig.store.release()
            let killed = try await isKilled
            #expect(killed)
            await system.settle()
            #expect(early.all == [.done] && late.all == [.done])
            let settings = try #require(rig.store.lane("phone")).record.settings
            #expect(settings.sound && settings.spoilerFree)
        }
    }

    @Test(arguments: [Verdict.accepted, .notSent, .unknown])
    func `L10: a start under way is believed and spent; its verdict is refused as of an earlier generation`(
        verdict: Verdict
    ) async throws {
        let system = try await rig.system { $0.starts.claimedAtOnce = 1 }
        try await rig.running(system) {
            #expect(await rig.register("phone", on: system) == .done)
            #expect(await rig.register("other", on: system) { $0.personalisation = Personalisation.none } == .done)
            rig.pusher.script(nil)
            try await rig.play(on: system)
            await rig.until("the start") { rig.pusher.starts == 1 }
            try await isKilled("phone", system)
            rig.pusher.script(.accepted)
            rig.pusher.answer(verdict)
            await system.settle()
            #expect(rig.trace.fenced == ["phone"])
            #expect(await rig.cardState("phone", system) == .believed)
            await rig.pass(1200, system)
            try await rig.play(goals: 1, on: system)
            await system.settle()
            #expect(rig.pusher.starts == 1)
            // The answered claim is given back all the same: another phone may start (L10).
            let choice = LaneEvent.selected(games: ["g1"], pinned: nil, muted: [], syncedAt: rig.clock.now)
            #expect(await system.answer(to: choice, for: "other") == .done)
            await rig.pass(60, system)
            await system.settle()
            #expect(rig.pusher.sent(.start, to: "other").count == 1)
        }
    }

    @Test func `L1, L10: a start whose claim is being written when its lane falls does not leave, and stays spent`()
        async throws
    {
        let system = try await rig.system()
        try await rig.running(system) {
            #expect(await rig.register("phone", on: system) == .done)
            try await rig.announce(on: system)
            await system.settle()
            rig.store.hold()
            rig.clock.advance(bySeconds: 300)
            await system.passTime()
            await rig.until("the claim's commit") { rig.store.heldCommits == 1 }
            async let isKilled = system.kill("phone")
            await rig.until("its fall") { await system.state(of: "phone") == nil }
            rig.store.release()
            let killed = try await isKilled
            #expect(killed)
            await system.settle()
            #expect(rig.pusher.starts == 0)
            #expect(rig.store.claims.count == 1)
            #expect(await rig.cardState("phone", system) == .believed)
            await rig.pass(1200, system)
            #expect(rig.pusher.starts == 0)
        }
    }

    @Test func `L1, P5: an end under way is sent again, and timestamps go on rising`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            try await standing(system)
            rig.pusher.script(nil)
            try await rig.play(phase: .postponed, on: system)
            await rig.until("the end") { rig.pusher.sent(.end).count == 1 }
            try await isKilled("phone", system)
            await rig.until("the end, again") { rig.pusher.sent(.end).count == 2 }
            rig.pusher.script(.accepted)
            rig.pusher.answer(.accepted)
            await system.settle()
            #expect(await rig.cardState("phone", system) == nil)
            #expect(rig.pusher.sent(.end).count == 2)
            let stamps = rig.pusher.sent.compactMap(\.timestamp)
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy(<), "\(stamps)")
            #expect(rig.trace.fenced == ["phone"])
        }
    }

    @Test func `R7: while the store is away the lane waits; the others go on, and it is read once the store is back`()
        async throws
    {
        let system = try await rig.system()
        try await rig.running(system) {
            try await standing(system)
            #expect(await rig.register("other", on: system) == .done)
            #expect(await system.answer(to: Rig.cardToken("a2"), for: "other") == .done)
            await rig.pass(60, system)
            rig.store.fail(with: .unavailable(detail: "away"))
            async let isKilled = system.kill("phone")
            await rig.until("its fall") { await system.state(of: "phone") == nil }
            await rig.until("a failed read") { rig.trace.storeFailures > 0 }
            let updates = rig.pusher.sent(.update, to: "other").count
            _ = try? await rig.play(goals: 1, on: system)
            await rig.until("the other's update") { rig.pusher.sent(.update, to: "other").count > updates }
            rig.store.fail(with: nil)
            await rig.until("another read") {
                rig.clock.advance(bySeconds: 1)
                await system.passTime()
                return await system.state(of: "phone") != nil
            }
            let killed = try await isKilled
            #expect(killed)
            await system.settle()
            #expect(await rig.cardState("phone", system) == .confirmed)
        }
    }

    @Test func `a row that cannot be read: its calls are told to try again, and the next kill reads anew`() async throws
    {
        let system = try await rig.system()
        try await rig.running(system) {
            #expect(await rig.register("phone", on: system) == .done)
            let fault = StoreError.corrupt(table: "lane", key: "phone", detail: "torn")
            rig.store.fail(with: fault)
            await #expect(throws: fault) { try await system.kill("phone") }
            await system.settle()
            rig.store.fail(with: nil)
            #expect(await system.answer(to: .registered(Rig.patch("phone")), for: "phone") == .unavailable)
            try await isKilled("phone", system)
            #expect(await system.answer(to: .registered(Rig.patch("phone")), for: "phone") == .done)
        }
    }

    @Test func `a device that is not there, or on its way out, is not killed`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            let absent = try await system.kill("phone")
            #expect(!absent)
            #expect(await rig.register("phone", on: system) == .done)
            rig.store.hold()
            let removed = rig.submit(.removed, for: "phone", on: system)
            await rig.until("its removal's commit") { rig.store.heldCommits == 1 }
            async let isKilled = system.kill("phone")
            await rig.until("its fall") { await system.state(of: "phone") == nil }
            let back = rig.submit(.registered(Rig.patch("phone")), for: "phone", on: system)
            rig.store.release()
            let killed = try await isKilled
            #expect(!killed)
            await system.settle()
            #expect(removed.all == [.done] && back.all == [.done])
            #expect(rig.store.lane("phone")?.record.isRemoved == false)
        }
    }

    @Test func `S7: killed while its phone changes hands, a record hands over or takes over all the same`() async throws
    {
        for victim in ["old", "new"] as [DeviceID] {
            let rig = Rig()
            let system = try await rig.system(shards: 2)
            try await rig.running(system) {
                #expect(await rig.register("old", token: [7], on: system) == .done)
                try await rig.play(on: system)
                await system.settle()
                rig.store.hold()
                let reply = rig.submit(.registered(Rig.patch("new", token: [7])), for: "new", on: system)
                await rig.until("a commit") { rig.store.heldCommits > 0 }
                async let isKilled = system.kill(victim)
                await rig.until("its fall") { await system.state(of: victim) == nil }
                rig.store.release()
                let killed = try await isKilled
                #expect(killed)
                await system.settle()
                #expect(reply.all == [.done])
                #expect(await rig.cardState("new", system) == .believed)
                #expect(await rig.cardState("old", system) == nil)
                #expect(rig.pusher.starts == 1)
            }
        }
    }
}

extension Witness {
    var restarted: [DeviceID] { all.compactMap { if case .restarted(let device, _) = $0 { device } else { nil } } }
}
