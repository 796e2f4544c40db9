import HTTP2
import Testing

@Suite struct SessionTests {
    @Test(arguments: [Int.max, 1, 7])
    func `given a push of 4096 bytes, when it is answered, then both sides see all of it, in pieces of any size`(
        pieceBytes: Int
    ) throws {
        let wire = try Wire()
        wire.pieceBytes = pieceBytes
        try wire.settle()
        let body = (0..<4096).map { UInt8(truncatingIfNeeded: $0) }
        let stream = try wire.submit(7, body: body)
        try wire.settle()

        let request = try #require(wire.requests.first)
        #expect(request.stream == stream)
        #expect(request.body == body)
        #expect(request.bodyBytes == 4096)
        #expect(request.headers.text(of: ":method") == "POST")
        #expect(request.headers.text(of: "apns-id") == "id-7")
        #expect(request.headers.fields.map(\.name).prefix(4) == [":method", ":scheme", ":authority", ":path"])

        var headers = HeaderBlock()
        headers.append("apns-id", "id-7")
        let answer = Array(#"{"reason":"BadTopic"}"#.utf8)
        let isAnswered = try wire.server.respond(to: stream, status: 400, headers: headers, body: answer)
        #expect(isAnswered)
        try wire.settle()
        let end = try #require(wire.ends.first)
        #expect(end.tag == 7)
        guard case .answered(let response) = end.outcome else { throw Unexpected(end.outcome) }
        #expect(response.status == 400)
        #expect(response.headers.text(of: "apns-id") == "id-7")
        #expect(response.headers.value(of: ":status") == nil)
        #expect(response.body == answer)
        #expect(response.isComplete)
        #expect(wire.client.openStreams == 0)
        #expect(wire.server.openStreams == 0)
    }

    @Test func `RFC 9113, 8.3: shared fields stand behind the request's own pseudo-headers and before the rest`() throws
    {
        let wire = try Wire()
        try wire.settle()
        var shared = HeaderBlock()
        shared.append(":method", "POST")
        shared.append(":scheme", "https")
        shared.append(":authority", "a")
        shared.append("apns-topic", "t")
        var own = HeaderBlock()
        own.append(":path", "/3/device/ab", .literal)
        own.append("apns-id", "one", .firstTimeOnly)
        var short = HeaderBlock()
        short.append(":path", "/")
        try wire.client.submit(own, with: shared, body: [1], tag: 1)
        try wire.client.submit(short, with: shared, body: [2], tag: 2)
        try wire.settle()
        #expect(
            wire.requests.map { $0.headers.fields.map { "\($0.name) \($0.value)" } } == [
                [":path /3/device/ab", ":method POST", ":scheme https", ":authority a", "apns-topic t", "apns-id one"],
                [":path /", ":method POST", ":scheme https", ":authority a", "apns-topic t"],
            ])
    }

    @Test
    func
        `R1: who wants no header fields of answers gets status and body all the same, and still too long a block ends`()
        throws
    {
        let wire = try Wire()
        wire.client.keepsHeaders = false
        try wire.settle()
        try wire.submit(1)
        try wire.submit(2)
        try wire.settle()
        let streams = wire.requests.map(\.stream)
        var headers = HeaderBlock()
        headers.append("apns-id", "id-1")
        try wire.server.respond(to: streams[0], status: 410, headers: headers, body: [7])
        for _ in 0..<20 { headers.append("x", [UInt8](repeating: 0x61, count: 1000), .literal) }
        try wire.server.respond(to: streams[1], status: 200, headers: headers, body: [])
        try wire.settle()
        guard case .answered(let response) = wire.outcomes[1] else { throw Unexpected(wire.outcomes) }
        #expect(response.status == 410 && response.headers.isEmpty && response.body == [7])
        #expect(wire.ends.count == 2)
    }

    @Test func `R1: an answer without a body ends with its headers`() throws {
        let wire = try Wire()
        try wire.settle()
        let stream = try wire.submit(1)
        try wire.settle()
        try wire.server.respond(to: stream, status: 200)
        let bytes = try wire.bytesOfServer()
        // One frame: HEADERS (type 1) with END_STREAM and END_HEADERS (flags 5).
        #expect(bytes.count == 9 + Int(bytes[2]))
        #expect(bytes[3] == 1)
        #expect(bytes[4] == 5)
    }

    @Test func `given no SETTINGS yet, when a request is submitted, then it is refused here`() throws {
        let wire = try Wire()
        #expect(wire.client.remoteMaxStreams == nil)
        #expect(!wire.client.canSubmit)
        #expect(throws: HTTP2Error.noStreamFree) { try wire.submit(1) }
        try wire.settle()
        #expect(wire.client.remoteMaxStreams == 100)
        #expect(wire.client.canSubmit)
    }

