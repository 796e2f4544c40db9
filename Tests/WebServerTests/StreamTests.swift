import Crowds
import TLS
import Testing

@testable import WebServer

@Suite struct StreamTests {
    private static let request = "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func `a stream is chunked, ends in order, and the connection goes on`() throws {
        let rig = try Rig()
        let client = try rig.client()
        try client.send(Self.request + WireCase.simple)
        #expect(try rig.handler.wait { $0.streams.count == 1 })
        let stream = rig.handler.with { $0.streams.removeFirst() }
        #expect(stream.send(Array("data: 1\n\n".utf8)))
        #expect(stream.send([]))
        #expect(stream.send(Array("data: 2\n\n".utf8)))
        stream.close()
        #expect(!stream.send([1]))
        let answers = try client.readAnswers(2)
        #expect(answers.map(\.status) == [200, 204])
        #expect(answers.first?.body == Array("data: 1\n\ndata: 2\n\n".utf8))
        #expect(answers.first?.header("Transfer-Encoding") == "chunked")
        #expect(try rig.handler.wait { $0.ends == [.finished] })
        try rig.stop()
    }

    @Test func `for HTTP/1.0 the end of the connection ends the stream`() throws {
        let rig = try Rig()
        let client = try rig.client()
        try client.send("GET /stream HTTP/1.0\r\n\r\n")
        #expect(try rig.handler.wait { $0.streams.count == 1 })
        let stream = rig.handler.with { $0.streams.removeFirst() }
        stream.send(Array("data".utf8))
        stream.close()
        try client.readToEnd()
        #expect(client.answers.map(\.body) == [Array("data".utf8)])
        #expect(client.answers.first?.header("Transfer-Encoding") == nil)
        try rig.stop()
    }

    @Test func `a stream that its handler lets go of is closed`() throws {
        let rig = try Rig()
        let client = try rig.client()
        try client.send(Self.request)
        #expect(try rig.handler.wait { $0.streams.count == 1 })
        rig.handler.with { $0.streams = [] }
        #expect(try client.readAnswers(1).map(\.body) == [[]])
        #expect(try rig.handler.wait { $0.ends == [.finished] })
        try rig.stop()
    }

    @Test func `a thousand streams all get every event, and 50 that vanish are noticed at once`() throws {
        raiseDescriptorLimit()
        let rig = try Rig()
        var clients: [RawClient] = []
        for _ in 0..<1000 {
            let client = try rig.client()
            try client.send(Self.request)
            clients.append(client)
        }
        #expect(try rig.handler.wait { $0.streams.count == 1000 })
        #expect(try rig.handler.wait { _ in rig.server.counts.streams == 1000 })
        let event = [UInt8](repeating: 0x78, count: 300)
        for _ in 0..<3 {
            rig.handler.with { state in
                for stream in state.streams { stream.send(event) }
            }
        }
        let whole = 3 * (300 + 7)
        for client in clients {
            while client.received.count < whole + 100, !client.isClosed { try client.readSome() }
            let body = ReadAnswer.find([13, 10, 13, 10], in: client.received, from: 0).map {
                client.received[($0 + 4)...].count { $0 == 0x78 }
            }
            #expect(body == 900)
        }
        clients.removeLast(50)
        // Nothing is sent meanwhile.
        #expect(try rig.handler.wait { $0.ends == [WebStreamEnd](repeating: .peerGone, count: 50) })
        #expect(rig.server.counts.streams == 950)
        try rig.stop()
        #expect(rig.handler.with { $0.ends.count { $0 == .stopping } } == 950)
    }

    @Test func `a slow reader is cut with that reason, and holds up nobody`() throws {
        let rig = try Rig()
        let (slow, quick) = (try rig.client(), try rig.client())
        try slow.send(Self.request)
        #expect(try rig.handler.wait { $0.streams.count == 1 })
        let stream = rig.handler.with { $0.streams.removeFirst() }
        let event = [UInt8](repeating: 0x78, count: 32_000)
        var sent = 0
        // The system's own buffers fill first: some megabytes. The other client's answer shows that the loop has had its turn.
        while stream.send(event), sent < 5_000 {
            sent += 1
            try quick.send(WireCase.simple)
            _ = try quick.readAnswers(sent)
        }
        #expect(sent < 5_000)
        #expect(try rig.handler.wait { $0.ends == [.tooSlow] })
        #expect(rig.server.counts.cutStreams == 1)
        try quick.send(WireCase.simple)
        #expect(try quick.readAnswers(sent + 1).last?.status == 204)
        try rig.stop()
    }

    @Test func `one event above the limit is cut at once`() throws {
        let rig = try Rig()
        let client = try rig.client()
        try client.send(Self.request)
        #expect(try rig.handler.wait { $0.streams.count == 1 })
        let stream = rig.handler.with { $0.streams.removeFirst() }
        #expect(!stream.send([UInt8](repeating: 0, count: 65_537)))
        try client.readToEnd()
        #expect(try rig.handler.wait { $0.ends == [.tooSlow] })
        try rig.stop()
    }

    @Test func `input without end behind a stream is cut`() {
        var connection = PureConnection()
        connection.feed(Array(Self.request.utf8))
        connection.feed([UInt8](repeating: 0x78, count: 65_536))
        #expect(!connection.state.isOver)
        connection.feed([0x78])
        #expect(connection.state.isOver)
    }

    @Test func `HEAD of a stream is its head alone`() throws {
        let rig = try Rig()
        let client = try rig.client()
        try client.send("HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n" + WireCase.simple)
        while ReadAnswer.all(in: client.received, heads: [0]).answers.count < 2, !client.isClosed {
            try client.readSome()
        }
        #expect(ReadAnswer.all(in: client.received, heads: [0]).answers.map(\.status) == [200, 204])
        #expect(try rig.handler.wait { $0.ends == [.finished] })
        try rig.stop()
    }

    @Test func `a peer that is gone gets no stream`() throws {
        let rig = try Rig()
        var client: RawClient? = try rig.client()
        try client?.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try rig.handler.wait { $0.parked.count == 1 })
        client?.finish()
        client = nil
        let exchange = rig.handler.with { $0.parked.removeFirst() }
        let stream = exchange.stream([]) { [handler = rig.handler] end in handler.with { $0.ends.append(end) } }
        if stream != nil { #expect(try rig.handler.wait { $0.ends == [.peerGone] }) }
        try rig.stop()
    }
}
