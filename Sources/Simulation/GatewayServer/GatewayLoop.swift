internal import Synchronization
internal import TLS

/// What the thread of one listener and its owner share.
final class LoopControl: Sendable {
    let wake: EventSignal
    let ready: EventSignal
    private let state = Mutex(State())

    struct State: Sendable {
        var isStopping = false
        var started: Result<SocketAddress, SocketError>?
        var connections = 0
    }

    init() throws(SocketError) {
        wake = try EventSignal()
        ready = try EventSignal()
    }

    func with<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock { body(&$0) } }
}

/// Accepts and serves the connections of one listener until it is told to stop. Lives on one thread.
struct GatewayLoop: ~Copyable {
    private let control: LoopControl
    private let model: GatewayCell
    private let context: TLSContext
    private let epoll: Epoll
    private let listener: Listener
    private var connections: [UInt64: ServedConnection] = [:]
    private var nextToken: UInt64 = Self.firstConnection
    private var isAcceptPaused = false
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    private static let listenerToken: UInt64 = 0
    private static let wakeToken: UInt64 = 1
    private static let firstConnection: UInt64 = 2
    /// A client beyond this waits in the backlog until another one leaves.
    private static let connectionsAtMost = 10_000

    init(
        control: LoopControl, model: GatewayCell, context: TLSContext, address: SocketAddress
    ) throws(SocketError) {
        let epoll = try Epoll()
        let listener = try Listener(on: address)
        try epoll.add(listener.descriptor, .read, token: Self.listenerToken)
        try epoll.add(control.wake.descriptor, .read, token: Self.wakeToken)
        self.control = control
        self.model = model
        self.context = context
        self.epoll = epoll
        self.listener = listener
    }

    var address: SocketAddress { listener.address }

    mutating func run() {
        var events: [Epoll.Event] = []
        while !control.with({ $0.isStopping }) {
            do { try epoll.wait(timeoutMilliseconds: isAcceptPaused ? 100 : nil, into: &events) } catch { break }
            if isAcceptPaused { resumeAccepting() }
            for event in events {
                switch event.token {
                case Self.wakeToken: control.wake.drain()
                case Self.listenerToken: acceptAll()
                default: advance(event.token)
                }
            }
        }
        for connection in connections.values { connection.leave() }
    }

    private mutating func acceptAll() {
        while connections.count < Self.connectionsAtMost {
            do {
                guard let socket = try listener.accept() else { return }
                // A client that cannot be served is dropped; the others go on.
                guard let tls = try? TLSConnection.server(context, socket: socket) else { continue }
                let connection = ServedConnection(tls, model: model)
                let token = nextToken
                nextToken += 1
                try epoll.add(connection.descriptor, .read, token: token)
                connections[token] = connection
                note()
            } catch {
                // Out of descriptors: the client still waits, and the listener would stay readable.
                pauseAccepting()
                return
            }
        }
        pauseAccepting()
    }

    private mutating func pauseAccepting() {
        isAcceptPaused = true
        try? epoll.modify(listener.descriptor, [], token: Self.listenerToken)
    }

    private mutating func resumeAccepting() {
        isAcceptPaused = false
        try? epoll.modify(listener.descriptor, .read, token: Self.listenerToken)
    }

    private mutating func advance(_ token: UInt64) {
        guard let connection = connections[token] else { return }
        let before = connection.wants
        guard connection.advance(using: &buffer) else {
            connections[token] = nil
            note()
            return
        }
        if connection.wants != before {
            try? epoll.modify(connection.descriptor, connection.wants, token: token)
        }
    }

    private func note() {
        let count = connections.count
        control.with { $0.connections = count }
    }
}
