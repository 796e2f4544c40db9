import CardRules
import HTTP2
import Lanes
import PushWire
import Synchronization
import TLS
import Testing

@testable import PushPool
@testable import Simulation

/// Faults of the peer, over real TLS sockets: each push has the right verdict, once, and none is acted on twice.
@Suite(.serialized, .timeLimit(.minutes(1))) struct WireFaultTests {
    /// Slow enough that no deadline passes on a machine with much else to do.
    private static let clock = ScaledClock(start: ScriptedRig.start, speed: 4)
    /// For those who wait for a deadline.
    private static let quickClock = ScaledClock(start: ScriptedRig.start, speed: 10)

    private static func body(_ reason: String) -> String { "{\"reason\":\"\(reason)\"}" }

    // MARK: - Streams

    @Test(arguments: [UInt32](0...13))
    func `L2: RST_STREAM with REFUSED_STREAM moves a start, with any other code it is unknown`(code: UInt32)
        async throws
    {
        let rig = try ScriptedRig(clock: Self.clock) { request, all in
            let isFirst = all.count { $0.id == request.id } == 1
            return request.stream > 1 && isFirst
                ? [.resetStream(request.stream, ErrorCode(rawValue: code))] : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<6)
        await rig.sink.wait(for: 6)
        let isRefused = code == ErrorCode.refusedStream.rawValue
        #expect(rig.numbers(isRefused ? .accepted : .unknown).filter { $0 > 0 } == Array(1...5))
        #expect(rig.server.seen.count == (isRefused ? 11 : 6) && rig.server.connections == 1)
        await rig.end()
    }

    @Test func `G6: streams 1, 1000, 1, 10: never more are open than the newest SETTINGS allowed when they were sent`()
        async throws
    {
        let held = Mutex<[Int32]>([])
        let rig = try ScriptedRig(
            clock: Self.clock, streams: 1,
            configuration: {
                $0.connections = 1
                $0.timeoutSeconds = 600
            }
        ) { request, all in
            switch all.count {
            case 1: return [.answer(1), .announce(1000)]
            // A thousand are allowed: thirty are held open together. Then one, while they are.
            case 2...31:
                let open = held.withLock { open in
                    open.append(request.stream)
                    return open
                }
                return open.count == 30 ? [.announce(1)] + open.map { .answer($0) } : []
            case 32...40: return [.answer(request.stream)]
            case 41: return [.announce(10), .answer(request.stream)]
            // Ten are allowed: answered only when ten are open.
            default: return request.open == 10 ? Self.answers(to: all.suffix(10)) : []
            }
        }
        for upTo in [31, 41, 61] {
            rig.send(rig.sink.answers.count..<upTo)
            await rig.sink.wait(for: upTo)
        }
        let open = rig.server.seen.map(\.open)
        #expect(open[0] == 1 && open[1...30].max() == 30)
        #expect(open[31...40].allSatisfy { $0 == 1 })
        #expect(open[41...].max() == 10)
        #expect(rig.sink.hasOneEach(61) && rig.sink.count(.accepted) == 61)
        #expect(rig.readings.values.allSatisfy { $0 == 1 })
        await rig.end()
    }

    private static func answers(to requests: ArraySlice<SeenRequest>) -> [ServerStep] {
        requests.map { .answer($0.stream) }
    }

    @Test func `G6: answers in any order and late ones come home to their own pushes`() async throws {
        let rig = try ScriptedRig(clock: Self.clock) { request, all in
            guard request.stream > 1 else { return [.answer(1)] }
            guard all.count == 21 else { return [] }
            return all.dropFirst().reversed().map {
                $0.stream % 4 == 1
                    ? .answer($0.stream, status: 410, body: Self.body("Unregistered")) : .answer($0.stream)
            }
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<21)
        await rig.sink.wait(for: 21)
        let gone = Verdict.refused(Refusal(RefusalReason("Unregistered"), status: 410))
        let dead = Set(rig.server.seen.filter { $0.stream > 1 && $0.stream % 4 == 1 }.map { $0.id.lowercased() })
        let wanted = (1..<21).filter {
            dead.contains(ScriptedRig.push($0, sink: rig.sink).request.id.description.lowercased())
        }
        #expect(rig.numbers(gone) == wanted && wanted.count == 10)
        await rig.end()
    }

    // MARK: - Connections

    @Test func `G6: a peer that is half open is found by the deadline: unknown, and the next push takes another way`()
        async throws
    {
        let rig = try ScriptedRig(clock: Self.quickClock) { request, _ in
            request.connection == 0 && request.stream > 1 ? [] : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<6)
        await rig.sink.wait(for: 6)
        rig.send(6..<12)
        await rig.sink.wait(for: 12)
        #expect(rig.numbers(.unknown) == Array(1...5))
        #expect(rig.numbers(.accepted) == [0] + Array(6..<12))
        #expect(rig.trace.notices.contains(.timedOut(.production)))
        await rig.end()
    }

    @Test func `known fault 12: the text of a GOAWAY is kept for the operator`() async throws {
        let text = "Maximum active streams violated for this endpoint."
        let rig = try ScriptedRig(clock: Self.clock) { request, _ in
            request.connection == 0
                ? [.answer(request.stream), .goAway(last: request.stream, text: text)]
                : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<3)
        await rig.sink.wait(for: 3)
        #expect(rig.trace.notices.contains(.goaway(.production, code: "NO_ERROR", text: text)))
        #expect(rig.sink.count(.accepted) == 3)
        await rig.end()
    }

    @Test(arguments: ["untrusted", "wrong ALPN", "no TLS"])
    func `L2: where no connection can be made every push ends as not sent, and the reason is said`(fault: String)
        async throws
    {
        let sink = Collector()
        let trace = NoticeCollector()
        let identity = try ScriptedRig.identity.get()
        let other = try ServerIdentity.selfSigned(now: ScriptedRig.start.unixSeconds)
        let server = try ScriptedServer(
            protocols: fault == "wrong ALPN" ? ["http/1.1"] : ["h2"], plain: fault == "no TLS",
            identity: fault == "untrusted" ? other : identity
        ) { request, _ in [.answer(request.stream)] }
        let pool = try ScriptedRig.pool(
            at: server.address, identity: identity, clock: Self.quickClock, trace: trace
        ) { $0.timeoutSeconds = 10 }
        _ = pool.send((0..<5).map { ScriptedRig.push($0, sink: sink) })
        await sink.wait(for: 5)
        #expect(sink.hasOneEach(5) && sink.count(.notSent) == 5 && server.seen.isEmpty)
        let words =
            switch fault {
            case "untrusted": "is not trusted"
            case "wrong ALPN": "speaks none of h2"
            default: "TLS"
            }
        #expect(trace.notices.contains { $0.description.contains(words) }, "\(trace.notices)")
        await pool.stop()
        await server.stopped()
    }

    @Test func `L2: a name that does not exist leaves every push not sent`() async throws {
        let sink = Collector()
        let trace = NoticeCollector()
        var configuration = PushPool.Configuration(
            gateways: [.production: .init(host: "no-such-host.invalid", port: 443)],
            keys: .one(.init(pem: try SigningKey.freshPEM(), keyID: "KEY1234567", teamID: "TEAM123456")))
        configuration.timeoutSeconds = 5
        let pool = try PushPool(configuration: configuration, clock: Self.quickClock, trace: trace)
        _ = pool.send((0..<3).map { ScriptedRig.push($0, sink: sink) })
        await sink.wait(for: 3)
        #expect(sink.count(.notSent) == 3)
        await pool.stop()
    }

    // MARK: - Answers

    @Test func `ref T23: after a 403 the connection wedges: what it took is unknown, what was refused goes again`()
        async throws
    {
        let rig = try ScriptedRig(clock: Self.quickClock) { request, all in
            guard request.connection == 0, request.stream > 1 else { return [.answer(request.stream)] }
            return request.stream == 3
                ? [.answer(3, status: 403, body: Self.body("ExpiredProviderToken"))] : []
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<6)
        await rig.sink.wait(for: 6)
        #expect(rig.numbers(.unknown) == [2, 3, 4, 5] && rig.numbers(.accepted) == [0, 1])
        #expect(rig.readings.values.max() == 2, "only the one that was refused")
        await rig.end()
    }

    @Test func `G2: both gateways swapped: each refuses, and each verdict is its own gateway's`() async throws {
        let rig = try SwappedRig()
        _ = rig.pool.send(
            (0..<20).map {
                ScriptedRig.push($0, gateway: $0 % 2 == 0 ? .production : .sandbox, sink: rig.sink)
            })
        await rig.sink.wait(for: 20)
        let bad = Verdict.refused(Refusal(RefusalReason("BadDeviceToken"), status: 400))
        #expect(rig.sink.hasOneEach(20) && rig.sink.count(bad) == 20)
        let outcomes = rig.pool.snapshot.outcomes
        for gateway in Gateway.allCases {
            let key = PoolSnapshot.Outcome(event: .start, gateway: gateway, status: 400, reason: "BadDeviceToken")
            #expect(outcomes[key] == 10)
        }
        await rig.end()
    }

    @Test func `G5: in a storm of 429s each token is refused once, and its next push waits for the hold`() async throws
    {
        let rig = try ScriptedRig(clock: Self.quickClock) { request, all in
            let isFirst = all.count { $0.id == request.id } == 1 && all.count <= 31
            return request.stream > 1 && isFirst
                ? [.answer(request.stream, status: 429, body: Self.body("TooManyRequests"))] : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        rig.send(1..<31, event: .update)
        await rig.sink.wait(for: 31)
        let slow = Verdict.refused(Refusal(RefusalReason("TooManyRequests"), status: 429))
        #expect(rig.sink.count(slow) == 30)
        rig.send(1..<31, event: .update)
        await rig.sink.wait(for: 61)
        #expect(rig.sink.count(.notSent) == 30 && rig.server.seen.count == 31, "held for longer than a push waits")
        await rig.end()
    }

    @Test func `G5: a start refused with a 5xx goes once more, on a fresh connection; an update does not`() async throws
    {
        let rig = try ScriptedRig(clock: Self.clock) { request, _ in
            request.connection == 0 && request.stream > 1
                ? [.answer(request.stream, status: 500, body: Self.body("InternalServerError"))]
                : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.sink.wait(for: 1)
        _ = rig.pool.send([
            ScriptedRig.push(1, event: .start, sink: rig.sink), ScriptedRig.push(2, event: .update, sink: rig.sink),
        ])
        await rig.sink.wait(for: 3)
        #expect(rig.numbers(.accepted) == [0, 1])
        #expect(
            rig.numbers(.refused(Refusal(RefusalReason("InternalServerError"), status: 500))) == [2])
        #expect(rig.server.seen.map(\.connection).max() == 1)
        await rig.end()
    }

    @Test func `G7: trace and counters tell each push's way: queued, written, answered`() async throws {
        let rig = try ScriptedRig(clock: Self.clock) { request, _ in [.answer(request.stream)] }
        rig.send(0..<3)
        await rig.sink.wait(for: 3)
        await rig.end()
        let id = ScriptedRig.push(1, sink: rig.sink).request.id
        let way = rig.trace.all.compactMap { event -> String? in
            switch event {
            case .queued(id, .start, .production): "queued"
            case .written(id, _): "written"
            case .answered(id, .accepted, _): "answered"
            default: nil
            }
        }
        #expect(way == ["queued", "written", "answered"])
        let snapshot = rig.pool.snapshot
        #expect(snapshot.sent == 3 && snapshot.answered == 3 && snapshot.seconds.counts.reduce(0, +) == 3)
        #expect(snapshot.waiting == 0 && snapshot.inFlight == 0 && snapshot.tokensSigned == 1)
    }

    @Test
    func `G7: when the pool is full updates end as not sent, and starts and ends are handed back until there is room`()
        async throws
    {
        let rig = try ScriptedRig(clock: Self.clock, configuration: { $0.maxWaiting = 8 }) { request, all in
            all.count == 1 ? [] : [.answer(request.stream)]
        }
        rig.send(0..<1)
        await rig.server.waitForRequests(1)
        let back = rig.pool.send(
            (1..<8).map { ScriptedRig.push($0, event: .update, sink: rig.sink) }
                + (8..<10).map { ScriptedRig.push($0, event: .update, sink: rig.sink) }
                + (10..<13).map { ScriptedRig.push($0, event: .start, sink: rig.sink) })
        #expect(!back.isEmpty && back.allSatisfy { $0.request.event == .start })
        await rig.sink.waitForOffer()
        #expect(rig.numbers(.notSent).contains(8) && rig.numbers(.notSent).contains(9))
        #expect(rig.pool.send(back).isEmpty)
        await rig.end()
        #expect(rig.sink.hasOneEach(13))
    }
}

/// A gateway whose environments know each other's tokens, as when a configuration has them the wrong way round.
private struct SwappedRig {
    let server: GatewayServer
    let pool: PushPool
    let sink = Collector()

    init() throws {
        let clock = ScaledClock(start: ScriptedRig.start, speed: 4)
        server = try GatewayServer(
            backend: AnyTokenBackend(deadPrefix: 0xa1), identity: ScriptedRig.identity.get(), seed: 1,
            now: { clock.now })
        var gateways: [Gateway: PushPool.Configuration.Endpoint] = [:]
        for gateway in Gateway.allCases {
            gateways[gateway] = .init(host: "127.0.0.1", port: server.address(of: gateway.other)?.port ?? 0)
        }
        pool = try PushPool(
            configuration: PushPool.Configuration(
                gateways: gateways, trust: .pem(server.certificatePEM),
                keys: .one(.init(pem: try SigningKey.freshPEM(), keyID: "KEY1234567", teamID: "TEAM123456"))),
            clock: clock)
    }

    func end() async {
        await pool.stop()
        await server.stopped()
    }
}
