import CardRules
import HTTP2
import Testing

@testable import Simulation

/// What a gateway server does to connections in use (ref 8.2, G20 to G22, G27).
@Suite(.serialized) struct GatewayOrderTests {
    /// A client with one accepted push.
    private static func proven(_ server: GatewayServer) throws -> WireClient {
        let client = try WireClient(to: server, .production)
        try client.submit(GatewayModelTests.request(), tag: 1)
        try client.run { client.answers[1] != nil }
        return client
    }

    @Test func `G20: the limit of all connections is changed at once, without a request`() throws {
        let server = try GatewayServerTests.server()
        defer { server.stop() }
        let client = try Self.proven(server)
        for streams in [1, 10, 500] {
            server.setStreams(streams, of: .production)
            try client.run { client.limits.last == streams }
        }
    }

    @Test(arguments: [GatewayOptions.Excess.refuse, .goAway])
    func
        `G19, ref T17: streams beyond a limit that shrank are refused, and end the connection where that is switched on`(
            excess: GatewayOptions.Excess
        ) throws
    {
        let server = try GatewayServerTests.server(options: GatewayModelTests.options { $0.excess = excess })
        defer { server.stop() }
        let client = try Self.proven(server)
        let witness = try Self.proven(server)
        server.setStreams(1, of: .production)
        // Both have been told when one knows; this one has not read it yet.
        try witness.run { witness.limits.last == 1 }
        for tag in 2...4 as ClosedRange<UInt64> { try client.submit(GatewayModelTests.request(), tag: tag) }
        try client.run { client.answers.count == 4 }
        #expect(GatewayServerTests.status(client.answers[2]) == 200)
        #expect(client.answers[3] == .notSent(.refusedStream) && client.answers[4] == .notSent(.refusedStream))
        if excess == .goAway {
            try client.run { client.goaway != nil }
            #expect(client.goaway == Array("Maximum active streams violated for this endpoint.".utf8))
        } else {
            #expect(client.goaway == nil)
        }
    }

    @Test func `G21: a GOAWAY below streams in flight names its reason, and drops them as not processed`() throws {
        let server = try GatewayServerTests.server(
            options: GatewayModelTests.options { $0.faults = [GatewayFault(.silence, tokenPrefix: [0xa1])] })
        defer { server.stop() }
        _ = server.withModel(of: .production) { $0.options.streamsBefore = 100 }
        let client = try WireClient(to: server, .production)
        for tag in 1...5 as ClosedRange<UInt64> { try client.submit(GatewayModelTests.request(), tag: tag) }
        try client.run { server.withModel(of: .production) { $0.counters.unanswered } == 5 || !client.answers.isEmpty }
        server.order(.goAway(reason: "Shutdown", unprocessed: 2), of: .production)
        try client.run { client.answers.count == 2 }
        #expect(client.goaway == Array(#"{"reason":"Shutdown"}"#.utf8))
        #expect(client.answers == [4: .notSent(.beyondGoaway), 5: .notSent(.beyondGoaway)])
    }

    @Test func `G27: answers that take their time come, in the meantime others are given`() throws {
        let server = try GatewayServerTests.server()
        defer { server.stop() }
        let client = try Self.proven(server)
        _ = server.withModel(of: .production) { $0.options.faults = [GatewayFault(.delay(seconds: 0), times: 1)] }
        try client.submit(GatewayModelTests.request(), tag: 2)
        try client.run { client.answers[2] != nil }
        #expect(GatewayServerTests.status(client.answers[2]) == 200)
    }

    @Test(arguments: [2, 7, 8, 11] as [UInt32])
    func `G27: a stream is reset with the code that was asked for`(code: UInt32) throws {
        let server = try GatewayServerTests.server()
        defer { server.stop() }
        let client = try Self.proven(server)
        _ = server.withModel(of: .production) { $0.options.faults = [GatewayFault(.reset(code: code), times: 1)] }
        try client.submit(GatewayModelTests.request(), tag: 2)
        try client.run { client.answers[2] != nil }
        #expect(
            client.answers[2]
                == (code == 7 ? .notSent(.refusedStream) : .unknown(.reset(ErrorCode(rawValue: code)))))
        #expect(server.withModel(of: .production) { $0.counters.accepted } == 1)
    }

    @Test func `G27: a push arrives and the connection ends without an answer`() throws {
        let backend = DeskBackend(seed: 1)
        let server = try GatewayServerTests.server(backend)
        defer { server.stop() }
        let client = try Self.proven(server)
        _ = server.withModel(of: .production) {
            $0.options.faults = [GatewayFault(.hangUp(withReset: false), times: 1)]
        }
        try client.submit(GatewayModelTests.request(), tag: 2)
        try client.run { client.isClosed }
        #expect(client.answers[2] == .unknown(.connectionLost))
        #expect(backend.withDesk { $0.counters.delivered } == 2)
    }

    @Test func `G22: sensitive fields that came indexed are reported, and nothing is refused for it`() throws {
        let server = try GatewayServerTests.server()
        defer { server.stop() }
        let client = try WireClient(to: server, .production)
        try client.submit(GatewayModelTests.request(), tag: 1)
        try client.run { client.answers[1] != nil }
        #expect(server.withModel(of: .production) { $0.counters.indexed } == [:])
        try client.submit(GatewayModelTests.request(), tag: 2, pathIndexing: .indexed)
        try client.run { client.answers[2] != nil }
        #expect(GatewayServerTests.status(client.answers[2]) == 200)
        #expect(server.withModel(of: .production) { $0.counters.indexed } == [":path": 1])
    }

    @Test func `G31: a request is kept with its connection and stream, and without its provider token`() throws {
        let server = try GatewayServerTests.server(options: GatewayModelTests.options { $0.requestsKept = 10 })
        defer { server.stop() }
        let client = try Self.proven(server)
        try client.submit(GatewayModelTests.request(), tag: 2)
        try client.run { client.answers[2] != nil }
        let kept = server.withModel(of: .production) { $0.requests } ?? []
        #expect(kept.map(\.request.stream) == [1, 3])
        #expect(kept.allSatisfy { $0.request.headers.contains(GatewayHeader("authorization", "(redacted)")) })
    }
}
