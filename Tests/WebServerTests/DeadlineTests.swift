import Testing

@testable import WebServer

/// Time is virtual. Deadlines count from a request's first byte, so that drops of input do not prolong it.
@Suite struct DeadlineTests {
    private func drip(_ head: String, _ byte: UInt8, everySeconds: Double) -> (seconds: Double, statuses: [Int]) {
        var connection = PureConnection()
        connection.feed(Array(head.utf8))
        var seconds = 0.0
        while !connection.isFinished, seconds < 3_600 {
            connection.pass(seconds: everySeconds)
            seconds += everySeconds
            if !connection.isFinished { connection.feed([byte]) }
        }
        return (seconds, connection.statuses)
    }

    @Test func `a head that comes a byte every two seconds is cut after ten`() {
        let (seconds, statuses) = drip("GET / HTTP/1.1\r\nHost: x\r\nX: ", 0x61, everySeconds: 2)
        #expect(seconds == 10)
        #expect(statuses == [408])
    }

    @Test func `a small body that comes a byte every two seconds is cut after ten and one`() {
        let (seconds, statuses) = drip(WireCase.put("Content-Length: 100\r\n"), 0x61, everySeconds: 2)
        #expect(seconds == 12)
        #expect(statuses == [408])
    }

    @Test func `a body has a second more for each 10 KB`() {
        let (seconds, _) = drip(WireCase.put("Content-Length: 1024000\r\n"), 0x61, everySeconds: 1)
        #expect(seconds == 110)
    }

    @Test func `chunks earn their time by coming`() {
        let (slow, statuses) = drip(WireCase.put(WireCase.chunked, "ffff\r\n"), 0x61, everySeconds: 2)
        #expect(slow == 12)
        #expect(statuses == [408])
        var connection = PureConnection()
        connection.feed(Array(WireCase.put(WireCase.chunked).utf8))
        for _ in 0..<20 {
            connection.feed(Array("2800\r\n".utf8) + [UInt8](repeating: 0, count: 10_240) + [13, 10])
            connection.pass(seconds: 1)
        }
        connection.feed(Array("0\r\n\r\n".utf8))
        #expect(connection.statuses == [204])
    }

    @Test func `a request behind a parked one has its own time`() {
        var connection = PureConnection()
        connection.feed(Array("GET /park HTTP/1.1\r\nHost: x\r\n\r\nGET /v1 HT".utf8))
        connection.pass(seconds: 50)
        connection.answer(1, WebAnswer(status: 204))
        connection.pass(seconds: 9)
        connection.feed(Array("TP/1.1\r\nHost: x\r\n\r\n".utf8))
        #expect(connection.statuses == [204, 204])
    }

    @Test func `an empty line between requests begins none`() {
        var connection = PureConnection()
        connection.feed(Array((WireCase.simple + "\r\n").utf8))
        connection.pass(seconds: 60)
        #expect(connection.statuses == [204])
        #expect(!connection.isFinished)
        connection.pass(seconds: 20)
        #expect(connection.statuses == [204])
        #expect(connection.isFinished)
    }

    @Test func `after a fault the peer's input is dropped for two seconds, then the connection is over`() {
        var connection = PureConnection()
        connection.feed(Array("x\r\n\r\n".utf8))
        #expect(connection.isFinished && !connection.state.isOver)
        connection.feed(Array(WireCase.simple.utf8))
        connection.pass(seconds: 1.9)
        #expect(!connection.state.isOver)
        connection.pass(seconds: 0.1)
        #expect(connection.state.isOver)
        #expect(connection.statuses == [400])
    }

    @Test func `a peer that does not read its answers is served no more, and cut in time`() {
        var connection = PureConnection()
        connection.readsAnswers = false
        connection.feed(Array(String(repeating: "GET /big HTTP/1.1\r\nHost: x\r\n\r\n", count: 50).utf8))
        #expect(connection.taken.count == 1, "100 KB wait: above the limit")
        #expect(!connection.state.wantsInput)
        connection.pass(seconds: 19)
        #expect(!connection.state.isOver)
        connection.read(60_000)
        connection.turn()
        #expect(connection.taken.count == 2)
        connection.pass(seconds: 12)
        #expect(connection.state.isOver)
    }
}
