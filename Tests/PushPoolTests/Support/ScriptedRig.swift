import CardRules
import Lanes
import PushWire
import TLS

@testable import PushPool
@testable import Simulation

/// A scripted server and a pool that talks to it.
struct ScriptedRig {
    static let start = WallTime(seconds: 1_795_000_000)
    static let identity = Result { try ServerIdentity.selfSigned(now: start.unixSeconds) }

    let server: ScriptedServer
    let pool: PushPool
    let sink = Collector()
    let trace = NoticeCollector()

    init(
        clock: any WallClock & SteadyClock, streams: UInt32 = 1000, mute: Set<Int> = [],
        protocols: [String] = ["h2"],
        configuration adjust: (inout PushPool.Configuration) -> Void = { _ in },
        script: @escaping ScriptedServer.Script
    ) throws {
        let identity = try Self.identity.get()
        server = try ScriptedServer(
            streams: streams, mute: mute, protocols: protocols, identity: identity, script: script)
        pool = try Self.pool(at: server.address, identity: identity, clock: clock, trace: trace, adjust)
    }

    static func pool(
        at address: SocketAddress, identity: ServerIdentity, clock: any WallClock & SteadyClock,
        trace: (any PoolTrace)? = nil, _ adjust: (inout PushPool.Configuration) -> Void = { _ in }
    ) throws -> PushPool {
        var configuration = PushPool.Configuration(
            gateways: [.production: .init(host: "127.0.0.1", port: address.port)],
            trust: .pem(identity.certificatePEM),
            keys: .one(.init(pem: try SigningKey.freshPEM(), keyID: "KEY1234567", teamID: "TEAM123456")))
        adjust(&configuration)
        return try PushPool(configuration: configuration, clock: clock, trace: trace)
    }

    func send(_ numbers: Range<Int>, event: PushEvent = .start) {
        _ = pool.send(numbers.map { Self.push($0, event: event, sink: sink) })
    }

    static func push(
        _ number: Int, event: PushEvent = .start, gateway: Gateway = .production, isConfirmed: Bool = true,
        payloadBytes: Int = 10, sink: Collector
    ) -> OutgoingPush {
        let request = PushRequest(
            id: ApnsID(randomHigh: UInt64(number), randomLow: UInt64(number)),
            address: PushAddress(token: token(number), gateway: gateway),
            topic: "com.example.lineup.push-type.liveactivity", event: event, priority: .immediate,
            expiration: start.unixSeconds + 600, collapseID: nil,
            payload: Array(#"{"aps":{}"#.utf8) + [UInt8](repeating: UInt8(ascii: " "), count: payloadBytes - 10)
                + [UInt8(ascii: "}")])
        let ticket = PushTicket(
            device: DeviceID(unchecked: "d"), generation: Generation(1), number: PushNumber(UInt32(number)))
        return OutgoingPush(request: request, ticket: ticket, sink: sink, isConfirmed: isConfirmed)
    }

    /// 80 bytes, another one for each number.
    static func token(_ number: Int, first: UInt8 = 0xa1) -> [UInt8] {
        [first] + withUnsafeBytes(of: UInt32(number).bigEndian) { [UInt8]($0) } + [UInt8](repeating: 0xa1, count: 75)
    }

    /// Numbers of the pushes with this verdict, rising.
    func numbers(_ verdict: Verdict) -> [Int] {
        sink.answers.filter { $0.verdict == verdict }.map { Int($0.ticket.number.value) }.sorted()
    }

    /// How often the server read each push.
    var readings: [String: Int] { server.seen.reduce(into: [:]) { $0[$1.id, default: 0] += 1 } }

    func end() async {
        await pool.stop()
        await server.stopped()
    }
}
