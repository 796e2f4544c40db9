import CardRules
import Lanes
import PushWire
import Simulation
import Testing

@Suite struct ShardTests {
    @Test func `S7: the newer record of a phone gets card and spend of the older, on whatever shard`() async throws {
        for number in 0..<6 {
            try await TestSystem(seed: UInt64(number)).running { system in
                let (old, new) = (DeviceID(unchecked: "old-\(number)"), DeviceID(unchecked: "new-\(number)"))
                _ = await system.register(old, token: token)
                _ = await system.select(old, [g1])
                await system.pass(31)
                try await system.live(g1)
                await system.supervisor.settle()
                _ = await system.cardToken(old, [7])
                _ = await system.register(new, token: token)
                await system.supervisor.settle()
                _ = await system.select(new, [g1, g2])
                await system.pass(700)
                try await system.live(g2)
                await system.pass(60)
                #expect(system.pusher.starts.count == 1)
                #expect(system.pusher.ends.isEmpty)
                let (older, newer) = (
                    await system.supervisor.state(of: old), await system.supervisor.state(of: new)
                )
                #expect(older?.kept.cards.isEmpty == true)
                #expect(newer?.card(.slate)?.activity == ActivityID(unchecked: "a1"))
                #expect(newer?.kept.ledger[.slate].sent == 1)
                #expect(older?.kept.pushToStart?.ownership == .superseded(by: new, owed: nil))
            }
        }
    }

    @Test func `A4: a selection that arrives while a start waits for its commit discards it`() async throws {
        try await TestSystem().running { system in
            _ = await system.register(phone, token: token)
            _ = await system.select(phone, [g1])
            await system.pass(31)
            system.store.hold()
            async let tick: Void = system.live(g1)
            while system.store.heldCommits < 2 { await Task.yield() }
            async let answer = system.select(phone, [g2])
            // The selection is applied while the first commit is still held.
            while await system.supervisor.state(of: phone)?.kept.selection?.games != [g2] { await Task.yield() }
            system.store.release()
            try await tick
            #expect(await answer == .done)
            await system.supervisor.settle()
            #expect(system.pusher.starts.isEmpty)
            #expect(await system.supervisor.state(of: phone)?.kept.ledger[.slate].sent == 0)
        }
    }

    @Test func `L10: no more starts are out unanswered than a node may have, and all go in the end`() async throws {
        var tuning = Tuning()
        tuning.starts.claimedAtOnce = 3
        try await TestSystem(tuning: tuning).running { system in
            for number in 0..<10 {
                let device = DeviceID(unchecked: "d\(number)")
                _ = await system.register(device, token: [UInt8(number), 1])
                _ = await system.select(device, [g1])
            }
            await system.pass(31)
            system.pusher.answers(with: nil)
            try await system.live(g1)
            var random = TestGenerator(seed: 5)
            var rounds = 0
            while system.pusher.starts.count < 10, rounds < 1000 {
                rounds += 1
                await Task.yield()
                #expect(system.pusher.waiting <= 3)
                if system.pusher.waiting == 3 || rounds % 50 == 49 {
                    system.pusher.answerAll(with: .accepted, random: &random)
                    system.clock.advance(bySeconds: 0.3)
                    await system.supervisor.passTime()
                }
            }
            system.pusher.answers(with: .accepted)
            system.pusher.answerAll(with: .accepted, random: &random)
            await system.pass(5)
            #expect(system.pusher.starts.count == 10)
            #expect(Set(system.pusher.starts.map(\.address)).count == 10)
        }
    }

    @Test func `a removed device ends its card first, and is gone then`() async throws {
        try await TestSystem().running { system in
            _ = await system.register(phone, token: token)
            _ = await system.select(phone, [g1])
            await system.pass(31)
            try await system.live(g1)
            await system.supervisor.settle()
            _ = await system.cardToken(phone, [7])
            #expect(await system.supervisor.answer(to: .removed, for: phone) == .done)
            await system.supervisor.settle()
            #expect(system.pusher.ends.count == 1)
            #expect(system.store.lane(phone) == nil)
            #expect(await system.supervisor.state(of: phone) == nil)
            #expect(await system.supervisor.answer(to: .removed, for: phone) == .unknownDevice)
        }
    }

    @Test func `S11: a game that enters the window by time alone starts its card without a tick`() async throws {
        try await TestSystem().running { system in
            _ = await system.register(phone, token: token)
            _ = await system.select(phone, [g1])
            var announcement = GamePatch(game: g1, at: system.clock.now)
            announcement.sport = .value(.hockey)
            announcement.home = .value("home")
            announcement.away = .value("away")
            announcement.startsAt = .value(system.clock.now.advanced(bySeconds: 1800))
            var score = ScorePatch(game: g1, at: system.clock.now)
            (score.home, score.away, score.phase) = (.value(0), .value(0), .value(.pre))
            try await system.supervisor.tick([.game(announcement), .score(score)])
            await system.pass(1499)
            #expect(system.pusher.starts.isEmpty)
            await system.pass(2)
            #expect(system.pusher.starts.count == 1)
        }
    }

    @Test func `a lane ends on the newest snapshot, however many were offered`() async throws {
        try await TestSystem().running { system in
            _ = await system.register(phone, token: token)
            _ = await system.select(phone, [g1])
            await system.pass(31)
            try await system.live(g1)
            await system.supervisor.settle()
            _ = await system.cardToken(phone, [7])
            await system.pass(20)
            for goal in 1...50 { try await system.live(g1, home: goal) }
            await system.pass(31)
            let last = try #require(system.pusher.updates.last)
            #expect(String(decoding: last.payload, as: UTF8.self).contains("\"homeScore\":50"))
            #expect(system.pusher.updates.count < 10)
        }
    }

    @Test(arguments: UInt64(0)..<4)
    func `settled means that nothing waits, whatever the order of the answers`(seed: UInt64) async throws {
        try await TestSystem(seed: seed).running { system in
            var random = TestGenerator(seed: seed)
            for number in 0..<200 {
                let device = DeviceID(unchecked: "d\(number)")
                _ = await system.register(device, token: [UInt8(number % 250), UInt8(number / 250), 9])
                _ = await system.select(device, [g1])
            }
            await system.pass(31)
            system.pusher.answers(with: nil)
            try await system.live(g1)
            while system.pusher.starts.count < 200 {
                system.pusher.answerAll(with: .accepted, random: &random)
                await Task.yield()
            }
            system.pusher.answers(with: .accepted)
            system.pusher.answerAll(with: .accepted, random: &random)
            await system.supervisor.settle()
            #expect(system.pusher.waiting == 0)
            for number in 0..<200 {
                let state = await system.supervisor.state(of: DeviceID(unchecked: "d\(number)"))
                #expect(state?.card(.slate)?.state == .believed, "seed \(seed), device \(number)")
            }
        }
    }
}
