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
        var orders: [ConnectionOrder] = []
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
    /// What the epoll set waits for, where it is not reading alone.
    private var registered: [UInt64: Epoll.Interest] = [:]
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
            let isWaiting = connections.values.contains(where: \.isWaiting)
            let patience: Int32? = isWaiting ? 5 : isAcceptPaused ? 100 : nil
            do { try epoll.wait(timeoutMilliseconds: patience, into: &events) } catch { break }
            if isAcceptPaused { resumeAccepting() }
            for event in events {
                switch event.token {
                case Self.wakeToken:
                    control.wake.drain()
                    obey()
                case Self.listenerToken: acceptAll()
                default: advance(event.token)
                }
            }
            if isWaiting { for (token, connection) in connections where connection.isWaiting { advance(token) } }
        }
        for connection in connections.values { connection.leave() }
    }

    private mutating func obey() {
        let orders = control.with { state in
            defer { state.orders = [] }
            return state.orders
        }
        for order in orders {
            for (token, connection) in connections {
                let isOpen = connection.take(order, using: &buffer)
                settle(token, connection, isOpen: isOpen)
            }
        }
    }

    private mutating func acceptAll() {
        while connections.count < Self.connectionsAtMost {
            do {
                guard let socket = try listener.accept() else { return }
                guard model.mayOpen() else { continue }
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
        let isOpen = connection.advance(using: &buffer)
        settle(token, connection, isOpen: isOpen)
    }

    private mutating func settle(_ token: UInt64, _ connection: ServedConnection, isOpen: Bool) {
        guard isOpen else {
            connections[token] = nil
            registered[token] = nil
            note()
            return
        }
        guard connection.wants != registered[token] ?? .read else { return }
        registered[token] = connection.wants
        try? epoll.modify(connection.descriptor, connection.wants, token: token)
    }

    private func note() {
        let count = connections.count
        control.with { $0.connections = count }
    }
}
