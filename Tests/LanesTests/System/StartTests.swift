import CardRules
import Lanes
import PushWire
import Simulation
import Testing

/// A start leaves once, and only when everything about it is durable.
@Suite(.timeLimit(.minutes(1))) struct StartTests {
    private let rig = Rig()
    private let away = StoreError.unavailable(detail: "away")

    /// One phone, and a game that comes into the window in five minutes, without a tick.
    private func waiting(_ system: Supervisor) async throws {
        #expect(await rig.register("phone", on: system) == .done)
        try await rig.announce(on: system)
        await system.settle()
    }

    /// It comes into the window: the start is claimed.
    private func comeIntoWindow(_ system: Supervisor) async {
        rig.clock.advance(bySeconds: 300)
        await system.passTime()
    }

    @Test func `L1: a start leaves only after its claim and its record have landed`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            try await waiting(system)
            rig.store.hold()
            await comeIntoWindow(system)
            await rig.until("the claim's commit") { rig.store.heldCommits == 1 }
            #expect(rig.pusher.sent.isEmpty)
            #expect(rig.store.claims.isEmpty)
            rig.store.release()
            await system.settle()
            #expect(rig.pusher.starts == 1)
            #expect(rig.store.claims.count == 1)
            #expect(rig.store.lane("phone")?.record.cards.first?.state == .believed)
        }
    }

    @Test func `G7: a start that finds the pool full is kept, and offered again once there is room`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            try await waiting(system)
            rig.pusher.fill()
            await comeIntoWindow(system)
            await rig.until("an offer") { rig.pusher.turnedAway > 0 }
            #expect(rig.pusher.starts == 0)
            rig.pusher.makeRoom()
            await system.settle()
            #expect(rig.pusher.starts == 1)
            #expect(rig.store.lane("phone")?.record.cards.first?.state == .believed)
        }
    }

    @Test
    func
        `L1: while the store fails no start leaves and registrations are told so; updates go on; healed, the start leaves once`()
        async throws
    {
        let system = try await rig.system()
        try await rig.running(system) {
            #expect(await rig.register("known", on: system) == .done)
            try await rig.play(on: system)
            await system.settle()
            #expect(await system.answer(to: Rig.cardToken(), for: "known") == .done)
            await system.settle()
            #expect(await rig.register("phone", on: system) { $0.personalisation = Personalisation.none } == .done)
            let choice = LaneEvent.selected(games: ["g2"], pinned: nil, muted: [], syncedAt: rig.clock.now)
            #expect(await system.answer(to: choice, for: "phone") == .done)
            rig.clock.advance(bySeconds: 40)
            let starts = rig.pusher.starts
            #expect(starts == 1)

            rig.store.fail(with: away)
            _ = try? await rig.play(goals: 1, on: system)
            await rig.until("the update of a known card") { rig.pusher.sent(.update).count == 1 }
            #expect(rig.pusher.sent(.update).last?.text.contains(#""homeScore":1"#) == true)
            _ = try? await rig.play("g2", on: system)
            let reply = rig.submit(.registered(Rig.patch("phone")), for: "phone", on: system)
            await rig.until("the answer to a registration") { reply.isThere }
            #expect(reply.all == [.unavailable])
            for _ in 0..<3 {
                let failures = rig.trace.storeFailures
                // The shard may set its next try after this has moved the clock.
                await rig.until("another try") {
                    rig.clock.advance(bySeconds: 1)
                    await system.passTime()
                    return rig.trace.storeFailures > failures
                }
            }
            #expect(rig.pusher.starts == starts)

            rig.store.fail(with: nil)
            rig.clock.advance(bySeconds: 1)
            await system.passTime()
            await system.settle()
            await rig.pass(60, system)
            await system.settle()
            #expect(rig.pusher.sent(.start, to: "phone").count == 1)
            #expect(rig.pusher.starts == starts + 1)
            #expect(reply.all == [.unavailable])
        }
    }

    /// Where a process dies.
    enum Moment: CaseIterable { case beforeClaim, claimed, sent, answered }

    @Test(arguments: Moment.allCases)
    func `L1, L10: whenever the process dies, what was started is not started again`(moment: Moment) async throws {
        let first = try await rig.system()
        rig.pusher.script(nil)
        try await rig.running(first) {
            try await waiting(first)
            if moment != .sent { rig.store.hold() }
            await comeIntoWindow(first)
            switch moment {
            case .beforeClaim, .claimed:
                await rig.until("the claim's commit") { rig.store.heldCommits == 1 }
            case .sent:
                await rig.until("the start") { rig.pusher.starts == 1 }
            case .answered:
                await rig.until("the claim's commit") { rig.store.heldCommits == 1 }
                rig.store.release()
                await rig.until("the start") { rig.pusher.starts == 1 }
                rig.store.hold()
                rig.pusher.answer(.accepted)
                await rig.until("the verdict's commit") { rig.store.heldCommits == 1 }
            }
        }
        rig.store.crash(landing: moment == .claimed ? 1 : 0)
        rig.pusher.script(.accepted)
        let sent = moment == .claimed || moment == .beforeClaim ? 0 : 1
        #expect(rig.pusher.starts == sent)

        let second = try await rig.system()
        try await rig.running(second) {
            await second.passTime()
            await second.settle()
            #expect(await rig.cardState("phone", second) == .believed)
            await rig.pass(900, second)
            try await rig.play(goals: 1, on: second)
            await second.settle()
        }
        // Where nothing of it was durable nothing was started, and it is decided again.
        #expect(rig.pusher.starts == (moment == .beforeClaim ? 1 : sent))
        #expect(rig.store.claims.count == 1)
    }

    @Test func `L10: never more starts are out than may be claimed at once, and all go in the end`() async throws {
        let system = try await rig.system(shards: 3) { $0.starts.claimedAtOnce = 3 }
        let phones = (0..<10).map { DeviceID(unchecked: "phone-\($0)") }
        try await rig.running(system) {
            for phone in phones { #expect(await rig.register(phone, on: system) == .done) }
            try await rig.announce(on: system)
            await system.settle()
            rig.pusher.script(nil)
            await comeIntoWindow(system)
            for _ in 0..<200 where rig.pusher.starts < phones.count {
                await rig.until("a start") {
                    rig.clock.advance(bySeconds: 0.3)
                    await system.passTime()
                    _ = await system.answer(to: .reported(report), for: phones[0])
                    return rig.pusher.open > 0 || rig.pusher.starts == phones.count
                }
                for _ in 0..<4 {
                    rig.clock.advance(bySeconds: 0.3)
                    await system.passTime()
                    _ = await system.answer(to: .reported(report), for: phones[0])
                }
                rig.pusher.answer(.accepted)
                _ = await system.answer(to: .reported(report), for: phones[0])
                rig.clock.advance(bySeconds: 0.3)
                await system.passTime()
            }
            rig.pusher.script(.accepted)
            rig.pusher.answer(.accepted)
            await system.settle()
        }
        #expect(rig.pusher.mostStartsOpen <= 3)
        #expect(rig.pusher.mostStartsOpen > 0)
        #expect(Set(rig.pusher.sent(.start).map(\.ticket.device)) == Set(phones))
        #expect(rig.pusher.starts == phones.count)
    }

    private var report: CardReport { CardReport(key: .slate, kind: .stale, activity: "none", at: rig.clock.now) }

    @Test func `A4: a selection that arrives while a start waits for its commit discards it`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            try await waiting(system)
            rig.store.hold()
            await comeIntoWindow(system)
            await rig.until("the claim's commit") { rig.store.heldCommits == 1 }
            let now = rig.clock.now
            let before = await system.state(of: "phone")?.selectionRevision
            let reply = rig.submit(
                .selected(games: ["g1"], pinned: nil, muted: [], syncedAt: now), for: "phone", on: system)
            await rig.until("the selection") { await system.state(of: "phone")?.selectionRevision != before }
            #expect(!reply.isThere)
            rig.store.release()
            await system.settle()
            #expect(reply.all == [.done])
            #expect(rig.pusher.starts == 0)
            #expect(await rig.cardState("phone", system) == nil)
            // S8: the app starts its own card; where it did not, the start goes half a minute later.
            await rig.pass(31, system)
            await system.settle()
            #expect(rig.pusher.starts == 1)
        }
    }

    @Test func `P5: after a restart timestamps exceed all earlier ones, though the clock went back`() async throws {
        let first = try await rig.system(shards: 2)
        try await rig.running(first) {
            try await rig.play(on: first)
            #expect(await rig.register("phone", on: first) == .done)
            #expect(await first.answer(to: Rig.cardToken(), for: "phone") == .done)
            for goals in 1...4 {
                rig.clock.advance(bySeconds: 20)
                try await rig.play(goals: goals, on: first)
                await first.settle()
            }
        }
        let earlier = rig.pusher.sent.compactMap(\.timestamp)
        #expect(earlier.count == 5)
        rig.clock.advance(bySeconds: -3600)
        let second = try await rig.system(shards: 3)
        try await rig.running(second) {
            try await rig.play(goals: 5, on: second)
            await second.settle()
            await rig.pass(60, second)
        }
        let later = rig.pusher.sent.dropFirst(earlier.count).compactMap(\.timestamp)
        #expect(!later.isEmpty)
        let highest = earlier.max() ?? 0
        #expect(later.allSatisfy { $0 > highest })
        #expect(Set(later).count == later.count)
    }
}
