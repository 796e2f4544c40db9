import CardRules
import Foundation
import Lanes
import Operations
import Simulation
import Testing

@testable import lanekeeper

/// Two programs on one database, as in a deploy that overlaps.
@Suite(.enabled(if: BuiltProgram.url != nil)) struct TwoDaemonsTests {
    private static let phones = 50

    @Test
    func
        `Two daemons during a deploy send everything twice (known fault 19): each start once, also when one is stopped past its lease with starts in hand`()
        async throws
    {
        let world = try await CrashWorld({ _ in try await ServerStore() }, seed: 19) { now in
            Wave.profiles(Self.phones, of: "g1", at: now)
                + Wave.profiles(Self.phones, of: "g2", at: now, from: Self.phones)
        }
        try await world.live {
            try await world.begin()
            try await world.until("the phones are registered") { world.calls.counts.answered >= 4 * Self.phones }
            try await world.post { [CrashWorld.game("g1", at: $0), CrashWorld.game("g2", at: $0)] }
            let other = try await world.beginAnother()
            do {
                try await night(world, other)
            } catch {
                await putAway(other)
                throw error
            }
            await putAway(other)
        }
    }

    private func putAway(_ other: (daemon: RunningDaemon, api: DemoAPI)) async {
        other.daemon.send(SIGCONT)
        other.daemon.send(SIGKILL)
        _ = await other.daemon.ended()
        await other.api.close()
    }

    private func night(_ world: CrashWorld, _ other: (daemon: RunningDaemon, api: DemoAPI)) async throws {
        func isReady(_ api: DemoAPI) async -> Bool {
            guard case .success(let answer) = await api.answer(to: ClientRequest("GET", "/readyz"), as: .demo) else {
                return false
            }
            return answer.status == 200
        }
        try await world.until("both are ready") {
            let first = await world.isReady() == true
            return await isReady(other.api) && first
        }
        // The same hundred ticks to both.
        for score in 0..<100 {
            let lines = [CrashWorld.score("g1", score, at: world.clock.now)]
            async let there = other.api.answer(to: .ticks(lines), as: .feed)
            try await world.post(lines)
            _ = await there
        }
        try await world.until("the first fifty have their cards") { world.cards == Self.phones }
        try await world.until("the apps have told everything") { world.calls.isIdle }
        #expect(world.witness.accepted(.start) == Self.phones)

        // Both have decided starts, and neither has them in the store, when the other one is stopped.
        try await world.store.freeze()
        try await world.post { [CrashWorld.score("g2", 0, at: $0)] }
        try await world.until("starts are in hand") { try await world.store.stopsCommit() }
        other.daemon.send(SIGSTOP)
        try await world.store.thaw()
        let store = try #require(world.store as? ServerStore)
        let theirs = try await store.sql(
            """
            SELECT string_agg(partition::text, ',') FROM lanekeeper.lease
            WHERE holder = (SELECT id FROM lanekeeper.node WHERE name = 'other')
            """)
        let partitions = Set((theirs ?? "").split(separator: ",").compactMap { Int($0) })
        var spent: Set<Int> = []
        try await world.until("the one that runs has taken over and sent what it may") {
            // L10: what the stopped one had said to the store may have landed after all; its start is spent, and never sent.
            spent = []
            for number in Self.phones..<2 * Self.phones where world.starts(ofPhone: number).isEmpty {
                guard await world.states(world.fleet.phone(number).device) == ["believed"] else { return false }
                if world.starts(ofPhone: number).isEmpty { spent.insert(number) }
            }
            return world.cards == 2 * Self.phones - spent.count
        }
        let goesOn = world.clock.now
        other.daemon.send(SIGCONT)
        try await world.until("the stopped one takes part again") { await isReady(other.api) }
        try await world.post { [CrashWorld.score("g1", 200, at: $0), CrashWorld.score("g2", 200, at: $0)] }
        try await world.until("all cards show the score") { world.allShow(200) }
        try await world.until("the apps have told everything") { world.calls.isIdle }
        for number in 0..<2 * Self.phones {
            #expect(world.starts(ofPhone: number).count == (spent.contains(number) ? 0 : 1), "phone \(number)")
        }
        #expect(world.witness.accepted(.start) == 2 * Self.phones - spent.count)
        #expect(
            spent.allSatisfy { partitions.contains(partition(of: world.fleet.phone($0).device)) },
            "the one that runs spends nothing unsent")
        let judged = world.fleet.withJudge { [clock = world.clock] in $0.report(at: clock.now) }
        // What stood in the stopped one's sockets leaves when it goes on, older than what the other has sent since: iOS drops
        // it. Nothing goes back in time after that.
        #expect(
            judged.violations.allSatisfy { $0.invariant == .i10 && abs($0.at.seconds(since: goesOn)) < 5 },
            "\(judged.violations.prefix(3))")
    }
}
