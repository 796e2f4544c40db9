import CardRules
import Lanes
import PushWire
import Simulation
import Testing

/// What a shard promises those who call it, push for it and drive its time.
@Suite(.timeLimit(.minutes(1))) struct PromiseTests {
    private let rig = Rig()

    @Test func `U2: of snapshots offered while a push is out only the newest is sent`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            try await rig.confirm(on: system)
            rig.pusher.script(nil)
            for goals in 1...50 { try await rig.play(goals: goals, on: system) }
            await rig.until("an update") { rig.pusher.open == 1 }
            rig.pusher.script(.accepted)
            rig.pusher.answer(.accepted)
            await system.settle()
            await rig.pass(30, system)
            await system.settle()
            let updates = rig.pusher.sent(.update)
            #expect(updates.count <= 2)
            #expect(updates.last?.text.contains(#""homeScore":50"#) == true)
        }
    }

    @Test func `L1: a card reported between a restart and its first tick is not ended by an empty slate`() async throws
    {
        let first = try await rig.system()
        try await rig.running(first) { try await rig.confirm(on: first) }
        let second = try await rig.system()
        let reply = rig.submit(.registered(Rig.patch("phone")), for: "phone", on: second)
        try await rig.running(second) {
            await second.settle()
            #expect(reply.all == [.done])
            #expect(await rig.cardState("phone", second) == .confirmed)
        }
        #expect(rig.pusher.sent(.end).isEmpty)
        #expect(rig.pusher.starts == 1)
    }

    @Test func `a device that is removed ends its card first, and is then gone from the store`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            try await rig.confirm(on: system)
            rig.pusher.script(nil)
            #expect(await system.answer(to: .removed, for: "phone") == .done)
            await rig.until("the end") { rig.pusher.open == 1 }
            #expect(rig.pusher.sent.last?.request.event == .end)
            #expect(rig.store.lane("phone")?.record.isRemoved == true)
            rig.pusher.answer(.accepted)
            await system.settle()
            #expect(rig.store.lane("phone") == nil)
            #expect(await system.laneCount() == 0)
            #expect(await system.answer(to: Rig.cardToken(), for: "phone") == .unknownDevice)
        }
    }

    @Test func `an answer for a lane that is gone is dropped as fenced, also when the device has come back`()
        async throws
    {
        let system = try await rig.system()
        try await rig.running(system) {
            try await rig.confirm(on: system)
            rig.pusher.script(nil)
            try await rig.play(goals: 1, on: system)
            await rig.until("an update") { rig.pusher.open == 1 }
            // Its card is over and the device goes; the update is still out.
            let report = CardReport(key: .slate, kind: .ended, activity: "a1", at: rig.clock.now)
            #expect(await system.answer(to: .reported(report), for: "phone") == .done)
            #expect(await system.answer(to: .removed, for: "phone") == .done)
            await rig.until("the record to go") { await system.laneCount() == 0 }
            #expect(await system.answer(to: .registered(Rig.patch("phone")), for: "phone", app: Rig.app) == .done)
            // The new lane has pushes of its own under the numbers of the old one.
            try await rig.play(goals: 2, phase: .break, on: system)
            #expect(await system.answer(to: Rig.cardToken("a2"), for: "phone") == .done)
            rig.clock.advance(bySeconds: 20)
            await system.passTime()
            await rig.until("an update of the new lane") { rig.pusher.open == 2 }
            let tickets = rig.pusher.sent.map(\.ticket)
            #expect(Set(tickets).count == tickets.count)
            rig.pusher.script(.accepted)
            rig.pusher.answer(.accepted)
            await system.settle()
            #expect(rig.trace.fenced.contains("phone"))
        }
    }

    @Test func `a device that comes back while its record is being removed keeps it`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            #expect(await rig.register("phone", on: system) == .done)
            #expect(await rig.register("other", on: system) == .done)
            rig.store.hold()
            // A commit of another lane is under way, so that both of these wait for the next one.
            _ = rig.submit(.registered(Rig.patch("other") { $0.sound = true }), for: "other", on: system)
            await rig.until("a commit") { rig.store.heldCommits == 1 }
            let gone = rig.submit(.removed, for: "phone", on: system)
            await rig.until("the removal") { await system.state(of: "phone")?.kept.isRemoved == true }
            let back = rig.submit(.registered(Rig.patch("phone")), for: "phone", on: system)
            await rig.until("the return") { await system.state(of: "phone")?.kept.isRemoved == false }
            rig.store.release()
            rig.store.hold()
            await rig.until("the next commit") { rig.store.heldCommits == 1 }
            rig.store.crash(landing: 1)
            #expect(!gone.isThere && !back.isThere)
        }
        // Whatever was to be said after it: the record is there as soon as the app can be told.
        #expect(rig.store.lane("phone")?.record.isRemoved == false)
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `settled, nothing is open, in whatever order answers come`(seed: UInt64) async throws {
        let system = try await rig.system(shards: 3)
        var dice = TestGenerator(seed: seed)
        try await rig.running(system) {
            for number in 0..<500 {
                let device = DeviceID(unchecked: "phone-\(number)")
                system.submit(DeviceCall(device: device, app: Rig.app, event: .registered(Rig.patch(device))))
            }
            await system.settle()
            #expect(rig.store.heldCommits == 0)
            rig.pusher.script(nil)
            try await rig.play(on: system)
            await rig.until("all starts") { rig.pusher.starts == 500 }
            rig.pusher.script(.accepted)
            for _ in 0..<3 {
                rig.pusher.answer(.accepted) { $0.shuffled(using: &dice) }
                await system.settle()
                #expect(rig.pusher.open == 0)
                #expect(rig.trace.answered == rig.pusher.sent.count, "seed \(seed)")
            }
            for number in 0..<500 {
                let state = await rig.cardState(DeviceID(unchecked: "phone-\(number)"), system)
                #expect(state == .believed, "seed \(seed)")
            }
        }
        #expect(rig.pusher.starts == 500, "seed \(seed)")
        #expect(rig.store.claims.count == 500)
    }

    @Test func `more calls than may wait are answered overloaded, and each exactly once`() async throws {
        let system = try await rig.system(callsHeld: 10)
        try await rig.running(system) {
            #expect(await rig.register("phone", on: system) == .done)
            rig.store.hold()
            let replies = (0..<60).map { _ in rig.submit(.registered(Rig.patch("phone")), for: "phone", on: system) }
            await rig.until("refusals") { replies.contains { $0.all == [.overloaded] } }
            rig.store.release()
            await system.settle()
            #expect(replies.allSatisfy { $0.all.count == 1 })
            #expect(replies.contains { $0.all == [.done] })
            // At most ten in the inbox, ten waiting for the commit under way and ten for the next.
            #expect(replies.count { $0.all == [.done] } <= 30)
            #expect(await rig.register("phone", on: system) == .done)
        }
    }

    @Test func `whoever still waits when the system stops is answered, and so is whoever comes later`() async throws {
        let system = try await rig.system()
        var replies: [Reply] = []
        try await rig.running(system) {
            rig.store.hold()
            replies.append(rig.submit(.registered(Rig.patch("phone")), for: "phone", on: system))
            await rig.until("a commit") { rig.store.heldCommits == 1 }
            replies.append(rig.submit(.registered(Rig.patch("other")), for: "other", on: system))
            await rig.until("another lane") { await system.laneCount() == 2 }
        }
        replies.append(rig.submit(.registered(Rig.patch("late")), for: "late", on: system))
        #expect(replies.map(\.all) == [[.unavailable], [.unavailable], [.unavailable]])
        rig.store.release()
        await system.settle()
        #expect(replies.allSatisfy { $0.all.count == 1 })
    }

    @Test func `S11: a game enters the window without a tick, exactly when it is due`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            #expect(await rig.register("phone", on: system) == .done)
            try await rig.announce(on: system)
            await system.settle()
            let due = rig.clock.now.advanced(bySeconds: 300)
            #expect(await system.nextDeadline == due)
            rig.clock.set(due.advanced(bySeconds: -0.001))
            await system.passTime()
            await system.settle()
            #expect(rig.pusher.starts == 0)
            rig.clock.set(due)
            await system.passTime()
            await system.settle()
            #expect(rig.pusher.starts == 1)
        }
    }

    @Test func `U3: an update that had to wait goes exactly when its gap is over`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            try await rig.confirm(on: system)
            try await rig.play(goals: 1, on: system)
            await system.settle()
            let due = rig.clock.now.advanced(bySeconds: 15)
            rig.clock.advance(bySeconds: 1)
            try await rig.play(goals: 2, on: system)
            await system.settle()
            let sent = rig.pusher.sent(.update).count
            #expect(await system.nextDeadline == due)
            rig.clock.set(due.advanced(bySeconds: -0.1))
            await system.passTime()
            await system.settle()
            #expect(rig.pusher.sent(.update).count == sent)
            rig.clock.set(due)
            await system.passTime()
            await system.settle()
            #expect(rig.pusher.sent(.update).count == sent + 1)
        }
    }

    @Test func `R7: after the clock was set back deadlines are judged anew within a second`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            try await rig.confirm(on: system)
            try await rig.play(goals: 1, on: system)
            await system.settle()
            rig.clock.advance(bySeconds: 1)
            try await rig.play(goals: 2, on: system)
            await system.settle()
            let sent = rig.pusher.sent(.update).count
            rig.clock.advance(bySeconds: -7200)
            await system.passTime()
            await system.settle()
            #expect(rig.pusher.sent(.update).count == sent)
            await rig.pass(15, system)
            await system.settle()
            #expect(rig.pusher.sent(.update).count == sent + 1)
        }
    }

    @Test func `R7: a store that failed before the clock was set back is tried again all the same`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            rig.store.fail(with: .unavailable(detail: "away"))
            let reply = rig.submit(.registered(Rig.patch("phone")), for: "phone", on: system)
            let retry = rig.clock.now.advanced(bySeconds: 1)
            await rig.until("a failure") { await system.nextDeadline == retry }
            #expect(reply.all == [.unavailable])
            rig.store.fail(with: nil)
            rig.clock.advance(bySeconds: -7200)
            await system.passTime()
            let due = rig.clock.now.advanced(bySeconds: 1)
            await rig.until("the step to be noticed") { await system.nextDeadline == due }
            rig.clock.set(due)
            await rig.until("the store to be tried again") {
                await system.passTime()
                return rig.store.lane("phone") != nil
            }
            await system.settle()
        }
    }

    @Test func `a failed flush of what can wait leaves no deadline behind`() async throws {
        let system = try await rig.system()
        try await rig.running(system) {
            try await rig.confirm(on: system)
            // P5: what passes the mark is kept with this one.
            try await rig.play(goals: 1, on: system)
            await system.settle()
            rig.clock.advance(bySeconds: 2)
            // An urgent update: a row for people, and nothing else to keep.
            try await rig.play(goals: 1, phase: .final, on: system)
            await system.settle()
            rig.store.fail(with: .unavailable(detail: "away"))
            let failures = rig.trace.storeFailures
            await system.flush()
            #expect(rig.trace.storeFailures == failures + 1)
            rig.clock.advance(bySeconds: 1)
            await system.passTime()
            await system.settle()
            let next = await system.nextDeadline
            #expect(next.map { $0 > rig.clock.now } ?? true)
            rig.store.fail(with: nil)
        }
    }
}
