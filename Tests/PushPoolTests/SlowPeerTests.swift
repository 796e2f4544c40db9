import CardRules
import Lanes
import PushWire
import Testing

@testable import PushPool
@testable import Simulation

/// Peers that take their time, stop reading, or stop talking, over TLS (G6, L2, ref T23).
@Suite(.serialized, .timeLimit(.minutes(1))) struct SlowPeerTests {
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
        let clock = ManualClock(now: ScriptedRig.start)
        let rig = try ScriptedRig(clock: clock) { request, _ in
            (1...2).contains(request.number) ? [] : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<3)
        await rig.server.waitForRequests(3)
        clock.advance(bySeconds: 20)
        rig.server.tell(0, [.answer(3)])
        await rig.sink.wait(for: 2)
        #expect(rig.numbers(.accepted) == [0, 1])
        clock.advance(bySeconds: 11)
        await rig.sink.wait(for: 3)
        rig.server.tell(0, [.answer(5)])
        rig.send(3..<4)
        await rig.sink.wait(for: 4)
        #expect(rig.numbers(.unknown) == [2] && rig.numbers(.accepted) == [0, 1, 3])
        #expect(rig.server.seen.count == 4, "each was read once")
        await rig.end()
    }
}
