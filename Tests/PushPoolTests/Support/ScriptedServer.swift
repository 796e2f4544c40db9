import HTTP2
import Synchronization
import TLS

/// One request as the scripted server read it, whole.
struct SeenRequest: Sendable, Equatable {
    /// Of the connections that were accepted, from 0.
    let connection: Int
    let stream: Int32
    let id: String
    let authorization: String
    /// Requests of its connection without an answer, this one included.
    let open: Int

    /// Of the push, as the rigs number them: the low digits of its id.
    var number: Int { Int(id.suffix(8), radix: 16) ?? -1 }
}

/// What the server does next on the connection of the request.
enum ServerStep: Sendable {
    case answer(Int32, status: Int = 200, body: String = "")
    case refuse(Int32)
    /// RST_STREAM with this code.
    case resetStream(Int32, ErrorCode)
    case announce(UInt32)
    case goAway(last: Int32, text: String = "")
    /// Reads no more from this connection, and leaves it open.
    case goDeaf
    /// Ends the connection with RST.
    case reset
    /// Ends it with close_notify and FIN.
    case close
}

/// An HTTP/2 server over TLS that does what a test says, on a thread of its own.
final class ScriptedServer: Sendable {
    /// Called for each request on the server's thread, with all requests so far, this one included.
    typealias Script = @Sendable (SeenRequest, [SeenRequest]) -> [ServerStep]

    struct State: Sendable {
        var seen: [SeenRequest] = []
        var connections = 0
        var isStopping = false
        var address: SocketAddress?
        var waiting: (count: Int, wake: CheckedContinuation<Void, Never>)?
        var orders: [(connection: Int, steps: [ServerStep])] = []
    }

    struct NoAddress: Error {}

    let certificatePEM: String
    let address: SocketAddress
    private let shared: Shared
    private let thread: LoopThread

    final class Shared: Sendable {
        let state = Mutex(State())
        let wake: EventSignal
        init() throws { wake = try EventSignal() }
    }

    /// - Parameters:
    ///   - mute: connections whose TLS the server never answers.
    ///   - plain: it answers with text where TLS is expected.
    init(
        on wanted: SocketAddress = .loopback(port: 0), streams: UInt32 = 1000, mute: Set<Int> = [],
        protocols: [String] = ["h2"], plain: Bool = false, identity: ServerIdentity, script: @escaping Script
    ) throws {
        let shared = try Shared()
        let context = try TLSContext.server(identity, protocols: protocols)
        let ready = Gate()
        thread = try LoopThread(name: "scripted") {
            do {
                let loop = try ScriptedLoop(
                    shared: shared, context: context, address: wanted, streams: streams, mute: mute, isPlain: plain,
                    script: script)
                shared.state.withLock { $0.address = loop.address }
                ready.open()
                try loop.run()
            } catch {
                ready.open()
            }
        }
        ready.wait()
        guard let address = shared.state.withLock({ $0.address }) else { throw NoAddress() }
        self.address = address
        self.shared = shared
        certificatePEM = identity.certificatePEM
    }

    var seen: [SeenRequest] { shared.state.withLock { $0.seen } }
    var connections: Int { shared.state.withLock { $0.connections } }

    /// Steps that no request asks for.
    func tell(_ connection: Int, _ steps: [ServerStep]) {
        shared.state.withLock { $0.orders.append((connection, steps)) }
        shared.wake.signal()
    }

    func waitForRequests(_ count: Int) async {
        await withCheckedContinuation { wake in
            let isThere = shared.state.withLock { state in
                guard state.seen.count < count else { return true }
                state.waiting = (count, wake)
                return false
            }
            if isThere { wake.resume() }
        }
    }

    func stopped() async {
        shared.state.withLock { $0.isStopping = true }
        shared.wake.signal()
        await thread.finished()
    }
}

/// Opened once; who waits blocks until then.
private final class Gate: Sendable {
    private let signal = try? EventSignal()

    func open() { signal?.signal() }

    func wait() {
        guard let signal, let epoll = try? Epoll(eventsPerWait: 1) else { return }
        var events: [Epoll.Event] = []
        try? epoll.add(signal.descriptor, .read, token: 0)
        while events.isEmpty { guard (try? epoll.wait(timeoutMilliseconds: nil, into: &events)) != nil else { return } }
    }
}

private final class ScriptedLoop {
    private let shared: ScriptedServer.Shared
    private let context: TLSContext
    private let epoll: Epoll
    private let listener: Listener
    private let streams: UInt32
    private let mute: Set<Int>
    private let isPlain: Bool
    private let script: ScriptedServer.Script
    private var connections: [Int: ScriptedConnection] = [:]
    private var accepted = 0
    private static let wakeToken = UInt64.max
    private static let listenerToken = UInt64.max - 1

    var address: SocketAddress { listener.address }

    init(
        shared: ScriptedServer.Shared, context: TLSContext, address: SocketAddress, streams: UInt32, mute: Set<Int>,
        isPlain: Bool, script: @escaping ScriptedServer.Script
    ) throws {
        epoll = try Epoll()
        listener = try Listener(on: address)
        try epoll.add(listener.descriptor, .read, token: Self.listenerToken)
        try epoll.add(shared.wake.descriptor, .read, token: Self.wakeToken)
        (self.shared, self.context, self.streams) = (shared, context, streams)
        (self.mute, self.isPlain, self.script) = (mute, isPlain, script)
    }

