public import CardRules
public import Lanes
public import TLS
import Synchronization

/// The pusher port over real connections: HTTP/2 over TLS to both gateways, on an I/O thread of its own.
///
/// Every push ends in exactly one verdict (L2), given to its sink in batches from that thread. What was certainly not
/// sent goes again on another connection; what may have been is `unknown` and never repeated (G6). Safe from any thread.
public final class PushPool: Pusher {
    /// Where a gateway is, and how the pool behaves.
    public struct Configuration: Sendable {
        public var gateways: [Gateway: Endpoint]
        public var trust: TLSContext.Trust
        /// The provider key (.p8), PEM.
        public var keyPEM: String
        public var keyID: String
        public var teamID: String
        /// Per gateway.
        public var connections = 2
        /// Per connection, whatever the gateway allows.
        public var maxStreams = 1000
        /// Pushes waiting for a stream; one more ends as `notSent`.
        public var maxWaiting = 200_000
        /// From the hand-over to the answer, by the injected clock (G6).
        public var timeoutSeconds = 30.0
        /// G4: the provider token is signed again after this ...
        public var tokenMaxSeconds = 3000.0
        /// ... and never sooner than this.
        public var tokenMinSeconds = 1200.0
        /// G6: the wait before a connection is opened again, doubling up to `backoffMaxSeconds`.
        public var backoffSeconds = 0.5
        public var backoffMaxSeconds = 30.0

        public init(
            gateways: [Gateway: Endpoint], trust: TLSContext.Trust, keyPEM: String, keyID: String, teamID: String
        ) {
            self.gateways = gateways
            self.trust = trust
            self.keyPEM = keyPEM
            self.keyID = keyID
            self.teamID = teamID
        }
    }

    public struct Endpoint: Hashable, Sendable {
        public let host: String
        public let port: UInt16

        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    private let mailbox: PoolMailbox
    private let thread: LoopThread

    /// Starts the I/O thread; connections are opened when there is something to send.
    /// - Throws: `KeyError` for a key that is none, `TLSError` or `SocketError` where the system refuses.
    public init(configuration: Configuration, clock: any WallClock) throws {
        let key = try SigningKey(pem: configuration.keyPEM)
        let context = try TLSContext.client(trusting: configuration.trust)
        let mailbox = try PoolMailbox()
        self.mailbox = mailbox
        thread = try LoopThread(name: "push-pool") {
            guard let epoll = try? Epoll() else {
                mailbox.refuseAll()
                return
            }
            var loop = PoolLoop(
                configuration: configuration, clock: clock, mailbox: mailbox, context: context,
                tokens: ProviderTokens(key: key, configuration: configuration), epoll: epoll)
            loop.run()
        }
    }

    public func send(_ pushes: [OutgoingPush]) { mailbox.offer(pushes) }

    /// Takes no more; what waits ends as `notSent`, what is in flight is awaited until its deadline.
    public func stop() async {
        mailbox.stop()
        await thread.finished()
    }
}

/// What crosses from the lanes' threads to the I/O thread.
final class PoolMailbox: Sendable {
    private struct State {
        var pushes: [OutgoingPush] = []
        var isStopping = false
        var isClosed = false
    }

    private let state = Mutex(State())
    let wake: EventSignal

    init() throws(SocketError) { wake = try EventSignal() }

    func offer(_ pushes: [OutgoingPush]) {
        let (isFirst, isRefused) = state.withLock { state in
            guard !state.isStopping, !state.isClosed else { return (false, true) }
            let isFirst = state.pushes.isEmpty
            state.pushes += pushes
            return (isFirst, false)
        }
        if isRefused {
            for push in pushes { push.sink.take([PushAnswer(ticket: push.ticket, verdict: .notSent)]) }
        } else if isFirst {
            wake.signal()
        }
    }

    func stop() {
        state.withLock { $0.isStopping = true }
        wake.signal()
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func takeAll() -> [OutgoingPush] {
        state.withLock { state in
            let all = state.pushes
            state.pushes = []
            return all
        }
    }

    /// The thread could not begin or has ended: nothing more leaves.
    func refuseAll() {
        state.withLock { $0.isClosed = true }
        for push in takeAll() { push.sink.take([PushAnswer(ticket: push.ticket, verdict: .notSent)]) }
    }
}
