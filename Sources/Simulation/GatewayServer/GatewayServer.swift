public import CardRules
public import TLS

/// The simulated APNs over the wire: TLS with ALPN h2, one listener and one thread for each environment (ref G1).
///
/// An answer is written after its push has reached the phone. Safe from any thread.
public final class GatewayServer: Sendable {
    /// The certificates that a client must trust, PEM.
    public let certificatePEM: String
    private let listeners: [Gateway: Listening]

    private struct Listening: Sendable {
        let control: LoopControl
        let model: GatewayCell
        let thread: LoopThread
        let address: SocketAddress
    }

    /// Opens both listeners.
    /// - Parameters:
    ///   - identity: what is shown to clients; `ServerIdentity.selfSigned` makes one for 127.0.0.1 and localhost.
    ///   - addresses: `nil` for an environment: loopback, with a port that the system chooses.
    ///   - seed: of the ids that the gateways make.
    ///   - now: the time by which provider tokens and dead tokens are judged.
    /// - Throws: `SocketError` when a listener cannot be opened, `TLSError` when the identity is of no use. Nothing is
    ///   left running then.
    public init(
        backend: any GatewayBackend, identity: ServerIdentity, options: GatewayOptions = GatewayOptions(),
        addresses: [Gateway: SocketAddress] = [:], seed: UInt64, now: @escaping @Sendable () -> WallTime
    ) throws {
        certificatePEM = identity.certificatePEM
        let context = try TLSContext.server(identity)
        var listeners: [Gateway: Listening] = [:]
        do {
            for (place, gateway) in Gateway.allCases.enumerated() {
                let model = GatewayModel(gateway: gateway, options: options, seed: seed &+ UInt64(place))
                listeners[gateway] = try Self.listen(
                    gateway, GatewayCell(model, backend: backend, now: now), context,
                    on: addresses[gateway] ?? .loopback(port: 0))
            }
        } catch {
            for listening in listeners.values { Self.stop(listening) }
            throw error
        }
        self.listeners = listeners
    }

    /// Where an environment listens.
    public func address(of gateway: Gateway) -> SocketAddress? { listeners[gateway]?.address }

    /// `https://127.0.0.1:PORT`, as a configuration wants it.
    public func url(of gateway: Gateway) -> String? { address(of: gateway).map { "https://\($0)" } }

    /// Looks at, or changes, the model of an environment: its options hold from the next request on. Must not block.
    public func withModel<Result: Sendable>(
        of gateway: Gateway, _ body: (inout GatewayModel) -> Result
    ) -> Result? {
        listeners[gateway]?.model.with(body)
    }

    /// Tells all connections of an environment that are open now.
    public func order(_ order: ConnectionOrder, of gateway: Gateway) {
        guard let listening = listeners[gateway] else { return }
        listening.control.with { $0.orders.append(order) }
        listening.control.wake.signal()
    }

    /// G20: a new limit on streams, for those open and those to come.
    public func setStreams(_ streams: Int, of gateway: Gateway) {
        listeners[gateway]?.model.with { $0.options.streamsAfter = streams }
        order(.announce(streams: streams), of: gateway)
    }

    /// Connections open now.
    public func connections(of gateway: Gateway) -> Int {
        listeners[gateway]?.control.with { $0.connections } ?? 0
    }

    /// Says GOAWAY to every client, closes everything and waits for the threads: for threads and `main`, not for tasks.
    /// Further calls do nothing.
    public func stop() {
        for listening in listeners.values { Self.tellToStop(listening) }
        for listening in listeners.values { listening.thread.join() }
    }

    /// The same for tasks.
    public func stopped() async {
        for listening in listeners.values { Self.tellToStop(listening) }
        for listening in listeners.values { await listening.thread.finished() }
    }

    private static func tellToStop(_ listening: Listening) {
        listening.control.with { $0.isStopping = true }
        listening.control.wake.signal()
    }

    private static func stop(_ listening: Listening) {
        tellToStop(listening)
        listening.thread.join()
    }

    private static func listen(
        _ gateway: Gateway, _ model: GatewayCell, _ context: TLSContext, on address: SocketAddress
    ) throws -> Listening {
        let control = try LoopControl()
        let thread = try LoopThread(name: "apns-\(gateway == .production ? "prod" : "sandbox")") {
            do throws(SocketError) {
                var loop = try GatewayLoop(control: control, model: model, context: context, address: address)
                let address = loop.address
                control.with { $0.started = .success(address) }
                control.ready.signal()
                loop.run()
            } catch {
                control.with { $0.started = .failure(error) }
                control.ready.signal()
            }
        }
        let waiting = try Epoll(eventsPerWait: 1)
        try waiting.add(control.ready.descriptor, .read, token: 0)
        var events: [Epoll.Event] = []
        while true {
            if let started = control.with({ $0.started }) {
                return Listening(control: control, model: model, thread: thread, address: try started.get())
            }
            try waiting.wait(timeoutMilliseconds: nil, into: &events)
        }
    }
}
