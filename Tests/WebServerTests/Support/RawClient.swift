import Synchronization
import TLS

@testable import WebServer

/// A client that sends any bytes and reads what comes, with a limit of ten seconds for each wait.
final class RawClient {
    private let link: any PeerLink
    private let epoll: Epoll
    private(set) var received: [UInt8] = []
    private(set) var isClosed = false
    private var scratch = [UInt8](repeating: 0, count: 65_536)

    struct TookTooLong: Error {}

    init(_ server: WebServer, trusting certificatePEM: String? = nil, protocols: [String] = ["http/1.1"]) throws {
        let socket = try Socket.connect(to: server.address)
        epoll = try Epoll(eventsPerWait: 4)
        if let certificatePEM {
            let context = try TLSContext.client(trusting: .pem(certificatePEM), protocols: protocols)
            link = TLSLink(try .client(context, host: "127.0.0.1", socket: socket))
        } else {
            link = PlainLink(socket)
        }
        try epoll.add(link.descriptor, .write, token: 1)
        try wait()
        while true {
            switch try link.establish() {
            case .finished: return
            case .wantsRead: try want(.read)
            case .wantsWrite: try want(.write)
            }
            try wait()
        }
    }

    /// Sends all, and reads meanwhile so that neither side waits for the other. A server that has closed ends it.
    func send(_ bytes: [UInt8]) throws {
        var start = 0
        while start < bytes.count, !isClosed {
            do {
                if case .bytes(let count) = try link.write(bytes.span.extracting(start...)) {
                    start += count
                } else {
                    try want([.read, .write])
                    try wait()
                    try readNow()
                }
            } catch is SocketError {
                try? readNow()
                return
            }
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func finish() { link.finishWriting() }

    var answers: [ReadAnswer] { ReadAnswer.all(in: received).answers }
    var statuses: [Int] { answers.map(\.status) }

    /// Reads until so many answers are whole, or the server has closed.
    func readAnswers(_ count: Int) throws -> [ReadAnswer] {
        while answers.count < count, !isClosed { try readSome() }
        return answers
    }

    func readToEnd() throws {
        while !isClosed { try readSome() }
    }

    /// - Returns: whether the server has closed within that time.
    func readToEnd(milliseconds: Int32) throws -> Bool {
        try want(.read)
        var events: [Epoll.Event] = []
        while !isClosed {
            try epoll.wait(timeoutMilliseconds: milliseconds, into: &events)
            if events.isEmpty { return false }
            try readNow()
        }
        return true
    }

    func readSome() throws {
        let before = received.count
        try readNow()
        guard !isClosed, received.count == before else { return }
        try want(.read)
        try wait()
        try readNow()
    }

    private func readNow() throws {
        while !isClosed {
            var span = scratch.mutableSpan
            do {
                switch try link.read(into: &span) {
                case .bytes(let count): received += scratch[..<count]
                case .closed: isClosed = true
                case .wantsRead, .wantsWrite: return
                }
            } catch {
                isClosed = true  // a reset
            }
        }
    }

    private func want(_ interest: Epoll.Interest) throws { try epoll.modify(link.descriptor, interest, token: 1) }

    private func wait() throws {
        var events: [Epoll.Event] = []
        try epoll.wait(timeoutMilliseconds: 10_000, into: &events)
        if events.isEmpty { throw TookTooLong() }
    }
}

/// A server with time that stands still until the test moves it.
struct Rig {
    let time = ManualTime()
    let handler = TestHandler()
    let server: WebServer

    init(_ configuration: WebServerConfiguration = WebServerConfiguration()) throws {
        server = try WebServer(
            on: .loopback(port: 0), configuration: configuration, handler: handler, clock: time.clock)
    }

    func client() throws -> RawClient { try RawClient(server) }

    /// Stops the server while its time passes, so that it waits for no client of the test.
    func stop() throws {
        let server = server
        let isOver = Mutex(false)
        let ended = try EventSignal()
        let stopping = try LoopThread(name: "stop") {
            server.stop()
            isOver.withLock { $0 = true }
            ended.signal()
        }
        let epoll = try Epoll(eventsPerWait: 1)
        try epoll.add(ended.descriptor, .read, token: 0)
        var events: [Epoll.Event] = []
        while !isOver.withLock({ $0 }) {
            time.advance(seconds: 3)
            server.sweep()
            try epoll.wait(timeoutMilliseconds: 10, into: &events)
        }
        stopping.join()
    }
}
