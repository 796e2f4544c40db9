import CardRules
import Lanes
import Synchronization
import TLS
import Testing

@testable import PushPool
@testable import Simulation

/// How connections are opened, used and given up.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ConnectionTests {
    /// Slow enough that no deadline passes on a machine with much else to do.
    private static let clock = ScaledClock(start: ScriptedRig.start, speed: 4)

    @Test func `G6: the newest stream limit holds, up from one and down to one with requests in flight`() async throws {
        let open = Mutex<[Int32]>([])
        let hasShrunk = Mutex(false)
        let rig = try ScriptedRig(
            clock: Self.clock, streams: 1,
            configuration: {
                $0.connections = 1
                $0.timeoutSeconds = 600
            }
        ) {
            request, _ in
            if request.stream == 1 { return [.answer(1), .announce(1000)] }
            if hasShrunk.withLock({ $0 }) { return [.answer(request.stream)] }
            let held = open.withLock { open in
                open.append(request.stream)
                return open
            }
            guard held.count == 50 else { return [] }
            hasShrunk.withLock { $0 = true }
            return [.announce(1)] + held.map { .answer($0) }
        }
        rig.send(0..<200)
        await rig.sink.wait(for: 200)
        #expect(rig.server.seen.map(\.open).max() ?? 0 >= 50)
        // Its SETTINGS came before the answers, so the client knows them.
        rig.send(200..<300)
        await rig.sink.wait(for: 300)
        #expect(rig.sink.hasOneEach(300) && rig.sink.count(.accepted) == 300)
        #expect(rig.server.seen.count == 300 && rig.readings.values.allSatisfy { $0 == 1 })
        #expect(rig.server.seen.suffix(100).allSatisfy { $0.open == 1 })
        await rig.end()
    }

    @Test func `G6: two thousand pushes share two connections, each with one verdict`() async throws {
        let rig = try PushPoolTests.Rig(
            options: {
                $0.streamsAfter = 50
                $0.answerSeconds = 0.1  // so that one connection is not done before the other is there
                $0.requestsKept = 3000
            }, configuration: { $0.connections = 3 })
        _ = rig.pool.send((0..<2000).map { rig.push($0) })
        await rig.sink.wait(for: 2000)
        #expect(rig.sink.hasOneEach(2000) && rig.sink.count(.accepted) == 2000)
        let (accepted, used) =
            rig.server.withModel(of: .production) { model in
                (model.counters.accepted, Set(model.requests.map(\.connection)).count)
            } ?? (0, 0)
        #expect(accepted == 2000 && used == 2)
        await rig.end()
    }

    @Test func `G6: with the server down pushes wait, and go when it is there`() async throws {
        let identity = try ScriptedRig.identity.get()
        let first = try ScriptedServer(identity: identity) { request, _ in [.answer(request.stream)] }
        await first.stopped()
        let sink = Collector()
        let pool = try ScriptedRig.pool(at: first.address, identity: identity, clock: Self.clock) {
            $0.backoff = .init(firstSeconds: 5, mostSeconds: 5)
        }
        _ = pool.send((0..<20).map { ScriptedRig.push($0, sink: sink) })
        let second = try ScriptedServer(on: first.address, identity: identity) { request, _ in
            [.answer(request.stream)]
        }
        await sink.wait(for: 20)
        #expect(sink.hasOneEach(20) && sink.count(.accepted) == 20 && second.seen.count == 20)
        await pool.stop()
        await second.stopped()
    }

    @Test func `G6: a server that never finishes the handshake is given up while what waits still has time`()
        async throws
    {
        let rig = try ScriptedRig(clock: Self.clock, mute: [0]) { request, _ in [.answer(request.stream)] }
        rig.send(0..<10)
        await rig.sink.wait(for: 10)
        #expect(rig.sink.hasOneEach(10) && rig.sink.count(.accepted) == 10)
        #expect(rig.server.seen.allSatisfy { $0.connection == 1 })
        await rig.end()
    }

    @Test func `G6: a clock that is set back does not keep the pool from connecting`() async throws {
        let clock = ManualClock(now: ScriptedRig.start)
        let rig = try ScriptedRig(clock: clock) { request, _ in
            request.connection == 0 ? [.close] : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)  // unknown, and the next attempt is half a second away
        clock.step(bySeconds: -7200)
        clock.advance(bySeconds: 1)
        rig.send(1..<2)
        await rig.sink.wait(for: 2)
        #expect(rig.sink.verdicts == [.unknown, .accepted])
        await rig.end()
    }

    @Test func `G6: stopped in the middle, each push has one verdict, and the server acted on no other than told`()
        async throws
    {
        let rig = try PushPoolTests.Rig(options: { $0.streamsAfter = 20 })
        _ = rig.pool.send((0..<3000).map { rig.push($0) })
        await rig.sink.wait(for: 100)
        await rig.pool.stop()
        #expect(rig.sink.hasOneEach(3000))
        let accepted = rig.server.withModel(of: .production) { $0.counters.accepted }
        #expect(rig.sink.count(.accepted) == accepted)
        #expect(rig.sink.count(.accepted) + rig.sink.count(.notSent) == 3000)
        await rig.end()
    }

    @Test func `G6: stopped with unanswered requests, it waits for their deadline and they are unknown`() async throws {
        let clock = ManualClock(now: ScriptedRig.start)
        let rig = try ScriptedRig(clock: clock) { request, _ in request.stream == 1 ? [.answer(1)] : [] }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<4)
        await rig.server.waitForRequests(4)
        async let stopped: Void = rig.pool.stop()
        clock.advance(bySeconds: 31)
        await stopped
        #expect(rig.sink.hasOneEach(4) && rig.numbers(.unknown) == [1, 2, 3])
        await rig.end()
    }

    @Test func `G5: the backoff doubles to its bound, and jitter takes at most half of it`() throws {
        let backoff = PushPool.Configuration.Backoff()
        #expect((1...8).map { backoff.seconds(failures: $0) } == [0.5, 1, 2, 4, 8, 16, 30, 30])
        #expect(backoff.seconds(failures: .max) == 30)
        struct Fixed: RandomSource {
            let bits: UInt64
            func next() -> UInt64 { bits }
        }
        for (bits, seconds) in [(0, 1.0), (UInt64.max, 2.0), (1 << 63, 1.5)] as [(UInt64, Double)] {
            let found = PushPool.Configuration.Backoff().seconds(
                failures: 3, jitter: JitterSource(random: Fixed(bits: bits)).next())
            #expect(abs(found - seconds) < 1e-9)
        }
        #expect(PushPool.Configuration.Backoff().seconds(failures: 3, jitter: JitterSource(random: nil).next()) == 2)
    }
}
