import CardRules
import Lanes
import Simulation
import Testing

@Suite struct DurabilityTests {
    @Test func `L1: a start leaves only when its claim and its record are durable`() async throws {
        try await TestSystem().running { system in
            _ = await system.register(phone, token: token)
            _ = await system.select(phone, [g1])
            await system.pass(31)
            system.store.hold()
            async let tick: Void = system.live(g1)
            while system.store.heldCommits < 2 { await Task.yield() }
            #expect(system.pusher.starts.isEmpty)
            system.store.release()
            try await tick
            await system.supervisor.settle()
            #expect(system.pusher.starts.count == 1)
            #expect(system.store.claims.count == 1)
            #expect(system.store.lane(phone)?.record.cards.first?.state == .believed)
        }
    }

    @Test func `L1: while the store is away no start leaves and registrations are refused, and then one start goes`()
        async throws
    {
        try await TestSystem().running { system in
            _ = await system.register(phone, token: token)
            _ = await system.select(phone, [g1])
            await system.pass(31)
            system.store.fail(with: .unavailable(detail: "gone"))
            await #expect(throws: StoreError.self) { try await system.live(g1) }
            #expect(await system.register(DeviceID(unchecked: "other"), token: [9]) == .unavailable)
            #expect(system.pusher.starts.isEmpty)
            system.store.fail(with: nil)
            await system.pass(5)
            #expect(system.pusher.starts.count == 1)
            #expect(system.trace.storeFailures > 0)
        }
    }

    @Test func `U: while the store is away updates to known cards go on`() async throws {
        try await TestSystem().running { system in
            _ = await system.register(phone, token: token)
            _ = await system.select(phone, [g1])
            await system.pass(31)
            try await system.live(g1)
            await system.supervisor.settle()
            _ = await system.cardToken(phone, [7])
            await system.pass(20)
            let before = system.pusher.updates.count
            system.store.fail(with: .unavailable(detail: "gone"))
            await #expect(throws: StoreError.self) { try await system.live(g1, home: 1) }
            while system.pusher.updates.count == before { await Task.yield() }
            #expect(system.pusher.updates.count == before + 1)
        }
    }

    /// Where the process ends: before the claim is written, after it, after the push, after its verdict.
    enum Moment: CaseIterable { case beforeCommit, beforeVerdict, afterVerdict }

    @Test(arguments: Moment.allCases)
    func `L1, L10: a process that dies around a start never sends a second one`(moment: Moment) async throws {
        let (store, pusher, clock) = (MemoryStore(), ScriptedPusher(), ManualClock(now: TestSystem.evening))
        try await TestSystem(store: store, pusher: pusher, clock: clock).running { system in
            _ = await system.register(phone, token: token)
            _ = await system.select(phone, [g1])
            await system.pass(31)
            switch moment {
            case .beforeCommit:
                try await system.live(g2)  // the slate is known, the start is not yet wanted
            case .beforeVerdict:
                pusher.answers(with: nil)
                try await system.live(g1)
                while pusher.waiting == 0 { await Task.yield() }
            case .afterVerdict:
                try await system.live(g1)
                await system.supervisor.settle()
            }
        }
        pusher.answers(with: .accepted)
        clock.advance(bySeconds: 3)
        try await TestSystem(store: store, pusher: pusher, clock: clock, seed: 2).running { system in
            try await system.live(g1, home: 1)
            await system.pass(1200)
            try await system.live(g1, home: 2)
            await system.pass(60)
            let state = await system.supervisor.state(of: phone)
            #expect(state?.card(.slate)?.state == .believed)
        }
        #expect(pusher.starts.count == 1, "\(moment)")
        #expect(store.claims.count == 1, "\(moment)")
    }

    @Test func `P5: after a restart timestamps rise on, also when the clock has gone back`() async throws {
        let (store, pusher, clock) = (MemoryStore(), ScriptedPusher(), ManualClock(now: TestSystem.evening))
        try await TestSystem(store: store, pusher: pusher, clock: clock).running { system in
            _ = await system.register(phone, token: token)
            _ = await system.select(phone, [g1])
            await system.pass(31)
            try await system.live(g1)
            await system.supervisor.settle()
            _ = await system.cardToken(phone, [7])
            for goal in 1...5 {
                await system.pass(20)
                try await system.live(g1, home: goal)
            }
            await system.pass(20)
        }
        clock.advance(bySeconds: -40)
        try await TestSystem(store: store, pusher: pusher, clock: clock, seed: 2).running { system in
            await system.pass(60)
            try await system.live(g1, home: 7)
            await system.pass(60)
        }
        let times = pusher.pushes.compactMap(\.timestamp)
        #expect(times.count == pusher.pushes.count)
        #expect(times.count >= 7)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
    }
}
