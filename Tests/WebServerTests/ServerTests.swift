import Synchronization
import TLS
import Testing

@testable import WebServer

@Suite struct ServerTests {
    @Test func `parked answers may come in any order across connections`() throws {
        var configuration = WebServerConfiguration()
        configuration.threads = 2
        let rig = try Rig(configuration)
        let clients = try (0..<20).map { number in
            let client = try rig.client()
            try client.send("GET /park?n=\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try rig.handler.wait { $0.parked.count == number + 1 })
            return client
        }
        let parked = rig.handler.with { state in
            defer { state.parked = [] }
            return state.parked
        }
        #expect(parked.count == 20)
        for (number, exchange) in parked.enumerated().reversed() {
            exchange.answer(WebAnswer(status: 200, body: Array("\(number)".utf8)))
            exchange.answer(WebAnswer(status: 500))  // the first counts
        }
        for (number, client) in clients.enumerated() {
            #expect(try client.readAnswers(1).map(\.body) == [Array("\(number)".utf8)])
        }
        try rig.stop()
        #expect(rig.server.counts.parked == 0)
        #expect(rig.server.counts.answered == 20)
    }

    @Test func `an exchange that is dropped is a 500, and the connection goes on`() throws {
        let rig = try Rig()
        let client = try rig.client()
        try client.send("GET /drop HTTP/1.1\r\nHost: x\r\n\r\n" + WireCase.simple)
        #expect(try client.readAnswers(2).map(\.status) == [500, 204])
        try rig.stop()
    }

    @Test func `an answer that nobody gives is a 503 in time, and one that comes later is dropped`() throws {
        let rig = try Rig()
        let client = try rig.client()
        try client.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try rig.handler.wait { $0.parked.count == 1 })
        rig.time.advance(seconds: 61)
        rig.server.sweep()
        try client.readToEnd()
        rig.handler.with { $0.parked.removeFirst() }.answer(WebAnswer(status: 204))
        #expect(client.statuses == [503])
        try rig.stop()
    }

    @Test func `an idle connection is closed without a word`() throws {
        let rig = try Rig()
        let client = try rig.client()
        try client.send(WireCase.simple)
        _ = try client.readAnswers(1)
        rig.time.advance(seconds: 74)
        rig.server.sweep()
        try client.send(WireCase.simple)
        #expect(try client.readAnswers(2).count == 2)
        rig.time.advance(seconds: 76)
        rig.server.sweep()
        try client.readToEnd()
        #expect(client.statuses == [204, 204])
        try rig.stop()
    }

    @Test func `one connection too many is told so, and served when another has left`() throws {
        var configuration = WebServerConfiguration()
        configuration.maximumConnections = 2
        let rig = try Rig(configuration)
        var first: RawClient? = try rig.client()
        try first?.send(WireCase.simple)
        _ = try first?.readAnswers(1)
        let second = try rig.client()
        try second.send(WireCase.simple)
        _ = try second.readAnswers(1)
        let third = try rig.client()
        try third.send(WireCase.simple)
        try third.readToEnd()
        #expect(third.statuses == [503])
        first = nil
        var statuses: [Int] = []
        for _ in 0..<200 where statuses != [204] {
            let fourth = try rig.client()
            try fourth.send(WireCase.simple)
            statuses = try fourth.readAnswers(1).map(\.status)
        }
        #expect(statuses == [204])
        #expect(rig.server.counts.turnedAway >= 1)
        try rig.stop()
    }

