import Testing

@testable import WebServer

@Suite struct WireCaseTests {
    @Test(arguments: WireCase.all)
    func `an odd request gets the answer of the table, in one piece`(wire: WireCase) {
        var connection = PureConnection()
        connection.feed(wire.bytes)
        judge(&connection, wire)
    }

    @Test(arguments: WireCase.all)
    func `an odd request gets the same answer byte by byte`(wire: WireCase) {
        var connection = PureConnection()
        for byte in wire.bytes { connection.feed([byte]) }
        judge(&connection, wire)
    }

    private func judge(_ connection: inout PureConnection, _ wire: WireCase) {
        if wire.isHalfClosed { connection.finish() }
        #expect(connection.statuses == wire.statuses)
        switch wire.ending {
        case .kept:
            #expect(!connection.isFinished)
            connection.feed(Array(WireCase.simple.utf8))
            #expect(connection.statuses == wire.statuses + [204], "the connection still serves")
        case .closed:
            #expect(connection.isFinished)
            #expect(connection.answers.last.map { $0.header("Connection") == "close" || wire.isHalfClosed } ?? true)
        case .waits:
            #expect(!connection.isFinished)
            connection.pass(seconds: 9.9)
            #expect(connection.statuses == wire.statuses)
            connection.pass(seconds: 1.1)
            #expect(connection.statuses == wire.statuses + [408])
            #expect(connection.isFinished)
        }
        #expect(connection.answers.allSatisfy { $0.status == 100 || $0.header("Date") != nil })
    }
}
