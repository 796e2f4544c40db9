import CardRules
import Glibc
import TLS
import Testing

@testable import Simulation

@Suite(.serialized) struct GatewayControlTests {
    private static func stand() throws -> (server: GatewayServer, backend: DeskBackend, control: GatewayControl) {
        let backend = DeskBackend(seed: 1)
        let server = try GatewayServerTests.server(
            backend, options: GatewayModelTests.options { $0.requestsKept = 100 })
        return (server, backend, GatewayControl(server: server, backend: backend, now: { GatewayModelTests.now }))
    }

    @Test(arguments: [
        ("streams all 10", GatewayCommand.streams(nil, 10)),
        ("goaway production", .goAway(.production, reason: "Shutdown", unprocessed: 0)),
        ("goaway sandbox IdleTimeout 3", .goAway(.sandbox, reason: "IdleTimeout", unprocessed: 3)),
        ("reset all", .close(nil, withReset: true)),
        (
            "fault production rst=7 times=2 token=a1b2",
            .fault(.production, GatewayFault(.reset(code: 7), times: 2, tokenPrefix: [0xa1, 0xb2]))
        ),
        ("fault all delay=1.5 share=0.5", .fault(nil, GatewayFault(.delay(seconds: 1.5), share: 0.5))),
        ("token a1 asleep", .token([0xa1], .reach(.asleep))), ("requests\r", .requests(20)),
    ])
    func `a line is its command`(line: String, command: GatewayCommand) throws {
        #expect(try GatewayCommand(line) == command)
    }

    @Test(arguments: [
        ("date-offset", "9223372036854775807"), ("date-offset", "-9223372036854775808"),
        ("date-offset", "315360001"), ("retry-after", "9223372036854775807"), ("per-token", "1000001"),
        ("opens-per-minute", "-1"), ("streams-before", "9223372036854775807"), ("errors-until-goaway", "1000001"),
    ])
    func `an option beyond reason is refused, and nothing is changed`(name: String, value: String) {
        var options = GatewayOptions()
        let before = "\(options)"
        #expect(options.set(name, to: value)?.hasPrefix("\(name) takes ") == true)
        #expect("\(options)" == before)
    }

    @Test(arguments: [
        "", "frob", "streams", "streams mars 1", "streams all -1", "goaway production Shut\"down", "fault all",
        "fault all 404",
        "fault all rst=x", "fault all 500 times=0", "set all", "token xyz live", "token a1 gone", "requests 0",
    ])
    func `a line that is wrong says what is, and changes nothing`(line: String) throws {
        #expect(throws: GatewayCommand.Fault.self) { try GatewayCommand(line) }
        let (server, _, control) = try Self.stand()
        defer { server.stop() }
        #expect(control.answer(line).hasPrefix(#"{"error":""#))
    }

    @Test(arguments: [
        "set all streams-before 5", "set all throttle on", "set production errors-until-goaway 100",
        "set all excess goaway", "set all wedge silence", "set all opens-per-minute off", "set all per-token 3",
        "set all retry-after 60", "set all date-offset -300", "set all answer-seconds 0.5",
    ])
    func `every option can be set, and refuses what it does not take`(line: String) throws {
        let (server, _, control) = try Self.stand()
        defer { server.stop() }
        #expect(control.answer(line) == #"{"done":true}"#)
        let wrong = line.split(separator: " ").dropLast().joined(separator: " ") + " what"
        #expect(control.answer(wrong).hasPrefix(#"{"error":""#))
    }

    @Test func `faults, tokens and reports work over the wire, one line of JSON each`() async throws {
        let (server, _, control) = try Self.stand()
        let port = try ControlPort(on: .loopback(port: 0)) { control.answer($0) }
        let lines = try ask(
            port.address,
            "fault production 503 times=1\ntoken \(hexText(GatewayModelTests.token)) offline\ncounters\n", answers: 3)
        #expect(lines.prefix(2) == [#"{"done":true}"#, #"{"done":true}"#])
        let client = try WireClient(to: server, .production)
        for tag in 1...2 as ClosedRange<UInt64> {
            try client.submit(GatewayModelTests.request(), tag: tag)
            try client.run { client.answers[tag] != nil }
        }
        #expect([1, 2].map { GatewayServerTests.status(client.answers[$0]) } == [503, 200])
        let reports = try ask(port.address, "counters\ndeliveries 1\nrequests 1\nconnections\n", answers: 4)
        #expect(reports[0].contains(#""accepted":1,"refused":{"ServiceUnavailable":1}"#))
        #expect(reports[0].contains(#""deliveries":{"delivered":0,"stored":1}"#))
        #expect(reports[1].contains(#""fate":"stored""#))
        #expect(reports[2].contains(#""authorization":"(redacted)""#) && reports[2].contains(#""stream":3"#))
        #expect(reports[3] == #"{"production":1,"sandbox":0}"#)
        await port.stopped()
        await server.stopped()
    }

    @Test func `the last line may lack its end, and one beyond 4 KB is refused: what follows it is answered`()
        async throws
    {
        let (server, _, control) = try Self.stand()
        let port = try ControlPort(on: .loopback(port: 0)) { control.answer($0) }
        let long = String(repeating: "x", count: 9000)
        let lines = try ask(port.address, "\(long)\nstreams all 10\nconnections", answers: 3, isAll: true)
        #expect(
            lines == [
                #"{"error":"a line has 4096 bytes at most"}"#, #"{"done":true}"#, #"{"production":0,"sandbox":0}"#,
            ])
        await port.stopped()
        await server.stopped()
    }

    /// Sends lines and reads so many.
    /// - Parameter isAll: says that nothing more is sent.
    private func ask(_ address: SocketAddress, _ text: String, answers: Int, isAll: Bool = false) throws -> [String] {
        let socket = try Socket.connect(to: address)
        let epoll = try Epoll(eventsPerWait: 1)
        try epoll.add(socket.descriptor, .write, token: 0)
        var events: [Epoll.Event] = []
        try epoll.wait(timeoutMilliseconds: nil, into: &events)
        let bytes = Array(text.utf8)
        _ = try socket.write(bytes.span)
        if isAll { shutdown(socket.descriptor, Int32(SHUT_WR)) }
        try epoll.modify(socket.descriptor, .read, token: 0)
        var read: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while read.count(where: { $0 == UInt8(ascii: "\n") }) < answers {
            try epoll.wait(timeoutMilliseconds: nil, into: &events)
            var span = buffer.mutableSpan
            switch try socket.read(into: &span) {
            case .bytes(let count): read += buffer[..<count]
            case .closed: return []
            case .wantsRead, .wantsWrite: break
            }
        }
        return String(decoding: read, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