    @Test func `answers carry the server's own fields and none that break the head`() {
        var connection = PureConnection()
        connection.heads = [1]
        connection.feed(Array("GET /park HTTP/1.1\r\nHost: x\r\n\r\nHEAD /park HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        let headers: WebHeaders = [
            ("X-One", "1"), ("Content-Length", "99"), ("connection", "upgrade"), ("Bad", "a\r\nSet-Cookie: b"),
            ("B d", "1"),
        ]
        connection.answer(1, WebAnswer(status: 200, headers: headers, body: [0x61]))
        connection.answer(2, WebAnswer(status: 200, headers: headers, body: [0x61]))
        let lines = ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "X-One: 1", "Content-Length: 1"]
        #expect(connection.answers.map(\.headers) == [lines, lines])
        #expect(connection.answers.map(\.body) == [[0x61], []], "HEAD has the length without the body")
        connection.feed(Array(WireCase.simple.utf8))
        #expect(connection.answers.last?.header("Content-Length") == nil, "204 has no length")
        #expect(!connection.isFinished)
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
    ])
    func `dates are in HTTP's form`(seconds: Int64, text: String) {
        #expect(HTTPDate.text(unixSeconds: seconds) == text)
    }

    @Test func `every answer is observed with its head, status and seconds`() {
        var connection = PureConnection()
        connection.feed(Array("GET /park HTTP/1.1\r\n".utf8))
        connection.pass(seconds: 2)
        connection.feed(Array("Host: x\r\n\r\n".utf8))
        connection.pass(seconds: 3)
        connection.answer(1, WebAnswer(status: 202))
        connection.feed(Array("x y\r\n\r\n".utf8))
        #expect(connection.served.map(\.status) == [202, 400])
        #expect(connection.served.map(\.seconds) == [5, 0])
        #expect(connection.served.map { $0.head?.path } == [["park"], nil])
    }

    @Test func `told to stop, it finishes what was begun, closes what is idle and takes nothing new`() throws {
        let rig = try Rig()
        let (idle, busy) = (try rig.client(), try rig.client())
        try idle.send(WireCase.simple)
        _ = try idle.readAnswers(1)
        try busy.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n" + WireCase.simple)
        #expect(try rig.handler.wait { $0.parked.count == 1 })
        let server = rig.server
        let stopping = try LoopThread(name: "stop") { server.stop() }
        try idle.readToEnd()
        #expect(idle.statuses == [204])
        rig.handler.with { $0.parked.removeFirst() }.answer(WebAnswer(status: 201))
        try busy.readToEnd()
        #expect(busy.statuses == [201])
        #expect(busy.answers.first?.header("Connection") == "close")
        try rig.stop()
        stopping.join()
        let late = try? rig.client()
        try late?.send(WireCase.simple)
        try late?.readToEnd()
        #expect(late?.received.isEmpty ?? true)
        #expect(server.counts.connections == 0)
    }

    @Test func `told to stop, it waits for what was begun no longer than its time`() throws {
        let rig = try Rig()
        let client = try rig.client()
        try client.send("GET /park HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try rig.handler.wait { $0.parked.count == 1 })
        let server = rig.server
        let stopping = try LoopThread(name: "stop") { server.stop() }
        for _ in 0..<50 where !client.isClosed {
            rig.time.advance(seconds: 11)
            server.sweep()
            _ = try client.readToEnd(milliseconds: 50)
        }
        stopping.join()
        #expect(client.isClosed && client.answers.isEmpty)
    }

    @Test func `no descriptor is left after stop`() async {
        await #expect(processExitsWith: .success) {
            func descriptors() -> Int {
                (0..<4096).count { fcntlGetFlags($0) >= 0 }
            }
            func life() throws {
                let before = descriptors()
                var configuration = WebServerConfiguration()
                configuration.threads = 2
                let rig = try Rig(configuration)
                var clients = try (0..<20).map { _ in try rig.client() }
                for (number, client) in clients.enumerated() {
                    try client.send(
                        ["GET /stream", "GET /park", "GET /v1", "GE"][number % 4] + " HTTP/1.1\r\nHost: x\r\n\r\n")
                }
                let hasAll = try rig.handler.wait { $0.parked.count == 5 && $0.streams.count == 5 }
                #expect(hasAll)
                #expect(descriptors() > before + 40)
                rig.handler.with { $0.parked = [] }
                try rig.stop()
                #expect(rig.handler.with { $0.ends } == [WebStreamEnd](repeating: .stopping, count: 5))
                clients = []
                rig.handler.with { $0.streams = [] }
            }
            try life()  // what the process opens once and keeps
            let before = descriptors()
            for _ in 0..<3 { try life() }
            #expect(descriptors() <= before)
        }
    }
}
