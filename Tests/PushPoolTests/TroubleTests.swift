import CardRules
import Lanes
import PushWire
import Synchronization
import Testing

@testable import PushPool
@testable import Simulation

/// A gateway that refuses much, over TLS: what the pool stops, how it finds out that all is well, and what it costs (G3 to G5, G8).
@Suite(.serialized, .timeLimit(.minutes(1))) struct TroubleTests {
    private static func body(_ reason: String) -> String { "{\"reason\":\"\(reason)\"}" }

    @Test
    func `known fault 5: one wrong setting for ten minutes costs a few refusals and a probe every half minute`()
        async throws
    {
        let clock = ScaledClock(start: ScriptedRig.start, speed: 100)
        let healsAt = ScriptedRig.start.advanced(bySeconds: 600)
        let rig = try ScriptedRig(clock: clock, configuration: { $0.timeoutSeconds = 6000 }) { request, _ in
            guard clock.now < healsAt else { return [.answer(request.stream)] }
            return switch request.number % 10 {
            case 0..<5: [.answer(request.stream, status: 400, body: Self.body("TopicDisallowed"))]
            case 5..<8: [.answer(request.stream, status: 400, body: Self.body("DeviceTokenNotForTopic"))]
            default: [.answer(request.stream, status: 403, body: Self.body("InvalidProviderToken"))]
            }
        }
        rig.send(0..<1000, event: .update)
        await rig.sink.wait(for: 1000)
        #expect(rig.sink.hasOneEach(1000))
        let refused = rig.sink.verdicts.filter { $0 != .accepted }
        // Five of each kind until it is held, and twenty probes in ten minutes.
        #expect(refused.count <= 30, "\(refused.count) refused")
        #expect(rig.sink.count(.accepted) == 1000 - refused.count)
        for case .refused(let refusal) in refused {
            guard case .reportToOperator = refusal.nextStep else {
                Issue.record("\(refusal) would touch a token")
                continue
            }
        }
        let alarms = rig.trace.notices.filter { if case .misconfigured = $0 { true } else { false } }
        #expect(!alarms.isEmpty && alarms.count <= 2 && Set(alarms).count == alarms.count, "one a scope, each once")
        let isHealed = rig.trace.notices.contains { if case .healed = $0 { true } else { false } }
        #expect(isHealed && rig.readings.values.allSatisfy { $0 == 1 })
        await rig.end()
    }

    @Test
    func
        `known fault 6: with one stream after each refusal the confirmed phones are served while the dead ones queue`()
        async throws
    {
        let rig = try PushPoolTests.Rig(
            speed: 4,
            options: {
                $0.throttlesOnErrors = true
                $0.streamsAfter = 500
                $0.answerSeconds = 0.04
            }, configuration: { $0.timeoutSeconds = 600 })
        var random = SeededGenerator(seed: 6)
        let order = (0..<500).shuffled(using: &random)
        _ = rig.pool.send(order.map { rig.push($0, dead: $0 % 5 == 0) })
        await rig.sink.wait(for: 500)
        #expect(rig.sink.hasOneEach(500))
        let bad = Verdict.refused(Refusal(RefusalReason("BadDeviceToken"), status: 400))
        #expect(rig.sink.count(.accepted) == 400 && rig.sink.count(bad) == 100, "refused streams are no failures")
        let verdicts = rig.sink.verdicts
        let p99 = verdicts.indices.filter { verdicts[$0] == .accepted }[395]
        // The dead ones go one at a time, 40 ms each: 5 s would let 125 pass.
        #expect(verdicts[..<p99].count { $0 == bad } < 60, "the confirmed ones did not wait for them")
        let accepted = rig.server.withModel(of: .production) { $0.counters.accepted }
        #expect(accepted == 400)
        await rig.end()
    }

    @Test func `G5: a gateway in trouble is held after five, probed, and healed; a start has one quick try`()
        async throws
    {
        let clock = ScaledClock(start: ScriptedRig.start, speed: 20)
        let healsAt = ScriptedRig.start.advanced(bySeconds: 100)
        let rig = try ScriptedRig(clock: clock, configuration: { $0.timeoutSeconds = 3000 }) { request, _ in
            clock.now < healsAt
                ? [.answer(request.stream, status: 503, body: Self.body("ServiceUnavailable"))]
                : [.answer(request.stream)]
        }
        rig.send(0..<200, event: .start)
        await rig.sink.wait(for: 200)
        let refused = rig.sink.count(.refused(Refusal(RefusalReason("ServiceUnavailable"), status: 503)))
        #expect(rig.sink.hasOneEach(200) && refused <= 9 && rig.sink.count(.accepted) == 200 - refused)
        #expect(rig.readings.values.max() ?? 0 <= 2, "one quick try at most")
        let notices = rig.trace.notices
        #expect(notices.filter { $0 == .gatewayInTrouble(.production, status: 503) }.count == 1)
        #expect(notices.contains(.healed(.gateway(.production))))
        await rig.end()
    }

    @Test
    func
        `ref T23: a connection that refuses everything after one 403 is left, and each push goes again once, elsewhere`()
        async throws
    {
        let clock = ScaledClock(start: ScriptedRig.start, speed: 4)
        let rig = try ScriptedRig(clock: clock) { request, _ in
            request.connection == 0 && request.stream > 1
                ? [.answer(request.stream, status: 403, body: Self.body("ExpiredProviderToken"))]
                : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<40)
        await rig.sink.wait(for: 40)
        #expect(rig.sink.hasOneEach(40) && rig.sink.count(.accepted) == 40)
        let wedged = rig.server.seen.filter { $0.connection == 0 && $0.stream > 1 }.map(\.number)
        #expect(rig.readings.values.max() == 2 && !wedged.isEmpty)
        #expect(rig.server.seen.count == 40 + wedged.count)
        await rig.end()
    }
}
