import CardRules
import Lanes
import PushWire
import Testing

@testable import PushPool
@testable import Simulation

/// Peers that take their time, stop reading, or stop talking, over TLS (G6, L2, ref T23).
@Suite(.serialized, .timeLimit(.minutes(1))) struct SlowPeerTests {
    private static let clock = ScaledClock(start: ScriptedRig.start, speed: 20)

    @Test
    func
        `L2: a peer that stops reading: what left is unknown, what its window held back was not sent, none goes twice`()
        async throws
    {
        let clock = ManualClock(now: ScriptedRig.start)
        let rig = try ScriptedRig(clock: clock) { request, _ in
            request.stream == 1 ? [.answer(1), .goDeaf] : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        // 4 MB: far beyond the window of the connection, which is 1 MB.
        _ = rig.pool.send(
            (1..<1001).map { ScriptedRig.push($0, payloadBytes: 4096, sink: rig.sink) })
        await rig.trace.waitForWritten(1001)
        clock.advance(bySeconds: 31)
        await rig.sink.wait(for: 1001)
        #expect(rig.sink.hasOneEach(1001))
        let unknown = rig.numbers(.unknown)
        let notSent = rig.numbers(.notSent)
        #expect(unknown.count + notSent.count == 1000 && !unknown.isEmpty && notSent.count > 500)
        #expect(unknown == Array(1..<1 + unknown.count), "in the order in which they were written")
        #expect(rig.server.seen.count == 1)
        await rig.end()
    }

    @Test func `G6: answers that take twenty seconds are answers, and those that take forty come too late for all`()
        async throws
    {
        let rig = try PushPoolTests.Rig(
            speed: 20,
            options: {
                $0.faults = [
                    GatewayFault(.delay(seconds: 20), tokenPrefix: [0xa1, 0, 0, 0, 1]),
                    GatewayFault(.delay(seconds: 40), tokenPrefix: [0xa1, 0, 0, 0, 2]),
                ]
            })
        _ = rig.pool.send([rig.push(0)])
        await rig.sink.wait(for: 1)
        _ = rig.pool.send([rig.push(1), rig.push(2)])
        await rig.sink.wait(for: 3)
        _ = rig.pool.send([rig.push(3)])
        await rig.sink.wait(for: 4)
        let unknown = rig.sink.answers.filter { $0.verdict == .unknown }.map(\.ticket.number.value)
        #expect(unknown == [2] && rig.sink.count(.accepted) == 3)
        #expect(rig.server.withModel(of: .production) { $0.counters.accepted } == 4, "each was processed once")
        await rig.end()
    }
}
