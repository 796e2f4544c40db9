internal import CardRules
internal import HTTP2
internal import Lanes
internal import PushWire
internal import TLS

/// One connection to a gateway: TCP, TLS, the HTTP/2 session, and the requests in flight. Used on the pool's thread.
final class PoolConnection {
    struct InFlight {
        let held: HeldPush
        let deadline: WallTime
        /// `iat` of the provider token it carries.
        let tokenIssuedAt: Int64
    }

    /// In the epoll set; never used twice.
    let number: UInt64
    let openedAt: WallTime
    private let tls: TLSConnection
    private var session: ClientSession?
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var inFlight: [UInt64: InFlight] = [:]
    private var nextTag: UInt64 = 0
    private var events: [ClientEvent] = []
    private var fields: [HeaderField] = []
    private var block = HeaderBlock()
    /// No deadline in flight is earlier.
    private var earliestDeadline = WallTime.distantFuture
    private var registered: Epoll.Interest = .write

    /// An answer has come: before that, one request at a time (G6).
    private(set) var isProven = false
    /// Takes no more requests; closed when the last in flight is over.
    private(set) var isDraining = false
    /// The socket or the session can do no more.
    private(set) var isBroken = false

    var descriptor: Int32 { tls.descriptor }
    var inFlightCount: Int { inFlight.count }
    /// The peer's first SETTINGS have come.
    var isReady: Bool { session?.remoteMaxStreams != nil }
    /// Nothing is left to do on it.
    var isOver: Bool { isBroken || isDraining && inFlight.isEmpty }

    /// May a request go now? Looks at the newest SETTINGS each time, also when the limit shrank.
    var canTake: Bool {
        guard !isDraining, !isBroken, let session, outgoing.count - sent < Self.unsentAtMost else { return false }
        return session.canSubmit && (isProven || inFlight.isEmpty)
    }

    /// Begins to connect: add `descriptor` to the epoll set for writing.
    init(
        number: UInt64, context: TLSContext, host: String, address: SocketAddress, at now: WallTime
    ) throws {
        self.number = number
        openedAt = now
        tls = try TLSConnection.client(context, host: host, socket: try Socket.connect(to: address))
    }

    /// Reads what is there. Call when the descriptor is ready; afterwards `takeEnds`.
    func advance(using buffer: inout [UInt8]) {
        do {
            guard let session = try established() else { return }
            try read(into: session, using: &buffer)
        } catch {
            isBroken = true
        }
    }

    enum Submission {
        case taken
        /// The session takes nothing more: it was not sent.
        case noRoom
        /// No connection would take it, for its headers are no headers.
        case unsendable
    }

    func submit(
        _ held: HeldPush, token: ProviderToken, authority: [UInt8], deadline: WallTime
    ) -> Submission {
        guard let session else { return .noRoom }
        fields.removeAll(keepingCapacity: true)
        block.removeAll()
        appendHeaders(of: held.push.request, providerToken: token, authority: authority, to: &fields)
        for field in fields where !block.append(field.name, field.value, HeaderBlock.Indexing(field.indexing)) {
            return .unsendable
        }
        do {
            try session.submit(block, body: held.push.request.payload, tag: nextTag)
        } catch {
            return .noRoom
        }
        inFlight[nextTag] = InFlight(held: held, deadline: deadline, tokenIssuedAt: token.claims.issuedAt)
        nextTag += 1
        earliestDeadline = min(earliestDeadline, deadline)
        return .taken
    }

    /// Writes as much as the socket takes.
    func flush() {
        guard let session, !isBroken else { return }
        do {
            while true {
                if sent == outgoing.count {
                    outgoing.removeAll(keepingCapacity: true)
                    sent = 0
                    try session.collect(into: &outgoing)
                    if outgoing.isEmpty { break }
                }
                let bytes = outgoing
                switch try tls.write(bytes.span.extracting(sent..<bytes.count)) {
                case .bytes(let count): sent += count
                case .wantsRead, .wantsWrite: return
                case .closed:
                    isBroken = true
                    return
                }
            }
            if !session.wantsRead, !session.wantsWrite { isBroken = true }
        } catch {
            isBroken = true
        }
    }

    /// Hands over each request that ended since the last call.
    func takeEnds(_ take: (InFlight, RequestOutcome) -> Void) {
        guard let session else { return }
        session.takeEvents(into: &events)
        for event in events {
            switch event {
            case .closed(let end):
                if case .answered = end.outcome { isProven = true }
                // One that is no longer here was given up at its deadline.
                if let request = inFlight.removeValue(forKey: end.tag) { take(request, end.outcome) }
            case .goaway, .failed: isDraining = true
            case .settings, .pong: break
            }
        }
        if inFlight.isEmpty { earliestDeadline = .distantFuture }
    }

    /// Gives up on requests past their deadline; the connection is drained then (G6).
    func expire(at now: WallTime, _ take: (InFlight) -> Void) {
        guard earliestDeadline <= now else { return }
        earliestDeadline = .distantFuture
        for (tag, request) in inFlight {
            if request.deadline <= now {
                inFlight[tag] = nil
                isDraining = true
                take(request)
            } else {
                earliestDeadline = min(earliestDeadline, request.deadline)
            }
        }
    }

    func drain() { isDraining = true }

    /// Ends it. What is still in flight is settled by what the socket took: each request is handed over once.
    func close(_ take: (InFlight, RequestOutcome) -> Void) {
        takeEnds(take)
        if let session {
            let unsent = outgoing.count - sent
            session.abandon(acceptedBytes: session.producedBytes - UInt64(unsent))
            takeEnds(take)
            // With bytes left no goodbye: they hold requests that were just settled as not sent.
            if !isBroken, unsent == 0, (try? session.terminate()) != nil { flush() }
        }
        // Nothing is left unless the session lost count; then nobody knows.
        for request in inFlight.values { take(request, .unknown(.connectionLost)) }
        inFlight.removeAll()
        tls.shutdown()
    }

    /// Tells the epoll set what to wait for.
    func register(in epoll: borrowing Epoll) {
        let wanted: Epoll.Interest = session == nil ? handshakeWants : sent < outgoing.count ? [.read, .write] : .read
        guard wanted != registered else { return }
        registered = wanted
        do { try epoll.modify(descriptor, wanted, token: number) } catch { isBroken = true }
    }

    private var handshakeWants: Epoll.Interest = .write

    private func established() throws -> ClientSession? {
        if let session { return session }
        switch try tls.handshake() {
        case .wantsRead: handshakeWants = .read
        case .wantsWrite: handshakeWants = .write
        case .finished:
            let made = try ClientSession()
            session = made
            return made
        }
        return nil
    }

    private func read(into session: ClientSession, using buffer: inout [UInt8]) throws {
        while true {
            var span = buffer.mutableSpan
            switch try tls.read(into: &span) {
            case .bytes(let count):
                let bytes = buffer.span
                try session.receive(bytes.extracting(first: count))
            case .wantsRead, .wantsWrite: return
            case .closed:
                isBroken = true
                return
            }
        }
    }

    /// What waits for the socket; more stays with the group, where another connection can take it.
    private static let unsentAtMost = 262_144
}

extension HeaderBlock.Indexing {
    init(_ indexing: HeaderField.Indexing) {
        self =
            switch indexing {
            case .never: .literal
            case .firstTime: .firstTimeOnly
            case .always: .indexed
            }
    }
}
