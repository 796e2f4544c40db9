import CardRules
import Lanes
import PushWire
import Synchronization
import TLS
import Testing

@testable import PushPool
@testable import Simulation

@Suite(.serialized, .timeLimit(.minutes(1))) struct PushPoolTests {
    static let start = WallTime(seconds: 1_795_000_000)

    /// A gateway server and a pool that talks to it.
    struct Rig {
        let server: GatewayServer
        let pool: PushPool
        let sink = Collector()

        init(
            _ backend: any GatewayBackend = AnyTokenBackend(deadPrefix: 0xdd), speed: Double = 1,
            options change: (inout GatewayOptions) -> Void = { _ in },
            configuration adjust: (inout PushPool.Configuration) -> Void = { _ in }
        ) throws {
            let clock = ScaledClock(start: PushPoolTests.start, speed: speed)
            let pem = try SigningKey.freshPEM()
            let verifier = try VerifyingKey(pem: pem)
            var options = GatewayOptions()
            options.keys = [
                ProviderKey(keyID: "KEY1234567", teamID: "TEAM123456") { verifier.isValid($1, of: $0) }
            ]
            change(&options)
            let identity = try ServerIdentity.selfSigned(now: PushPoolTests.start.unixSeconds)
            server = try GatewayServer(
                backend: backend, identity: identity, options: options, seed: 1, now: { clock.now })
            let address = try #require(server.address(of: .production))
            var configuration = PushPool.Configuration(
                gateways: [.production: .init(host: "127.0.0.1", port: address.port)],
                trust: .pem(server.certificatePEM),
                keys: .one(.init(pem: pem, keyID: "KEY1234567", teamID: "TEAM123456")))
            // Only who says so waits for a deadline: the machine may have much else to do.
            configuration.timeoutSeconds = 600
            adjust(&configuration)
            pool = try PushPool(configuration: configuration, clock: clock)
        }

        func push(_ number: Int, dead: Bool = false, gateway: Gateway = .production) -> OutgoingPush {
            let token = ScriptedRig.token(number, first: dead ? 0xdd : 0xa1)
            let request = PushRequest(
                id: ApnsID(randomHigh: UInt64(number), randomLow: UInt64(number)),
                address: PushAddress(token: token, gateway: gateway),
                topic: "com.example.lineup.push-type.liveactivity", event: .update, priority: .immediate,
                expiration: PushPoolTests.start.unixSeconds + 600, collapseID: nil,
                payload: Array(#"{"aps":{}}"#.utf8))
            let ticket = PushTicket(
                device: DeviceID(unchecked: "d"), generation: Generation(1), number: PushNumber(UInt32(number)))
            return OutgoingPush(request: request, ticket: ticket, sink: sink, isConfirmed: !dead)
        }

        func end() async {
            await pool.stop()
            await server.stopped()
        }
    }

    /// Takes requests and never answers.
    final class SilentBackend: GatewayBackend {
        let requests = Mutex(0)

        func serve(
            _ request: GatewayRequest, by model: inout GatewayModel, on connection: inout GatewayConnection,
            at now: WallTime
        ) -> GatewayAnswer {
            requests.withLock { $0 += 1 }
            return GatewayAnswer(
                status: 200, reason: nil, timestamp: nil, apnsID: "", uniqueID: nil, delivery: nil, effect: .silence)
        }
    }

    @Test func `G6: five hundred pushes are accepted, each once`() async throws {
        let rig = try Rig()
        _ = rig.pool.send((0..<500).map { rig.push($0) })
        await rig.sink.wait(for: 500)
        #expect(rig.sink.hasOneEach(500) && rig.sink.count(.accepted) == 500)
        #expect(rig.server.withModel(of: .production) { $0.counters.accepted } == 500)
        #expect(rig.pool.snapshot.sent == 500)
        await rig.end()
    }

    @Test func `G3: a refusal comes home with its reason`() async throws {
        let rig = try Rig()
        _ = rig.pool.send([rig.push(0, dead: true), rig.push(1)])
        await rig.sink.wait(for: 2)
        let refusal = Verdict.refused(Refusal(RefusalReason("BadDeviceToken"), status: 400))
        #expect(rig.sink.count(refusal) == 1)
        #expect(rig.sink.count(.accepted) == 1)
        await rig.end()
    }

    @Test func `G6, L2: on a new connection one request goes first, and unanswered it is unknown and not repeated`()
        async throws
    {
        let backend = SilentBackend()
        let rig = try Rig(
            backend, speed: 10, options: { $0.streamsBefore = 100 }, configuration: { $0.timeoutSeconds = 60 })
        _ = rig.pool.send((0..<10).map { rig.push($0) })
        await rig.sink.wait(for: 10)
        #expect(rig.sink.hasOneEach(10))
        #expect(rig.sink.count(.unknown) == 1 && rig.sink.count(.notSent) == 9)
        #expect(backend.requests.withLock { $0 } == 1)
        await rig.end()
    }

    @Test func `G6: what a GOAWAY cut off goes over another connection, nothing twice`() async throws {
        let rig = try Rig(speed: 2, options: { $0.errorsUntilGoAway = 5 })
        _ = rig.pool.send((0..<60).map { rig.push($0, dead: $0 == 20) })
        await rig.sink.wait(for: 60)
        #expect(rig.sink.hasOneEach(60))
        #expect(rig.sink.count(.accepted) == 59)
        #expect(rig.server.withModel(of: .production) { $0.counters.accepted } == 59)
        await rig.end()
    }

    @Test func `L2: a refused connection leaves every push not sent`() async throws {
        let rig = try Rig(speed: 60, configuration: { $0.timeoutSeconds = 30 })
        await rig.server.stopped()
        _ = rig.pool.send((0..<20).map { rig.push($0) })
        await rig.sink.wait(for: 20)
        #expect(rig.sink.hasOneEach(20) && rig.sink.count(.notSent) == 20)
        await rig.end()
    }

    @Test func `G7: a push beyond the bound, or for an unknown gateway, ends as not sent`() async throws {
        let rig = try Rig(configuration: { $0.maxWaiting = 5 })
        _ = rig.pool.send((0..<8).map { rig.push($0, gateway: $0 == 0 ? .sandbox : .production) })
        await rig.sink.wait(for: 8)
        #expect(rig.sink.hasOneEach(8))
        #expect(rig.sink.count(.accepted) == 4 && rig.sink.count(.notSent) == 4)
        await rig.end()
    }

    @Test func `G6: stop gives each push a verdict, and later ones too`() async throws {
        let rig = try Rig()
        _ = rig.pool.send((0..<300).map { rig.push($0) })
        await rig.pool.stop()
        _ = rig.pool.send([rig.push(300)])
        #expect(rig.sink.hasOneEach(301))
        #expect(rig.sink.answers.last?.verdict == .notSent)
        await rig.end()
    }
}