    @Test func `T14: given a limit of 1, when it is raised to 1000, then a thousand fly and none is lost`() throws {
        let wire = try Wire(maxConcurrentStreams: 1)
        try wire.settle()
        try wire.submit(0)
        #expect(throws: HTTP2Error.noStreamFree) { try wire.submit(1) }
        try wire.settle()
        try wire.answerAll()
        try wire.server.announce(maxConcurrentStreams: 1000)
        try wire.settle()
        #expect(wire.client.remoteMaxStreams == 1000)
        for tag in 1...1000 { try wire.submit(UInt64(tag), body: [UInt8](repeating: 0x20, count: 1000)) }
        #expect(!wire.client.canSubmit)
        try wire.settle()
        #expect(wire.requests.count == 1000)
        try wire.answerAll()
        try wire.settle()
        #expect(wire.ends.count == 1001)
        #expect(wire.outcomes.values.allSatisfy { $0.status == 200 })
        let limits = wire.clientEvents.compactMap { if case .settings(let limit) = $0 { limit } else { nil } }
        #expect(limits == [1, 1000])
    }

    @Test func `L2: given the limit falls while requests are under way, then those beyond are refused and not sent`()
        throws
    {
        let wire = try Wire(maxConcurrentStreams: 100)
        try wire.settle()
        for tag in 0..<10 { try wire.submit(UInt64(tag)) }
        let up = try wire.bytesOfClient()
        try wire.server.announce(maxConcurrentStreams: 4)  // before the ten arrive, and before it can be acknowledged
        try wire.deliver(up, to: wire.server.receive)
        try wire.settle()
        try wire.answerAll()
        try wire.settle()
        #expect(wire.outcomes.values.filter { $0 == .notSent(.refusedStream) }.count == 6)
        #expect(wire.outcomes.values.filter { $0.status == 200 }.count == 4)
    }

    @Test func `T24: the id enters the table once, and the topic stays in it`() throws {
        let wire = try Wire()
        try wire.settle()
        func bytes(_ id: String) throws -> Int {
            try wire.client.submit(Wire.push(id: id), body: [], tag: 0)
            return try wire.bytesOfClient().count
        }
        let first = "00000000-0000-4000-8000-000000000010"
        let second = "00000000-0000-4000-8000-000000000020"
        let sizes = try [first, second, second].map(bytes)
        #expect(sizes[1] < sizes[0] - 30, "the topic costs a byte from the second time on")
        #expect(sizes[2] == sizes[1], "the second id did not enter the table")
    }

    @Test func `a ping comes back with its number`() throws {
        let wire = try Wire()
        try wire.client.ping(0x0102_0304_0506_0708)
        try wire.settle()
        #expect(wire.clientEvents.contains(.pong(0x0102_0304_0506_0708)))
    }

    @Test func `a body beyond what is kept is counted, and an answer to it still arrives`() throws {
        let wire = try Wire()
        try wire.settle()
        try wire.submit(1, body: [UInt8](repeating: 1, count: 200_000))
        try wire.settle()
        let request = try #require(wire.requests.first)
        #expect(request.bodyBytes == 200_000)
        #expect(request.body.count == ServerSession.bodyBytesAtMost)
        try wire.answerAll(status: 413, body: [UInt8](repeating: 2, count: 100_000))
        try wire.settle()
        guard case .answered(let response)? = wire.outcomes[1] else { throw Unexpected(wire.outcomes) }
        #expect(response.body.count == ClientSession.bodyBytesAtMost)
        #expect(!response.isComplete)
    }

    @Test func `header blocks keep order, repeat and refuse what is too long`() {
        var block = HeaderBlock()
        block.append("a", "1")
        block.append("b", "")
        block.append("a", [50])
        #expect(block.fields.map { $0.name + "=" + $0.value } == ["a=1", "b=", "a=2"])
        #expect(block.text(of: "a") == "1")
        #expect(block.count(of: "a") == 2)
        #expect(block.value(of: "c") == nil)
        let tooLong = block.append("d", [UInt8](repeating: 0, count: 65_536))
        #expect(!tooLong)
        #expect(block.count == 3)
        block.removeAll()
        #expect(block.isEmpty && block.fields.isEmpty)
        // What stood there before is no part of it.
        block.append("a", "1")
        var same = HeaderBlock()
        same.append("a", "1")
        #expect(block == same && block.hashValue == same.hashValue)
        same.append("a", "2")
        #expect(block != same)
        let long = String(repeating: "x", count: 70_000 / 2)
        block.append("long", long)
        #expect(block.fields.map(\.value) == ["1", long])
    }
}

struct Unexpected: Error {
    let value: String
    init(_ value: Any) { self.value = "\(value)" }
}
