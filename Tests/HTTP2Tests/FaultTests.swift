import HTTP2
import Testing

/// Each way in which a request can fail ends in exactly one outcome, and the right one (rule L2).
@Suite struct FaultTests {
    @Test
    func `L2: given GOAWAY below requests in flight, then those above were not sent and those below are answered`()
        throws
    {
        let wire = try Wire()
        try wire.settle()
        let streams = try (0..<10).map { try wire.submit(UInt64($0)) }
        try wire.settle()
        let debug = Array(#"{"reason":"Shutdown"}"#.utf8)
        try wire.server.goaway(lastStream: streams[5], debug: debug)
        try wire.answerAll()
        try wire.settle()
        #expect(wire.clientEvents.contains(.goaway(lastStream: streams[5], code: .noError, debug: debug)))
        for tag in 0...5 { #expect(wire.outcomes[UInt64(tag)]?.status == 200) }
        for tag in 6...9 { #expect(wire.outcomes[UInt64(tag)] == .notSent(.beyondGoaway)) }
        #expect(!wire.client.canSubmit)
        #expect(throws: HTTP2Error.noStreamFree) { try wire.submit(99) }
        #expect(!wire.client.wantsRead && !wire.client.wantsWrite, "then the session is over")
    }

    @Test func `RFC 9113, 6.8: given notice of a GOAWAY, then requests that cross it are taken up until the second`()
        throws
    {
        let wire = try Wire()
        try wire.settle()
        try wire.server.goaway(lastStream: .max)
        let notice = try wire.bytesOfServer()
        let crossing = try [wire.submit(1), wire.submit(2)]
        try wire.deliver(wire.bytesOfClient(), to: wire.server.receive)
        try wire.deliver(notice, to: wire.client.receive)
        try wire.settle()
        #expect(wire.requests.map(\.stream) == crossing)
        #expect(!wire.client.canSubmit)
        try wire.server.respond(to: crossing[0], status: 200)
        try wire.server.goaway(lastStream: crossing[0])
        try wire.settle()
        guard case .answered(let response) = wire.outcomes[1], case .notSent = wire.outcomes[2] else {
            throw Unexpected(wire.outcomes)
        }
        #expect(response.status == 200)
    }

    @Test func `L2: given GOAWAY before requests are framed, then they were not sent`() throws {
        let wire = try Wire()
        try wire.settle()
        try wire.server.goaway(lastStream: 0)
        let down = try wire.bytesOfServer()
        try wire.submit(1)
        try wire.submit(2, body: [])
        try wire.deliver(down, to: wire.client.receive)
        try wire.settle()
        #expect(wire.outcomes.count == 2)
        for outcome in wire.outcomes.values {
            guard case .notSent = outcome else { throw Unexpected(outcome) }
        }
        #expect(wire.client.openStreams == 0)
    }

    @Test(arguments: [ErrorCode.internalError, .cancel, .enhanceYourCalm, .noError])
    func `L2: a reset after the request left whole is unknown`(code: ErrorCode) throws {
        let wire = try Wire()
        try wire.settle()
        let stream = try wire.submit(1)
        try wire.settle()
        try wire.server.reset(stream, code)
        try wire.settle()
        #expect(wire.outcomes == [1: .unknown(.reset(code))])
        #expect(wire.serverEvents.contains(.cancelled(stream: stream, code: code)))
    }

    @Test func `L2: a refused stream was not sent`() throws {
        let wire = try Wire()
        try wire.settle()
        let stream = try wire.submit(1)
        try wire.settle()
        try wire.server.reset(stream, .refusedStream)
        try wire.settle()
        #expect(wire.outcomes == [1: .notSent(.refusedStream)])
    }

    @Test func `L2: given the connection is lost, then open requests are settled by what left`() throws {
        let wire = try Wire()
        try wire.settle()
        let answered = try wire.submit(1)
        try wire.settle()
        try wire.server.respond(to: answered, status: 200)
        try wire.settle()
        try wire.submit(2)  // leaves
        _ = try wire.bytesOfClient()
        let accepted = wire.client.producedBytes
        try wire.submit(3)  // framed, but the connection takes only a part of it
        _ = try wire.bytesOfClient()
        try wire.submit(4)  // never framed
        wire.client.abandon(acceptedBytes: accepted + 5)
        wire.collectEvents()
        #expect(wire.outcomes[1]?.status == 200)
        #expect(wire.outcomes[2] == .unknown(.connectionLost))
        #expect(wire.outcomes[3] == .notSent(.incomplete))
        #expect(wire.outcomes[4] == .notSent(.incomplete))
        #expect(wire.ends.count == 4)
        #expect(wire.client.openStreams == 0)
    }

    @Test
    func `L2: given the connection is lost and nobody knows how much it took, then all that was framed is unknown`()
        throws
    {
        let wire = try Wire()
        try wire.settle()
        try wire.submit(1)
        _ = try wire.bytesOfClient()
        try wire.submit(2)
        wire.client.abandon()
        wire.collectEvents()
        #expect(wire.outcomes == [1: .unknown(.connectionLost), 2: .notSent(.incomplete)])
    }

    @Test func `L2: an answer that was cut off still is an answer`() throws {
        let wire = try Wire()
        try wire.settle()
        let stream = try wire.submit(1)
        try wire.settle()
        try wire.server.respond(to: stream, status: 410, body: [UInt8](repeating: 1, count: 40_000))
        var down: [UInt8] = []
        try wire.server.collect(into: &down, upTo: 1)
        try wire.server.collect(into: &down, upTo: down.count + 1)
        try wire.deliver(down, to: wire.client.receive)
        wire.client.abandon()
        wire.collectEvents()
        guard case .answered(let response)? = wire.outcomes[1] else { throw Unexpected(wire.outcomes) }
        #expect(response.status == 410)
        #expect(!response.isComplete)
    }

    @Test func `L2: a request given up after it left is unknown, before that not sent`() throws {
        let wire = try Wire()
        try wire.settle()
        let left = try wire.submit(1)
        try wire.settle()
        let kept = try wire.submit(2)
        try wire.client.cancel(left)
        try wire.client.cancel(kept)
        try wire.settle()
        #expect(wire.outcomes == [1: .unknown(.reset(.cancel)), 2: .notSent(.incomplete)])
        #expect(wire.requests.count == 1)
        #expect(wire.client.openStreams == 0)
    }

    @Test func `L2: a request whose time is over and that the peer's window held back was not sent, and never will be`()
        throws
    {
        let wire = try Wire()
        try wire.settle()
        try wire.submit(1)
        try wire.settle()
        try wire.submit(2, body: [UInt8](repeating: 32, count: 70_000))  // beyond the window of a stream
        _ = try wire.bytesOfClient()  // on its way; the peer has not read it
        #expect(wire.client.giveUp(tag: 1), "it left whole")
        #expect(!wire.client.giveUp(tag: 2), "its end did not leave")
        #expect(wire.client.giveUp(tag: 3), "nobody knows it")
        let last = try wire.bytesOfClient()
        #expect(last.count == 13 && last[3] == 3, "RST_STREAM alone: \(last)")
        wire.collectEvents()
        #expect(wire.outcomes == [2: .notSent(.incomplete)])
    }

    @Test func `an answer to a request that is gone changes nothing`() throws {
        let wire = try Wire()
        try wire.settle()
        let stream = try wire.submit(1)
        try wire.settle()
        try wire.client.cancel(stream)
        try wire.settle()
        let isAnswered = try wire.server.respond(to: stream, status: 200)
        #expect(!isAnswered)
        try wire.settle()
        #expect(wire.ends.count == 1)
    }

    @Test func `given bytes that are not HTTP2, when a server receives them, then a typed error is thrown`() throws {
        let server = try ServerSession(maxConcurrentStreams: 10)
        #expect(throws: HTTP2Error.self) { try server.receive(Array("GET / HTTP/1.1\r\n\r\n".utf8).span) }
    }

    @Test func `given bytes that are not HTTP2, when a client receives them, then the session fails and ends`() throws {
        let wire = try Wire()
        try wire.deliver(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8), to: wire.client.receive)
        _ = try wire.bytesOfClient()
        wire.collectEvents()
        #expect(wire.clientEvents.contains { if case .failed(.peerViolation) = $0 { true } else { false } })
        #expect(!wire.client.wantsRead && !wire.client.wantsWrite)
    }

    @Test(arguments: 0..<200)
    func `given noise in place of frames, then either side fails or goes on, and no request is lost`(seed: UInt64)
        throws
    {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        let wire = try Wire()
        try wire.settle()
        for tag in 0..<5 { try wire.submit(UInt64(tag)) }
        var up = try wire.bytesOfClient()
        for _ in 0..<4 { up[Int(next() % UInt64(up.count))] = UInt8(truncatingIfNeeded: next()) }
        do {
            try wire.deliver(up, to: wire.server.receive)
            wire.collectEvents()
            try wire.answerAll()
            var down = try wire.bytesOfServer()
            if !down.isEmpty { down[Int(next() % UInt64(down.count))] = UInt8(truncatingIfNeeded: next()) }
            try wire.deliver(down, to: wire.client.receive)
            _ = try wire.bytesOfClient()
        } catch is HTTP2Error {}
        wire.client.abandon()
        wire.collectEvents()
        #expect(Set(wire.ends.map(\.tag)) == [0, 1, 2, 3, 4], "seed \(seed)")
        #expect(wire.ends.count == 5, "seed \(seed)")
    }
}