    func run() throws {
        var events: [Epoll.Event] = []
        while !shared.state.withLock({ $0.isStopping }) {
            try epoll.wait(timeoutMilliseconds: nil, into: &events)
            for event in events {
                switch event.token {
                case Self.wakeToken:
                    shared.wake.drain()
                    obey()
                case Self.listenerToken: try acceptAll()
                default: advance(Int(event.token))
                }
            }
        }
    }

    private func acceptAll() throws {
        while let socket = try listener.accept() {
            if isPlain {
                let text = Array("220 mail.example.com ESMTP\r\n".utf8)
                _ = try? socket.write(text.span)
                socket.finishWriting()
                continue
            }
            let connection = ScriptedConnection(
                number: accepted, tls: try TLSConnection.server(context, socket: socket), streams: streams)
            accepted += 1
            connections[connection.number] = connection
            shared.state.withLock { $0.connections += 1 }
            if !mute.contains(connection.number) {
                try epoll.add(connection.tls.descriptor, .read, token: UInt64(connection.number))
            }
        }
    }

    private func advance(_ number: Int) {
        guard let connection = connections[number] else { return }
        let isOpen = (try? connection.advance(record: record)) ?? false
        guard isOpen else {
            connections[number] = nil
            return
        }
        try? epoll.modify(connection.tls.descriptor, connection.wants, token: UInt64(number))
    }

    private func obey() {
        let orders = shared.state.withLock { state in
            defer { state.orders = [] }
            return state.orders
        }
        for order in orders {
            guard let connection = connections[order.connection] else { continue }
            guard (try? connection.obey(order.steps)) ?? false else {
                connections[order.connection] = nil
                continue
            }
            try? epoll.modify(connection.tls.descriptor, connection.wants, token: UInt64(order.connection))
        }
    }

    private func record(_ request: SeenRequest) -> [ServerStep] {
        let (all, wake) = shared.state.withLock { state -> ([SeenRequest], CheckedContinuation<Void, Never>?) in
            state.seen.append(request)
            guard let waiting = state.waiting, state.seen.count >= waiting.count else { return (state.seen, nil) }
            state.waiting = nil
            return (state.seen, waiting.wake)
        }
        defer { wake?.resume() }
        return script(request, all)
    }
}

private final class ScriptedConnection {
    let number: Int
    let tls: TLSConnection
    private let streams: UInt32
    private var session: ServerSession?
    private var outgoing: [UInt8] = []
    private var events: [ServerEvent] = []
    private(set) var wants: Epoll.Interest = .read
    private var isDeaf = false

    init(number: Int, tls: TLSConnection, streams: UInt32) {
        (self.number, self.tls, self.streams) = (number, tls, streams)
    }

    /// - Returns: false when it is over.
    func advance(record: (SeenRequest) -> [ServerStep]) throws -> Bool {
        guard let session = try established() else { return true }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if isDeaf {
                wants = []
                return true
            }
            var span = buffer.mutableSpan
            switch try tls.read(into: &span) {
            case .bytes(let count):
                try session.receive(buffer.span.extracting(first: count))
                guard try act(session, record) else { return false }
            case .closed: return false
            case .wantsRead, .wantsWrite:
                try flush(session)
                return true
            }
        }
    }

    /// - Returns: false when it is over.
    func obey(_ steps: [ServerStep]) throws -> Bool {
        guard let session else { return true }
        for step in steps { guard try take(step, session) else { return false } }
        try flush(session)
        return true
    }

    private func act(_ session: ServerSession, _ record: (SeenRequest) -> [ServerStep]) throws -> Bool {
        session.takeEvents(into: &events)
        for event in events {
            switch event {
            case .request(let request):
                let seen = SeenRequest(
                    connection: number, stream: request.stream, id: request.headers.text(of: "apns-id") ?? "",
                    authorization: request.headers.text(of: "authorization") ?? "", open: session.openStreams)
                for step in record(seen) { guard try take(step, session) else { return false } }
            case .settingsAcknowledged, .cancelled, .goaway, .pong, .failed, .beyondLimit: break
            }
        }
        try flush(session)
        return true
    }

    private func take(_ step: ServerStep, _ session: ServerSession) throws -> Bool {
        switch step {
        case .answer(let stream, let status, let body):
            try session.respond(to: stream, status: status, body: Array(body.utf8))
        case .refuse(let stream): try session.reset(stream, .refusedStream)
        case .resetStream(let stream, let code): try session.reset(stream, code)
        case .announce(let limit):
            try session.announce(maxConcurrentStreams: limit)
        case .goAway(let last, let text): try session.goaway(lastStream: last, debug: Array(text.utf8))
        case .goDeaf: isDeaf = true
        case .reset:
            try flush(session)
            tls.closeWithReset()
            return false
        case .close:
            try flush(session)
            tls.shutdown()
            return false
        }
        return true
    }

    private func established() throws -> ServerSession? {
        if let session { return session }
        switch try tls.handshake() {
        case .wantsRead: wants = .read
        case .wantsWrite: wants = .write
        case .finished:
            let made = try ServerSession(maxConcurrentStreams: streams)
            session = made
            return made
        }
        return nil
    }

    private func flush(_ session: ServerSession) throws {
        try session.collect(into: &outgoing, upTo: 1 << 22)
        wants = .read
        while !outgoing.isEmpty {
            let bytes = outgoing
            guard case .bytes(let count) = try tls.write(bytes.span) else {
                wants = [.read, .write]
                return
            }
            outgoing.removeFirst(count)
        }
    }
}
