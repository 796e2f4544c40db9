import CardRules
import Lanes
import Testing

@testable import PushPool

/// Things that broke for others, in virtual time: each test is named after its symptom.
@Suite struct KnownFaultTests {
    /// A gateway that takes 40 ms for a push, allows one stream until the first 200, then 500, falls back to one with each
    /// 4xx, and refuses streams above what it has announced.
    private struct Throttling {
        var limits: [UInt64: Int] = [:]
        var due: [(at: SteadyTime, request: PoolBench.Written)] = []

        mutating func take(_ bench: inout PoolBench) {
            for request in bench.written where !due.contains(where: { $0.request == request }) {
                let open = due.count { $0.request.connection == request.connection }
                if open >= limits[request.connection, default: 1] {
                    bench.refuseStream(request)
                } else {
                    due.append((bench.now.steady.advanced(bySeconds: 0.04), request))
                }
            }
        }

        mutating func answer(_ bench: inout PoolBench, isDead: (PoolBench.Written) -> Bool) {
            for entry in due where entry.at <= bench.now.steady {
                let limit = isDead(entry.request) ? 1 : 500
                if limits[entry.request.connection, default: 1] != limit {
                    limits[entry.request.connection] = limit
                    bench.handle(.settings(entry.request.connection, streams: limit))
                }
                bench.answer(
                    entry.request, isDead(entry.request) ? PoolBench.refusal("BadDeviceToken", 400) : .accepted)
            }
            due.removeAll { $0.at <= bench.now.steady }
        }
    }

    @Test
    func
        `known fault 6: after one refusal the gateway takes one request at a time, and confirmed phones do not wait for it`()
    {
        var bench = PoolBench(streams: 1)
        var gateway = Throttling()
        let dead = Set((0..<500).filter { $0 % 5 == 0 })
        var order = Array(0..<500)
        var state: UInt64 = 7
        for place in order.indices.reversed() {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            order.swapAt(place, Int((state >> 33) % UInt64(place + 1)))
        }
        var numbers: [PushID: Int] = [:]
        for number in order {
            if let push = bench.add(PoolBench.facts(number, .update, isConfirmed: !dead.contains(number))) {
                numbers[push] = number
            }
        }
        var waits: [Double] = []
        bench.turn()
        for _ in 0..<4000 where !bench.state.isEmpty {
            gateway.take(&bench)
            bench.pass(0.01)
            let before = bench.settled.count
            gateway.answer(&bench) { dead.contains(numbers[$0.push] ?? 0) }
            for (push, _) in bench.settled[before...] where !dead.contains(numbers[push] ?? 0) {
                waits.append(bench.now.steady.seconds(since: .zero))
            }
        }
        #expect(bench.state.isEmpty && bench.settled.count == 500)
        let accepted = bench.settled.filter { $0.1 == .accepted }
        let refused = bench.settled.filter { $0.1 == PoolBench.refusal("BadDeviceToken", 400) }
        #expect(accepted.count == 400 && refused.count == 100, "refused streams are no failures")
        #expect(refused.allSatisfy { dead.contains(numbers[$0.0] ?? 0) })
        waits.sort()
        #expect(waits.count == 400 && waits[395] < 5, "p99 of confirmed tokens: \(waits[395]) s")
    }

    @Test
    func `known fault 5: one wrong setting fails every push: after a few the scope waits, no verdict touches a token`()
    {
        var bench = PoolBench {
            $0.routes = [.production: ["a": 0, "b": 0, "c": 0]]
            $0.timeoutSeconds = 60
        }
        let answers = [
            "a": PoolBench.refusal("TopicDisallowed", 400), "b": PoolBench.refusal("DeviceTokenNotForTopic", 400),
            "c": Verdict.accepted,
        ]
        for number in 0..<1000 {
            bench.add(PoolBench.facts(number, topic: number % 2 == 0 ? "a" : number % 10 < 8 ? "b" : "c"))
        }
        bench.turn()
        var sent: [String: Int] = [:]
        var isHealed = false
        for _ in 0..<6000 where !bench.state.isEmpty || !isHealed {
            while let request = bench.written.first {
                let topic = bench.state.slots[request.push.place].facts.topic
                sent[topic, default: 0] += 1
                bench.answer(request, isHealed ? .accepted : answers[topic] ?? .accepted)
            }
            if bench.now.steady >= SteadyTime.zero.advanced(bySeconds: 59) { isHealed = true }
            bench.pass(0.1)
        }
        let alarms = bench.notices.filter { if case .misconfigured = $0 { true } else { false } }
        #expect(alarms.count == 2, "one an app, each once")
        let refused = bench.settled.count { if case .refused = $0.1 { true } else { false } }
        #expect(refused <= 2 * (5 + 1), "five to be sure and one probe, each: \(refused)")
        let refusedBad = bench.settled.filter { $0.1 == PoolBench.refusal("BadDeviceToken", 400) }
        #expect(refusedBad.isEmpty)
        #expect(bench.settled.count == 1000)
        #expect(bench.settled.count { $0.1 == .accepted } >= 100, "the app that is right is served")
    }
}
