import CardRules
import Lanes
import Postgres
import Simulation
import Testing

@testable import LaneStore

/// Several nodes in one process on one PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(4))) struct ClusterTests {
    @Test func `a tick to either node reaches both, and every phone gets its one start, whoever took its call`()
        async throws
    {
        try await withNodes(2) { nodes, phones, _ in
            let (a, b) = (nodes[0], nodes[1])
            try await a.untilOwns(32)
            try await b.untilOwns(32)
            let all = devices(60)
            for (place, device) in all.enumerated() {
                #expect(await nodes[place % 2].register(device) == .done)
            }
            for device in all {
                let runs = (await a.runs(device), await b.runs(device))
                #expect(runs.0 != runs.1, "\(device) runs on one of them")
                for node in nodes { #expect(try await node.system.look(at: device)?.kept.device == device) }
            }
            let changes = try await a.play("g1", goals: 0)
            #expect(changes.count == 2)
            try await a.until("all starts") { phones.starts.count == all.count }
            try await b.play("g1", goals: 1)
            try await b.play("g2", goals: 5)
            for node in nodes {
                try await node.until("the same slate") {
                    let scores = (await node.homeScore("g1"), await node.homeScore("g2"))
                    return scores == (1, 5)
                }
            }
            #expect(phones.starts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test func `a call to the node that does not run the device is answered as the owner would`() async throws {
        try await withNodes(2) { nodes, phones, _ in
            let (a, b) = (nodes[0], nodes[1])
            try await a.untilOwns(32)
            try await b.untilOwns(32)
            let far = try #require(devices(50).first { b.owns($0) })
            let selected = LaneEvent.selected(games: ["g1"], pinned: nil, muted: [], syncedAt: a.clock.now)
            #expect(await a.system.answer(to: selected, for: far) == .unknownDevice)
            #expect(await a.register(far) == .done)
            #expect(await b.runs(far))
            #expect(await a.system.answer(to: selected, for: far) == .done)
            let older = LaneEvent.selected(games: [], pinned: nil, muted: [], syncedAt: ClusterNode.evening)
            guard case .staleSelection = await a.system.answer(to: older, for: far) else {
                Issue.record("an older selection is refused")
                return
            }
            let stranger = CardToken(
                key: "s9", activity: "x", address: PushAddress(token: [1], gateway: .production), startedBy: .push,
                began: nil)
            #expect(await a.system.answer(to: .cardToken(stranger), for: far) == .unknownCard)
            try await a.play("g1", goals: 0)
            try await a.until("its start") { phones.count(.start, to: far) == 1 }
            #expect(await a.system.answer(to: a.cardToken(far), for: far) == .done)
            #expect(try await a.system.look(at: far)?.card(.slate)?.state == .confirmed)
            try await a.play("g1", goals: 1)
            try await a.until("an update by the owner") { phones.sender(of: .update, to: far) == "b" }
            #expect(await a.system.answer(to: .removed, for: far) == .done)
            try await b.until("it is gone") { try await b.system.look(at: far) == nil }
        }
    }

    @Test func `a node that goes hands over in order: what was under way is answered first, nobody starts again`()
        async throws
    {
        try await withNodes(2) { nodes, phones, _ in
            let (a, b) = (nodes[0], nodes[1])
            try await a.untilOwns(32)
            try await b.untilOwns(32)
            let all = devices(40)
            for device in all { #expect(await a.register(device) == .done) }
            a.holdPushes()
            try await b.play("g1", goals: 0)
            try await a.until("all starts") { phones.starts.count == all.count }
            async let left: Void = a.system.leave(withinSeconds: 30)
            try await a.until("partitions without anything under way go at once") { b.system.partitions.owned > 32 }
            #expect(b.system.partitions.owned < partitionCount)
            a.letPushesGo()
            await left
            try await b.untilOwns(partitionCount)
            #expect(a.system.partitions.owned == 0)
            // Accepted, not merely believed: the verdicts came before the hand-over.
            for device in all {
                let state = try #require(await b.system.state(of: device))
                #expect(state.kept.ledger.keys.first?.accepted == 1, "\(device)")
            }
            // Calls to the one that is going reach the one that stays.
            #expect(await a.register("late") == .done)
            #expect(await b.runs("late"))
            try await b.play("g1", goals: 1)
            try await b.until("the late one's start") { phones.starts["late"] == 1 }
            #expect(phones.starts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test func `a node that comes is given its share while it runs, and nothing is sent twice for it`() async throws {
        let schema = try await TestSchema()
        let phones = ClusterPhones()
        let clock = ScaledClock(start: ClusterNode.evening, speed: 1)
        let a = try await ClusterNode("a", in: schema, phones: phones, clock: clock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await a.run() }
            try await a.untilOwns(partitionCount)
            let all = devices(50)
            for device in all { #expect(await a.register(device) == .done) }
            try await a.play("g1", goals: 0)
            try await a.until("all starts") { phones.starts.count == all.count }
            for device in all { #expect(await a.system.answer(to: a.cardToken(device), for: device) == .done) }
            let b = try await ClusterNode("b", in: schema, phones: phones, clock: clock)
            group.addTask { await b.run() }
            try await b.untilOwns(32)
            try await a.untilOwns(32)
            try await b.play("g1", goals: 3, phase: .live)
            for device in all {
                let owner = await a.runs(device) ? "a" : "b"
                try await a.until("an update by its owner") { phones.sender(of: .update, to: device) == owner }
            }
            #expect(phones.starts.values.allSatisfy { $0 == 1 } && phones.starts.count == all.count)
            await a.close()
            await b.close()
            group.cancelAll()
        }
    }

    @Test func `fencing: a node that was taken for dead and does not know sends no second start and drops its lanes`()
        async throws
    {
        try await withNodes(2) { nodes, phones, schema in
            let (a, b) = (nodes[0], nodes[1])
            try await a.untilOwns(32)
            try await b.untilOwns(32)
            let all = devices(40)
            for device in all { #expect(await b.register(device) == .done) }
            // The server believes that it is dead, and it does not know: its own time is not over.
            _ = try await schema.sql(
                "UPDATE lease SET holder = (SELECT id FROM node WHERE name = 'b'), epoch = epoch + 1 WHERE holder = (SELECT id FROM node WHERE name = 'a')"
            )
            #expect(a.cluster.mayAct)
            try await a.play("g1", goals: 0)
            try await a.until("the store refuses what it writes") { a.system.partitions.owned < 32 }
            // It comes back by itself, with new epochs, and each phone has its one start.
            try await a.until("all starts") { phones.starts.count == all.count }
            for node in nodes { try await node.untilOwns(32) }
            #expect(phones.starts.values.allSatisfy { $0 == 1 }, "\(phones.starts.filter { $0.value != 1 })")
        }
    }

    @Test func `past its lease a node lets nothing leave; then it begins anew`() async throws {
        try await withNodes(2) { nodes, phones, _ in
            let (a, b) = (nodes[0], nodes[1])
            try await a.untilOwns(32)
            try await b.untilOwns(32)
            let mine = devices(60).filter { a.owns($0) }
            for device in mine { #expect(await a.register(device) == .done) }
            a.steady.jump(60)
            #expect(!a.cluster.mayAct)
            try await a.until("it has lost everything, or taken it anew") { a.cluster.mayAct }
            for node in nodes { try await node.untilOwns(32) }
            try await b.play("g1", goals: 0)
            try await a.until("all starts") { phones.starts.count == mine.count }
            #expect(phones.starts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test func `S7: a phone that reports under another record on another node hands over its night before a start`()
        async throws
    {
        try await withNodes(2) { nodes, phones, _ in
            let (a, b) = (nodes[0], nodes[1])
            try await a.untilOwns(32)
            try await b.untilOwns(32)
            let old = try #require(devices(50, "old").first { a.owns($0) })
            let new = try #require(devices(50, "new").first { b.owns($0) })
            #expect(await a.register(old, token: "phone") == .done)
            try await a.play("g1", goals: 0)
            try await a.until("the first start") { phones.count(.start, to: old) == 1 }
            #expect(await a.register(new, token: "phone") == .done)
            try await b.until("the newer record owns the phone and its card") {
                let state = await b.system.state(of: new)
                return state?.kept.pushToStart?.ownership == .owner && state?.card(.slate) != nil
            }
            try await a.until("the older one is done") {
                await a.system.state(of: old)?.kept.pushToStart?.ownership == .superseded(by: new, owed: nil)
            }
            try await a.play("g2", goals: 0)
            // A report under the older record is about the newer one's card.
            #expect(await b.system.answer(to: b.cardToken(old), for: old) == .done)
            #expect(await b.system.state(of: new)?.card(.slate)?.state == .confirmed)
            try await b.until("both games") { phones.count(.update, to: new) > 0 }
            #expect(phones.count(.start) == 1)
        }
    }

    @Test func `a session opened at one node and stopped at the other ends on every phone; changes do not cross`()
        async throws
    {
        try await withNodes(2) { nodes, phones, _ in
            let (a, b) = (nodes[0], nodes[1])
            try await a.untilOwns(32)
            try await b.untilOwns(32)
            let all = devices(12)
            for device in all { #expect(await a.register(device) == .done) }
            var terms = SessionTerms(
                devices: all, attributesType: "SleepAttributes", attributes: .object(["session": .string("s1")]),
                content: .object(["n": .integer(0)]), title: "Sleep", startedAt: ClusterNode.evening)
            #expect(try await a.system.put("s1", terms) == .opened)
            try await a.until("a start each") { phones.starts.count == all.count }
            for device in all {
                let token = CardToken(
                    key: "s1", activity: ActivityID(unchecked: "s-\(device.text)"),
                    address: PushAddress(token: Array("s-\(device.text)".utf8), gateway: .production),
                    startedBy: .push, began: nil)
                #expect(await b.system.answer(to: .cardToken(token), for: device) == .done)
            }
            // Both change it at once: each builds on the other's.
            var made: [SessionTerms] = []
            for number in 1...6 {
                terms.content = .object(["n": .integer(Int64(number))])
                made.append(terms)
            }
            let changes = made
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (place, terms) in changes.enumerated() {
                    group.addTask { _ = try await nodes[place % 2].system.put("s1", terms) }
                }
                try await group.waitForAll()
            }
            for node in nodes {
                try await node.until("six changes") { node.system.session("s1")?.version == 7 }
            }
            #expect(a.system.session("s1")?.terms == b.system.session("s1")?.terms)
            #expect(try await b.system.stop("s1") == .stopped)
            try await b.until("every end") { Set(all.filter { phones.count(.end, to: $0) > 0 }).count == all.count }
            #expect(phones.starts.values.allSatisfy { $0 == 1 })
            #expect(try await a.system.stop("s1") == .unchanged)
        }
    }

    @Test func `a gateway paused at one node is paused at all, also at one that comes later`() async throws {
        try await withNodes(2) { nodes, phones, schema in
            try await nodes[0].system.pause(.sandbox)
            #expect(nodes[0].paused == [.sandbox])
            try await nodes[1].until("paused there too") { nodes[1].paused == [.sandbox] }
            let c = try await ClusterNode("c", in: schema, phones: phones, clock: nodes[0].clock)
            #expect(c.paused == [.sandbox])
            try await nodes[1].system.resume(.sandbox)
            try await nodes[0].until("resumed there too") { nodes[0].paused.isEmpty }
            await c.close()
        }
    }

    @Test func `followers of a timeline at one node hear of what another's lane decided`() async throws {
        try await withNodes(2) { nodes, phones, _ in
            let (a, b) = (nodes[0], nodes[1])
            try await a.untilOwns(32)
            try await b.untilOwns(32)
            let far = try #require(devices(50).first { b.owns($0) })
            #expect(await b.register(far) == .done)
            let followed = try #require(a.system.hub.subscribe(device: far))
            try await b.play("g1", goals: 0)
            var seen = false
            for await _ in followed.news {
                let rows = try await a.system.timeline(device: far, after: nil, limit: 100)
                if rows.contains(where: { $0.row.entry.kind == .start }) {
                    seen = true
                    break
                }
            }
            #expect(seen && phones.count(.start, to: far) == 1)
            followed.cancel()
        }
    }
}

extension ClusterNode {
    /// Of the partitions as they are now.
    func owns(_ device: DeviceID) -> Bool { store.held.contains(partition(of: device)) }
}
