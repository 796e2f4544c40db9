import CardRules
import Lanes
import PushWire
import Simulation
import Testing

@Suite struct MeasureTests {
    @Test func `gauges count lanes by condition and cards by programme and state`() async throws {
        let rig = Rig()
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            _ = await rig.register("p2", on: system)
            _ = await rig.register("old", token: [1, 2], on: system) { $0.personalisation = Personalisation.none }
            _ = await rig.register("new", token: [1, 2], on: system) { $0.personalisation = Personalisation.none }
            _ = try await system.put("nap", Rig.terms(["new"]))
            try await rig.play(on: system)
            await system.settle()
            _ = await system.answer(to: Rig.cardToken(), for: "p1")
            await system.settle()
            let gauges = await system.gauges()
            #expect(gauges.lanes[.standing] == 3 && gauges.lanes[.superseded] == 1 && gauges.lanes[.parked] == 0)
            #expect(Set(gauges.lanes.keys) == Set(Gauges.LaneCondition.allCases))
            #expect(
                gauges.cards == [
                    Gauges.CardKind(programme: .slate, state: .confirmed): 1,
                    Gauges.CardKind(programme: .slate, state: .believed): 1,
                    Gauges.CardKind(programme: .session, state: .believed): 1,
                ])
            #expect(gauges.neverAdopted == 0 && gauges.callsWaiting == 0 && gauges.timersOverdueSeconds == 0)
            let follower = system.hub.subscribe(device: nil)
            await rig.live(700, system)
            #expect(await system.gauges().neverAdopted == 2)
            #expect(await system.gauges().followers == 1)
            follower?.cancel()
        }
    }

    @Test func `timers overdue are those whose time nobody has told of; calls that wait are counted`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            try await rig.play(on: system)
            await system.settle()
            rig.store.hold()
            let reply = rig.submit(Rig.cardToken(), for: "p1", on: system)
            await rig.until("the call waits") { rig.store.heldCommits == 1 }
            #expect(await system.gauges().callsWaiting == 1)
            rig.store.release()
            await rig.until("answered") { reply.isThere }
            await system.settle()
            rig.clock.set(rig.clock.now.advanced(bySeconds: 8 * 3600))
            #expect(await system.gauges().timersOverdueSeconds > 600)
            await system.passTime()
            await system.settle()
            #expect(await system.gauges().timersOverdueSeconds == 0)
        }
    }

    @Test func `a tick is measured to its last lane and to its last push`() async throws {
        let rig = Rig()
        let system = try await rig.system(shards: 3, steady: true)
        try await rig.running(system) {
            for number in 0..<9 { _ = await rig.register(DeviceID(unchecked: "p\(number)"), on: system) }
            rig.pusher.script(nil)
            try await rig.play(on: system)
            await system.flushDecisions(rig)
            let decided = rig.trace.all.count { if case .tickDecided = $0 { true } else { false } }
            #expect(decided == 1 && !rig.trace.hasTickAnswered)
            rig.clock.set(rig.clock.now.advanced(bySeconds: 2))
            rig.pusher.answer(.accepted)
            await system.settle()
            let answered = rig.trace.all.compactMap { if case .tickAnswered(let seconds) = $0 { seconds } else { nil } }
            #expect(answered == [2])
            let commits = rig.trace.all.compactMap { if case .committed(_, let seconds) = $0 { seconds } else { nil } }
            #expect(!commits.isEmpty && commits.allSatisfy { $0 >= 0 })
        }
    }

    @Test func `R3: what becomes of reissues is told`() async throws {
        let rig = Rig()
        let system = try await rig.system { tuning in
            tuning.reissue.afterSeconds = 600
            tuning.reissue.spreadSeconds = 0
        }
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            try await rig.play(on: system)
            await system.settle()
            _ = await system.answer(to: Rig.cardToken(), for: "p1")
            await rig.live(700, system)
            let outcomes = rig.trace.all.compactMap { if case .reissued(let verdict) = $0 { verdict } else { nil } }
            #expect(outcomes == [.accepted])
        }
    }

    @Test func `S14: an answer says that the app should report a token`() async throws {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            #expect(
                await system.reply(to: .registered(Rig.patch("p1")), for: "p1", app: Rig.app)
                    == DeviceReply(answer: .done, needsToken: false))
            // APNs calls the token dead: there is none to start with.
            rig.pusher.script(.refused(Refusal(.known(.unregistered), status: 410)))
            try await rig.play(on: system)
            await rig.live(10, system)
            let choice = LaneEvent.selected(games: ["g1"], pinned: nil, muted: [], syncedAt: rig.clock.now)
            #expect(
                await system.reply(to: choice, for: "p1") == DeviceReply(answer: .done, needsToken: true))
            let stale = LaneEvent.selected(games: [], pinned: nil, muted: [], syncedAt: Rig.evening)
            #expect(await system.reply(to: stale, for: "p1").needsToken)
            let after = await system.reply(to: .registered(Rig.patch("p1")), for: "p1")
            #expect(!after.needsToken)
        }
    }

    @Test func `decisions made before a restart are told from the timeline`() async throws {
        let rig = Rig()
        let first = try await rig.system()
        try await rig.running(first) {
            _ = await rig.register("p1", on: first)
            try await rig.play(on: first)
            await first.flush()
            let why = try await first.why(of: "p1")
            #expect(why?[.slate]?.rule == .s4)
        }
        let second = try await rig.system()
        try await rig.running(second) {
            await second.settle()
            let known = try await second.why(of: "p1")
            let stranger = try await second.why(of: "p9")
            #expect(known?[.slate]?.rule == .s4 && stranger == nil)
        }
    }

    @Test func `other tuning reaches slate and lanes at once, and what cannot change is named`() async throws {
        let rig = Rig()
        let system = try await rig.system(shards: 2)
        try await rig.running(system) {
            _ = await rig.register("p1", on: system)
            try await rig.play(on: system)
            await system.settle()
            _ = await system.answer(to: Rig.cardToken(), for: "p1")
            await system.settle()
            var tuning = await system.tuning
            #expect(await system.retune(tuning).isEmpty)
            tuning.night.rollsAtMinute = 300
            tuning.reissue.afterSeconds = 60
            tuning.reissue.spreadSeconds = 0
            tuning.window.afterSeconds = 1
            #expect(await system.retune(tuning) == ["night.rollsAt"])
            #expect(await system.tuning.night.rollsAtMinute == 360)
            await rig.live(61, system)
            #expect(await rig.cardState("p1", system) == .believed)
            _ = await system.answer(to: Rig.cardToken("a2"), for: "p1")
            try await rig.play(phase: .final, on: system)
            await rig.live(2, system)
            #expect(await rig.cardState("p1", system) == nil)
        }
    }
}

extension Witness {
    fileprivate var hasTickAnswered: Bool { all.contains { if case .tickAnswered = $0 { true } else { false } } }
}

extension Supervisor {
    /// Until the sweep of the last tick is over: its pushes are not answered, so nothing settles.
    fileprivate func flushDecisions(_ rig: Rig) async {
        await rig.until("decided") { rig.trace.all.contains { if case .tickDecided = $0 { true } else { false } } }
        await rig.until("nine starts are out") { rig.pusher.sent.count { $0.request.event == .start } == 9 }
    }
}
