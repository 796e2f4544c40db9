import CardRules
import Lanes
import Testing

@testable import PushPool
@testable import Simulation

/// What the pool says of itself after every turn.
@Suite struct StandingTests {
    private static let gateways = Gateway.allCases

    private static func bench() -> PoolBench {
        var bench = PoolBench { plan in
            plan.groups = gateways.indices.map { .init(gateway: gateways[$0], key: 0, keyID: "KEY1234567") }
            plan.anyTopic = Dictionary(uniqueKeysWithValues: gateways.indices.map { (gateways[$0], $0) })
        }
        bench.turn()
        return bench
    }

    private static func step(_ bench: inout PoolBench, _ random: inout SeededGenerator, number: Int) {
        let gateway = gateways[Int.random(in: gateways.indices, using: &random)]
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1, 2:
            for place in 0..<Int.random(in: 1...8, using: &random) {
                bench.add(PoolBench.facts(number * 10 + place, gateway: gateway))
            }
        case 3: bench.answerAll()
        case 4: refuse(&bench, PoolBench.refusal("InvalidProviderToken", 403), on: gateway, number: number)
        case 5: refuse(&bench, PoolBench.refusal("InternalServerError", 500), on: gateway, number: number)
        case 6: bench.state.set(perSecond: Double.random(in: 1...900, using: &random), of: gateway, at: bench.now)
        case 7:
            if bench.state.pauses[gateway].since == nil {
                bench.state.pause(gateway, at: bench.now)
            } else {
                bench.state.resume(gateway, at: bench.now)
            }
        default: if let last = bench.opened.last, bench.connection(last) != nil { bench.lose(last) }
        }
        if Int.random(in: 0..<3, using: &random) > 0 { bench.pass(Double.random(in: 0...40, using: &random)) }
    }

    /// So often in a row that a scope is held (G3, G5).
    private static func refuse(_ bench: inout PoolBench, _ verdict: Verdict, on gateway: Gateway, number: Int) {
        for place in 0..<9 { bench.add(PoolBench.facts(number * 10 + place, gateway: gateway)) }
        bench.turn()
        for _ in 0..<20 { bench.answerNext(verdict) }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `metrics: what is written where an earlier standing stands is what would be written anew`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bench = Self.bench()
        var (standing, published) = (PoolStanding(), PoolStanding?.none)
        var snapshot = PoolSnapshot()
        var seen = PoolSnapshot()
        for number in 0..<150 {
            Self.step(&bench, &random, number: number)
            // As the loop does it: two standings take turns, and only what differs is written.
            standing.take(bench.state)
            standing.write(into: &snapshot, after: published)
            var whole = PoolSnapshot()
            standing.write(into: &whole, after: nil)
            #expect(snapshot == whole, "seed \(seed), step \(number)")
            #expect(whole.waiting == bench.state.waitingCount && whole.held == Set(bench.state.faults.held))
            let before = published
            published = standing
            if let before { standing = before }
            for (kind, count) in whole.connections { seen.connections[kind] = max(seen.connections[kind] ?? 0, count) }
            seen.paused.formUnion(whole.paused)
            seen.held.formUnion(whole.held)
        }
        // It was no night in which nothing happened.
        #expect(seen.connections.count > 2 && seen.paused.count == 2 && !seen.held.isEmpty, "seed \(seed): \(seen)")
    }
}
