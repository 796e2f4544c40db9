import Synchronization
import TLS
import Testing

@Suite struct SocketTests {
    @Test func `given a port in use, then the error names it`() throws {
        let first = try Listener(on: .loopback(port: 0))
        let port = first.address.port
        #expect(port != 0)
        do {
            _ = try Listener(on: .loopback(port: port))
            Issue.record("two listeners on one port")
        } catch {
            #expect(error.operation == .bind)
            #expect(error.isAddressInUse)
            #expect(error.description.contains("127.0.0.1:\(port)"))
            #expect(error.description.contains("in use"))
        }
        _ = try first.accept()
    }

    @Test func `given nobody listens, then connecting is refused with the address`() throws {
        let address = try freePort()
        let epoll = try Epoll()
        var events: [Epoll.Event] = []
        do throws(SocketError) {
            let socket = try Socket.connect(to: address)
            try epoll.add(socket.descriptor, .write, token: 5)
            try epoll.wait(timeoutMilliseconds: 5000, into: &events)
            #expect(events.map(\.token) == [5] && events.allSatisfy { $0.isWritable && $0.isReadable && $0.isEnding })
            try socket.checkConnected()
            Issue.record("connected")
        } catch {
            #expect(error.operation == .connect)
            #expect(error.address == address.description)
            #expect(error.text.contains("refused"))
        }
    }

    private func freePort() throws -> SocketAddress { try Listener(on: .loopback(port: 0)).address }

    @Test func `bytes go through plain sockets, and the end arrives`() throws {
        let listener = try Listener(on: .loopback(port: 0))
        #expect(try listener.accept() == nil)
        let client = try Socket.connect(to: listener.address)
        let epoll = try Epoll()
        var events: [Epoll.Event] = []
        try epoll.add(listener.descriptor, .read, token: 1)
        try epoll.wait(timeoutMilliseconds: 5000, into: &events)
        guard let server = try listener.accept() else {
            Issue.record("nobody came")
            return
        }
        try client.checkConnected()
        var buffer = [UInt8](repeating: 0, count: 10)
        var span = buffer.mutableSpan
        #expect(try server.read(into: &span) == .wantsRead)
        #expect(try client.write([1, 2, 3].span) == .bytes(3))
        try epoll.add(server.descriptor, .read, token: 2)
        try epoll.wait(timeoutMilliseconds: 5000, into: &events)
        #expect(events.map(\.token) == [2] && !events.contains { $0.isEnding })
        #expect(try server.read(into: &span) == .bytes(3))
        client.finishWriting()
        try epoll.wait(timeoutMilliseconds: 5000, into: &events)
        #expect(events.map(\.isEnding) == [true])
        #expect(try server.read(into: &span) == .closed)
    }

    @Test func `numeric addresses parse and names resolve`() throws {
        #expect(SocketAddress(ip: "::1", port: 443)?.description == "[::1]:443")
        #expect(SocketAddress(ip: "10.1.2.3", port: 80)?.port == 80)
        #expect(SocketAddress(ip: "localhost", port: 80) == nil)
        let found = try SocketAddress.resolve(host: "127.0.0.1", port: 2197)
        #expect(found.first?.description == "127.0.0.1:2197")
        #expect(throws: SocketError.self) {
            try SocketAddress.resolve(host: String(repeating: "a", count: 300), port: 1)
        }
    }

    @Test func `signals wake a thread of its own, and many are one`() async throws {
        let signal = try EventSignal()
        let answer = try EventSignal()
        let wakes = Mutex(0)
        for _ in 0..<5 { signal.signal() }
        let thread = try LoopThread(name: "a-rather-long-name") {
            do {
                let epoll = try Epoll()
                var events: [Epoll.Event] = []
                try epoll.add(signal.descriptor, .read, token: 9)
                try epoll.wait(timeoutMilliseconds: 5000, into: &events)
                signal.drain()
                wakes.withLock { $0 += events.count }
                try epoll.wait(timeoutMilliseconds: 0, into: &events)
                wakes.withLock { $0 += events.count }
                answer.signal()
            } catch {
                wakes.withLock { $0 = -1 }
            }
        }
        await thread.finished()
        await thread.finished()
        #expect(wakes.withLock { $0 } == 1)
        let epoll = try Epoll()
        var events: [Epoll.Event] = []
        try epoll.add(answer.descriptor, .read, token: 1)
        try epoll.wait(timeoutMilliseconds: 0, into: &events)
        #expect(events.count == 1)
    }

    @Test func `joining waits for the body`() throws {
        let isOver = Mutex(false)
        let thread = try LoopThread(name: "short") { isOver.withLock { $0 = true } }
        thread.join()
        #expect(isOver.withLock { $0 })
        thread.join()
    }
}
