import Testing

@testable import WebServer

@Suite struct SocketCaseTests {
    @Test func `every odd request gets the table's answer over a socket`() throws {
        let rig = try Rig()
        for wire in WireCase.all {
            let client = try rig.client()
            try client.send(wire.bytes)
            if wire.isHalfClosed { client.finish() }
            _ = try client.readAnswers(wire.statuses.count)
            switch wire.ending {
            case .kept:
                try client.send(WireCase.simple)
                _ = try client.readAnswers(wire.statuses.count + 1)
                #expect(client.statuses == wire.statuses + [204], "\(wire.name)")
                #expect(!client.isClosed, "\(wire.name)")
            case .closed:
                try client.readToEnd()
                #expect(client.statuses == wire.statuses, "\(wire.name)")
            case .waits:
                #expect(client.statuses == wire.statuses, "\(wire.name)")
                // When the bytes reach the server is not known here: its time moves until they are late.
                for _ in 0..<50 where !client.isClosed {
                    rig.time.advance(seconds: 11)
                    rig.server.sweep()
                    _ = try client.readToEnd(milliseconds: 50)
                }
                #expect(client.statuses == wire.statuses + [408], "\(wire.name)")
            }
        }
        try rig.stop()
        #expect(rig.server.counts.connections == 0)
    }

    @Test func `200 requests in a row are answered in their order, parked or not`() throws {
        let rig = try Rig()
        let client = try rig.client()
        let count = 200
        try client.send(
            (0..<count).map { "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \("\($0)".count)\r\n\r\n\($0)" }
                .joined())
        let answers = try client.readAnswers(count)
        #expect(answers.map { String(decoding: $0.body, as: UTF8.self) } == (0..<count).map { "\($0)" })
        try rig.stop()
    }

    @Test func `a refusal reaches a client that is still sending`() throws {
        let rig = try Rig()
        for _ in 0..<20 {
            let client = try rig.client()
            try client.send(Array(WireCase.put("Content-Length: 20971520\r\n").utf8))
            try client.send([UInt8](repeating: 0, count: 1 << 20))
            try client.readToEnd()
            #expect(client.statuses == [413])
        }
        try rig.stop()
    }

    @Test func `more than can be parked waits in the peer, and is all answered`() throws {
        let rig = try Rig()
        let client = try rig.client()
        let body = String(repeating: "b", count: 100_000)
        try client.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try rig.handler.wait { $0.parked.count == 1 })
        for _ in 0..<5 {
            try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
        }
        rig.handler.with { $0.parked.removeFirst() }.answer(WebAnswer(status: 200, body: [0x61]))
        let answers = try client.readAnswers(6)
        #expect(answers.map(\.body.count) == [1] + [Int](repeating: body.count, count: 5))
        try rig.stop()
    }
}
