import Synchronization
import TLS
import Testing
import WebServer

@testable import lanekeeper

@Suite(.timeLimit(.minutes(2))) struct HTTPClientTests {
    /// What the server's handler saw of a request, told back in the answer.
    private static func echo(_ request: WebRequest, _ exchange: any WebExchange) {
        let head = request.head
        exchange.answer(
            WebAnswer(
                status: 200,
                headers: [
                    ("Method", head.method), ("Path", head.path.joined(separator: "|")),
                    ("Query", head.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|")),
                    ("Media", head.headers["content-type"] ?? "none"), ("Key", head.headers["authorization"] ?? "none"),
                    ("Expect", head.headers["expect"] ?? "none"), ("Length", head.bodyLength.map { "\($0)" } ?? "none"),
                ], body: request.body))
    }

    @Test(arguments: [false, true])
    func `calls go through with method, path, key and body, plain and over TLS`(encrypted: Bool) async throws {
        let server = try AnsweringServer(encrypted: encrypted, Self.echo)
        let client = try server.client()
        let body = [UInt8](repeating: 0x78, count: 3 << 20)  // more than libcurl would announce with Expect
        let put = try await client.send(.json("PUT", "/v1/devices/d:1", body))
        #expect(put.status == 200 && put.body == body)
        #expect(put.header("method") == "PUT" && put.header("PATH") == "v1|devices|d:1")
        #expect(put.header("Media") == "application/json" && put.header("Key") == "Bearer a-key")
        #expect(put.header("Expect") == "none" && put.header("Length") == "\(body.count)")

        let path = ClientRequest.path(["v1", "a/b c", ".."], query: [("after", "7"), ("x&y", "ü")])
        #expect(path == "/v1/a%2Fb%20c/%2E%2E?after=7&x%26y=%C3%BC")
        let get = try await client.send(ClientRequest("GET", path))
        #expect(get.header("Method") == "GET" && get.header("Path") == "v1|a/b c|..")
        #expect(get.header("Query") == "after=7|x&y=ü" && get.header("Media") == "none")

        for method in ["POST", "PUT"] {
            let empty = try await client.send(ClientRequest(method, "/empty"))
            #expect(empty.header("Method") == method && empty.header("Length") == "0")
            #expect(empty.header("Media") == "none")
        }
        #expect(try await client.send(ClientRequest("DELETE", "/gone")).header("Method") == "DELETE")
        let deleted = try await client.send(.json("DELETE", "/gone", Array("{}".utf8)))
        #expect(deleted.header("Method") == "DELETE" && deleted.body == Array("{}".utf8))
        // One after the other, all on the one connection that was kept.
        #expect(server.server.counts.accepted == 1)
        await client.stopped()
        await server.stop()
    }

    @Test func `an answer of any status is an answer, and a redirect is not followed`() async throws {
        let server = try AnsweringServer { request, exchange in
            let status = Int(request.head.path.first ?? "") ?? 500
            exchange.answer(
                WebAnswer(
                    status: status, headers: [("Location", "/200"), ("Retry-After", "7")], body: Array("why".utf8)))
        }
        let client = try server.client()
        for status in [204, 301, 307, 400, 401, 404, 409, 429, 500, 503] {
            let answer = try await client.send(ClientRequest("GET", "/\(status)"))
            #expect(answer.status == status && answer.header("retry-after") == "7")
            #expect(answer.body == (status == 204 ? [] : Array("why".utf8)))
        }
        #expect(server.requests.count == 10)
        await client.stopped()
        await server.stop()
    }

    @Test func `no more calls at a time than connections, the others wait their turn, and thousands go through`()
        async throws
    {
        let parked = Arrivals<any WebExchange>()
        let server = try AnsweringServer { request, exchange in
            if request.head.path.first == "park" { parked.add(exchange) } else { Self.echo(request, exchange) }
        }
        let client = try server.client { $0.maximumConnections = 3 }
        let ended = Arrivals<Int>()
        for _ in 0..<10 {
            client.send(ClientRequest("GET", "/park")) { ended.add((try? $0.get().status) ?? 0) }
        }
        for round in [3, 3, 3, 1] {
            let exchanges = await parked.next(round)
            #expect(server.server.counts.connections <= 3)
            for exchange in exchanges { exchange.answer(WebAnswer(status: 204)) }
        }
        #expect(await ended.next(10) == [Int](repeating: 204, count: 10))

        for number in 0..<3_000 {
            client.send(.json("PUT", "/v1/devices/d\(number)", Array("{}".utf8))) {
                ended.add((try? $0.get().status) ?? 0)
            }
        }
        #expect(await ended.next(3_000).allSatisfy { $0 == 200 })
        #expect(server.server.counts.accepted == 3)
        await client.stopped()
        await server.stop()
    }

    @Test func `a call that may not wait is refused at once`() async throws {
        let server = try AnsweringServer { _, exchange in
            // Never: the exchange is kept by nobody, so park it in the stream's place.
            _ = exchange.stream([("Content-Type", "text/plain")]) { _ in }
        }
        let client = try server.client {
            $0.maximumConnections = 1
            $0.maximumWaiting = 0
        }
        await #expect(throws: ClientError.tooManyWaiting(limit: 0)) { try await client.send(ClientRequest("GET", "/")) }
        await client.stopped()
        await server.stop()
    }

    @Test func `cancelling ends a call that runs and one that waits, and the task's own cancellation does too`()
        async throws
    {
        let parked = Arrivals<any WebExchange>()
        let server = try AnsweringServer { _, exchange in parked.add(exchange) }
        let client = try server.client { $0.maximumConnections = 1 }
        let ended = Arrivals<String>()
        func call(_ name: String) -> ClientCall {
            client.send(ClientRequest("GET", "/\(name)")) { result in
                switch result {
                case .success(let answer): ended.add("\(name) \(answer.status)")
                case .failure(let error): ended.add("\(name) \(error)")
                }
            }
        }
        let running = call("runs")
        let exchange = await parked.next()
        let waiting = call("waits")
        _ = call("stays")
        waiting.cancel()
        waiting.cancel()
        #expect(await ended.next() == "waits cancelled")
        running.cancel()
        #expect(await ended.next() == "runs cancelled")
        await parked.next()?.answer(WebAnswer(status: 204))
        #expect(await ended.next() == "stays 204")
        exchange?.answer(WebAnswer(status: 204))  // too late for anybody

        let task = Task { try await client.send(ClientRequest("GET", "/task")) }
        let held = await parked.next()
        task.cancel()
        #expect(await task.result.failure as? ClientError == .cancelled)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(ClientRequest("GET", "/early"))
        }
        #expect(await early.result.failure as? ClientError == .cancelled)
        held?.answer(WebAnswer(status: 204))
        await client.stopped()
        await server.stop()
    }

    @Test func `stopping ends what runs and what waits, and what is asked later`() async throws {
        let parked = Arrivals<any WebExchange>()
        let server = try AnsweringServer { _, exchange in parked.add(exchange) }
        let client = try server.client { $0.maximumConnections = 1 }
        let ended = Arrivals<ClientError?>()
        for _ in 0..<2 { client.send(ClientRequest("GET", "/park")) { ended.add($0.failure) } }
        let exchange = await parked.next()
        await client.stopped()
        #expect(await ended.next(2) == [.stopped, .stopped])
        await #expect(throws: ClientError.stopped) { try await client.send(ClientRequest("GET", "/")) }
        exchange?.answer(WebAnswer(status: 204))
        await server.stop()
    }

    @Test func `no answer in time, nobody there, a broken connection and a strange certificate are told apart`()
        async throws
    {
        let parked = Arrivals<any WebExchange>()
        let server = try AnsweringServer(encrypted: true) { request, exchange in
            if request.head.path.first == "large" {
                exchange.answer(WebAnswer(status: 200, body: [UInt8](repeating: 0, count: 5_000)))
            } else {
                parked.add(exchange)
            }
        }
        let client = try server.client { $0.maximumAnswerBytes = 4_999 }
        func failure(_ client: HTTPClient, _ request: ClientRequest) async -> ClientError? {
            do throws(ClientError) { _ = try await client.send(request) } catch { return error }
            return nil
        }
        let late = await failure(client, ClientRequest("GET", "/park", timeoutSeconds: 0.05))
        guard case .timedOut = late else { return #expect(Bool(false), "\(String(describing: late))") }
        #expect(await failure(client, ClientRequest("GET", "/large")) == .tooLong(limitBytes: 4_999))
        for bad in [
            ClientRequest("GET", "/", headers: [ClientHeader("A", "b\r\nC: d")]), ClientRequest("GET ", "/"),
            ClientRequest("GET", "//x y"), ClientRequest("GET", "x"),
            ClientRequest("GET", "/", headers: [ClientHeader("A:", "b")]),
        ] {
            guard case .badRequest = await failure(client, bad) else {
                return #expect(Bool(false), "\(bad)")
            }
        }
        let distrusting = try server.client { $0.caFile = nil }
        let untrusted = await failure(distrusting, ClientRequest("GET", "/park"))
        guard case .untrusted = untrusted else { return #expect(Bool(false), "\(String(describing: untrusted))") }
        let nowhere = try server.client { $0.caFile = "/nowhere.pem" }
        guard case .untrusted = await failure(nowhere, ClientRequest("GET", "/park")) else {
            return #expect(Bool(false), "a CA file that is not there")
        }
        await server.stop()
        let gone = await failure(client, ClientRequest("GET", "/park"))
        guard case .unreachable = gone else { return #expect(Bool(false), "\(String(describing: gone))") }
        for client in [client, distrusting, nowhere] { await client.stopped() }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
