import Foundation
import Synchronization
import Testing
import WebServer

@testable import lanekeeper

@Suite(.timeLimit(.minutes(2))) struct EventStreamTests {
    @Test func `events come as they are sent, and the stream's end is told`() async throws {
        let streams = Arrivals<any WebStream>()
        let server = try AnsweringServer { request, exchange in
            switch request.head.path.first {
            case "events":
                if let stream = exchange.stream(
                    [("Content-Type", "text/event-stream; charset=utf-8")], closed: { _ in })
                {
                    streams.add(stream)
                }
            default: exchange.answer(WebAnswer(status: 404, body: Array("no".utf8)))
            }
        }
        let client = try server.client { $0.maximumStreams = 1 }
        let events = Arrivals<ServerSentEvent>()
        let ends = Arrivals<ClientStreamEnd>()
        client.events(
            ClientRequest("GET", "/events"), onEvent: { events.add($0) }, done: { ends.add($0) })
        let stream = await streams.next()
        stream?.send(Array(": hello\n\nid: 5\nevent: entry\ndata: {\"a\":1}\n\n".utf8))
        #expect(await events.next() == ServerSentEvent(name: "entry", data: "{\"a\":1}", id: "5"))
        stream?.send(Array("data: b\r\nda".utf8))
        stream?.send(Array("ta:c\r\n\r\ndata: cut off".utf8))
        #expect(await events.next() == ServerSentEvent(name: "message", data: "b\nc", id: "5"))

        client.events(ClientRequest("GET", "/events"), onEvent: { _ in }, done: { ends.add($0) })
        #expect(await ends.next() == .failed(.tooManyWaiting(limit: 1)))
        stream?.close()
        #expect(await ends.next() == .ended)

        client.events(ClientRequest("GET", "/nothing"), onEvent: { _ in }, done: { ends.add($0) })
        guard case .answered(let refusal) = await ends.next() else { return #expect(Bool(false)) }
        #expect(refusal.status == 404 && refusal.body == Array("no".utf8))

        let call = client.events(ClientRequest("GET", "/events"), onEvent: { _ in }, done: { ends.add($0) })
        let open = await streams.next()
        call.cancel()
        #expect(await ends.next() == .failed(.cancelled))
        open?.close()
        await client.stopped()
        await server.stop()
    }

    @Test func `an event beyond the limit ends the stream`() async throws {
        let server = try AnsweringServer { _, exchange in
            exchange.stream([("Content-Type", "text/event-stream")]) { _ in }?
                .send(Array("data: \(String(repeating: "x", count: 200))".utf8))
        }
        let client = try server.client { $0.maximumEventBytes = 100 }
        let ends = Arrivals<ClientStreamEnd>()
        client.events(ClientRequest("GET", "/"), onEvent: { _ in }, done: { ends.add($0) })
        #expect(await ends.next() == .failed(.tooLong(limitBytes: 100)))
        await client.stopped()
        await server.stop()
    }

    @Test(arguments: 1...7)
    func `an event stream reads the same however it is cut`(size: Int) throws {
        let text =
            "\u{feff}retry: 2500\n: c\ndata\n\nevent:x\rid: 1\rdata: ü\r\rid: 2\u{0}\ndata:  two\n\nevent: lost\n\nid: 9\n\ndata: z\r\n\r\ndata: cut"
        var reader = ServerSentEventReader(limitBytes: 1_000)
        var events: [ServerSentEvent] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            events += try reader.read(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        #expect(
            events == [
                ServerSentEvent(name: "message", data: "", id: ""), ServerSentEvent(name: "x", data: "ü", id: "1"),
                ServerSentEvent(name: "message", data: " two", id: "1"),
                ServerSentEvent(name: "message", data: "z", id: "9"),
            ])
        #expect(reader.retryMilliseconds == 2500)
    }
}

@Suite struct ClientAddressTests {
    @Test(arguments: [
        ("http://127.0.0.1:8480", "http://127.0.0.1:8480", true), ("http://localhost/", "http://localhost", true),
        ("HTTPS://cards.example/api/", "HTTPS://cards.example/api", false),
        ("http://[::1]:80", "http://[::1]:80", true),
        ("https://[2001:db8::1]", "https://[2001:db8::1]", false),
    ])
    func `an address is scheme, host, port and path`(text: String, whole: String, isLoopback: Bool) {
        let address = ClientAddress(text)
        #expect(address?.description == whole && address?.isLoopback == isLoopback)
        #expect(address?.isEncrypted == text.lowercased().hasPrefix("https"))
    }

    @Test(arguments: [
        "", "127.0.0.1:8480", "ftp://x", "http://", "http://:80", "http://x:0", "http://x:70000", "http://x:",
        "http://x:a",
        "http://u:p@x", "http://x?y", "http://x/#y", "http://x y", "http://[]", "http://[::1", "http://x\\y",
        "http://ü",
    ])
    func `what is no address, or would carry a password, is refused`(text: String) {
        #expect(ClientAddress(text) == nil)
    }
}
