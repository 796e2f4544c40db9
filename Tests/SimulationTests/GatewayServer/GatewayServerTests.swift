import CardRules
import HTTP2
import Synchronization
import TLS
import Testing

@testable import Simulation

@Suite(.serialized) struct GatewayServerTests {
    static let identity = Result { try ServerIdentity.selfSigned(now: 1_795_000_000) }

    static func server(
        _ backend: any GatewayBackend = AnyTokenBackend(), options: GatewayOptions = GatewayModelTests.options()
    ) throws -> GatewayServer {
        try GatewayServer(
            backend: backend, identity: identity.get(), options: options, seed: 1, now: { GatewayModelTests.now })
    }

    static func status(_ outcome: RequestOutcome?) -> Int? {
        if case .answered(let response) = outcome { response.status } else { nil }
    }

    @Test func `G1, G11, G12: both environments answer over TLS and h2, the sandbox with a unique id`() throws {
        let server = try Self.server()
        defer { server.stop() }
        for gateway in Gateway.allCases {
            let client = try WireClient(to: server, gateway)
            try client.submit(GatewayModelTests.request(), tag: 1)
            try client.run { client.answers[1] != nil }
            try client.submit(GatewayModelTests.request(path: "/3/device/zz"), tag: 2)
            try client.run { client.answers[2] != nil }
            guard case .answered(let good) = client.answers[1], case .answered(let bad) = client.answers[2] else {
                Issue.record("no answer from \(gateway)")
                continue
            }
            #expect(good.status == 200 && good.body.isEmpty)
            #expect(good.headers.text(of: "apns-id") == "0f8e4c1a-0000-4000-8000-00000000000a")
            #expect((good.headers.text(of: "apns-unique-id") != nil) == (gateway == .sandbox))
            #expect(bad.status == 400 && bad.body == Array(#"{"reason":"BadDeviceToken"}"#.utf8))
            #expect(bad.headers.text(of: "content-type") == "application/json")
            #expect(server.withModel(of: gateway) { $0.counters.accepted } == 1)
        }
    }

    @Test func `G19: one stream at first, a thousand once a provider token was accepted`() throws {
        let server = try Self.server()
        defer { server.stop() }
        let client = try WireClient(to: server, .production)
        #expect(client.limits == [1])
        try client.submit(GatewayModelTests.request(), tag: 1)
        #expect(!client.session.canSubmit)
        try client.run { client.answers[1] != nil }
        #expect(client.limits == [1, 1000])
        for tag in 2...501 as ClosedRange<UInt64> { try client.submit(GatewayModelTests.request(), tag: tag) }
        try client.run { client.answers.count == 501 }
        #expect(client.answers.values.allSatisfy { Self.status($0) == 200 })
    }

    @Test func `G20: the limit of streams may be changed while the server runs`() throws {
        let server = try Self.server(options: GatewayModelTests.options { $0.throttlesOnErrors = true })
        defer { server.stop() }
        let client = try WireClient(to: server, .production)
        for (tag, path) in [(1, nil), (2, "/3/device/zz"), (3, nil)] as [(UInt64, String?)] {
            try client.submit(GatewayModelTests.request(path: path), tag: tag)
            try client.run { client.answers[tag] != nil }
        }
        #expect(client.limits == [1, 1000, 1, 1000])
        _ = server.withModel(of: .production) { $0.options.streamsAfter = 7 }
        try client.submit(GatewayModelTests.request(), tag: 4)
        try client.run { client.limits.last == 7 && client.answers[4] != nil }
        #expect(Self.status(client.answers[4]) == 200)
    }

    @Test func `a push has reached its phone before the answer is there`() throws {
        let fleet = PhoneFleet(profiles: [Sample.profile()], seed: 1)
        _ = fleet.run(until: Sample.evening)
        let server = try GatewayServer(
            backend: fleet, identity: Self.identity.get(), options: GatewayModelTests.options(), seed: 1,
            now: { Sample.evening })
        defer { server.stop() }
        let client = try WireClient(to: server, .production)
        let request = PhoneFleetTests.request(
            Sample.start(timestamp: Handset.stamp(0)), to: fleet.phone(0).pushToStart ?? [], number: 1)
        try client.submit(request, tag: 1)
        try client.run { client.answers[1] != nil }
        #expect(Self.status(client.answers[1]) == 200)
        #expect(fleet.phone(0).cards.count == 1)
        let other = try WireClient(to: server, .sandbox)
        try other.submit(request, tag: 1)
        try other.run { other.answers[1] != nil }
        #expect(Self.status(other.answers[1]) == 400)
    }

    @Test func `stopping says GOAWAY, ends the connections and the threads, and may be repeated`() throws {
        let server = try Self.server()
        let client = try WireClient(to: server, .production)
        #expect(server.connections(of: .production) == 1)
        server.stop()
        server.stop()
        try client.run { client.isClosed }
        #expect(client.goaway == Array(#"{"reason":"Shutdown"}"#.utf8))
        #expect(throws: (any Error).self) { try WireClient(to: server, .production) }
    }

    @Test func `a listener that cannot be opened is an error, and nothing is left running`() throws {
        let server = try Self.server()
        defer { server.stop() }
        guard let taken = server.address(of: .production) else {
            Issue.record("no address")
            return
        }
        #expect(throws: SocketError.self) {
            try GatewayServer(
                backend: AnyTokenBackend(), identity: Self.identity.get(), addresses: [.sandbox: taken], seed: 1,
                now: { GatewayModelTests.now })
        }
    }

    @Test func `a client without h2 is refused, and the next one is served`() throws {
        let server = try Self.server()
        defer { server.stop() }
        #expect(throws: (any Error).self) { try WireClient(to: server, .production, protocols: ["http/1.1"]) }
        let client = try WireClient(to: server, .production)
        try client.submit(GatewayModelTests.request(), tag: 1)
        try client.run { client.answers[1] != nil }
        #expect(Self.status(client.answers[1]) == 200)
    }
}
