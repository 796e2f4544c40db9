internal import CardRules
internal import HTTP2
internal import PushWire
internal import TLS

/// The socket, TLS and HTTP/2 session of one connection. Carries out, and reports what happened; decides nothing. Used on
/// the pool's thread.
final class PoolConnection {
    /// In the epoll set; never used twice.
    let number: UInt64
    private let tls: TLSConnection
    private var session: ClientSession?
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var events: [ClientEvent] = []
    /// The header fields that are the same in one push after the other, and whose they are.
    private var shared = HeaderBlock()
    private var sharedTopic: String?
    private var sharedToken: [UInt8] = []
    private var registered: Epoll.Interest = .write
    private var handshakeWants: Epoll.Interest = .write
    private var isNewlyEstablished = false
    private var hasReadDate = false
    private var pings: UInt64 = 0

    /// The socket or the session can do no more: `finish` says what became of the rest.
    private(set) var isBroken = false
    private var failure: String?

    var descriptor: Int32 { tls.descriptor }

    /// Begins to connect: add `descriptor` to the epoll set for writing.
    init(number: UInt64, context: TLSContext, host: String, address: SocketAddress) throws {
        self.number = number
        tls = try TLSConnection.client(context, host: host, socket: try Socket.connect(to: address))
    }

    /// Reads what is there. Call when the descriptor is ready; afterwards `takeEvents`.
    /// - Parameter isEnding: the peer's end is in the socket. It is read at once, before another push is written: one
    ///   written to a peer that has gone is unknown and not "not sent" (L2).
    func advance(isEnding: Bool, using buffer: inout [UInt8]) {
        guard !isBroken else { return }
        do {
            guard let session = try established() else { return }
            try read(into: session, toEnd: isEnding, using: &buffer)
        } catch {
            fail("\(error)")
        }
    }

    enum Submission {
        case taken
        /// The session takes nothing more: it was not sent.
        case noRoom
        /// No connection would take it, for its headers are no headers.
        case unsendable
    }

    /// - Parameters:
    ///   - tag: comes back with the request's end.
    ///   - own: kept memory.
    func submit(
        _ request: PushRequest, token: ProviderToken, authority: [UInt8], tag: UInt64, using own: inout OwnHeaders
    ) -> Submission {
        guard let session, !isBroken else { return .noRoom }
        guard share(token, topic: request.topic, authority: authority), own.fill(with: request) else {
            return .unsendable
        }
        do {
            try session.submit(own.block, with: shared, body: request.payload, tag: tag)
            return .taken
        } catch {
            return .noRoom
        }
    }

    /// - Returns: whether these can be headers.
    private func share(_ token: ProviderToken, topic: String, authority: [UInt8]) -> Bool {
        if sharedTopic == topic, sharedToken == token.authorization { return true }
        var block = HeaderBlock()
        var isWhole = true
        forEachSharedHeader(topic: topic, providerToken: token, authority: authority) { name, value, indexing in
            if !block.append(name, value, HeaderBlock.Indexing(indexing)) { isWhole = false }
        }
        if isWhole { (shared, sharedTopic, sharedToken) = (block, topic, token.authorization) }
        return isWhole
    }

    /// - Returns: whether the whole request was handed to the socket, or may have been; else it will never be.
    func giveUp(tag: UInt64) -> Bool {
        guard let session, !isBroken else { return true }
        return session.giveUp(tag: tag)
    }

    func ping() {
        pings += 1
        try? session?.ping(pings)
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
                switch try write() {
                case .bytes(let count): sent += count
                case .wantsRead, .wantsWrite: return
                case .closed: return fail(nil)
                }
            }
            if !session.wantsRead, !session.wantsWrite { fail(nil) }
        } catch {
            fail("\(error)")
        }
    }

    private func write() throws(TLSError) -> Transfer {
        let bytes = outgoing  // a reference more, no copy: the span must not outlive what it looks into
        return try tls.write(bytes.span.extracting(sent..<bytes.count))
    }

    /// Reports what happened since the last call, in its order. A broken connection also says what became of its open
    /// requests, and that it is lost.
    func takeEvents(_ report: (PoolEvent) -> Void) {
        if isNewlyEstablished {
            isNewlyEstablished = false
            report(.established(number))
        }
        if isBroken, let session {
            session.abandon(acceptedBytes: session.producedBytes - UInt64(outgoing.count - sent))
        }
        if let session {
            session.takeEvents(into: &events)
            for event in events { pass(event, report) }
        }
        if isBroken { report(.lost(number, text: failure)) }
    }

    private func pass(_ event: ClientEvent, _ report: (PoolEvent) -> Void) {
        switch event {
        case .settings(let streams): report(.settings(number, streams: streams))
        case .closed(let end):
            let (push, ticket) = PushID.parts(ofTag: end.tag)
            switch end.outcome {
            case .notSent: report(.notSent(push, ticket: ticket))
            case .unknown: report(.unknown(push, ticket: ticket))
            case .answered(let response):
                let answer = PoolAnswer(
                    verdict: verdict(status: response.status, body: response.body), peerSeconds: date(of: response))
                report(.answered(push, ticket: ticket, answer))
            }
        case .goaway(_, let code, let debug):
            report(.goaway(number, code: code.description, text: printable(debug)))
        case .pong: report(.pong(number))
        case .failed(let error): report(.failed(number, text: error.description))
        }
    }

    /// Of the first answer only.
    private func date(of response: Response) -> Int64? {
        guard !hasReadDate else { return nil }
        hasReadDate = true
        session?.keepsHeaders = false  // nothing else is read from them
        return response.headers.text(of: "date").flatMap { HTTPDate.unixSeconds($0) }
    }

    /// Says goodbye as far as that goes, and ends it. With bytes left no goodbye: they hold requests that nobody will wait
    /// for.
    func close() {
        if let session, !isBroken, outgoing.count == sent, (try? session.terminate()) != nil { flush() }
        tls.shutdown()
        isBroken = true
    }

    /// Tells the epoll set what to wait for.
    func register(in epoll: borrowing Epoll) {
        let wanted: Epoll.Interest = session == nil ? handshakeWants : sent < outgoing.count ? [.read, .write] : .read
        guard wanted != registered, !isBroken else { return }
        registered = wanted
        do { try epoll.modify(descriptor, wanted, token: number) } catch { fail("\(error)") }
    }

    private func established() throws -> ClientSession? {
        if let session { return session }
        switch try tls.handshake() {
        case .wantsRead: handshakeWants = .read
        case .wantsWrite: handshakeWants = .write
        case .finished:
            let made = try ClientSession()
            session = made
            isNewlyEstablished = true
            return made
        }
        return nil
    }

    private func read(into session: ClientSession, toEnd: Bool, using buffer: inout [UInt8]) throws {
        while true {
            var span = buffer.mutableSpan
            switch try tls.read(into: &span) {
            case .bytes(let count):
                let bytes = buffer.span
                try session.receive(bytes.extracting(first: count))
                guard toEnd || tls.holdsUnread else { return }
            case .wantsRead, .wantsWrite: return
            case .closed: return fail(session.remoteMaxStreams == nil ? "the peer closed the connection" : nil)
            }
        }
    }

    private func fail(_ text: String?) {
        guard !isBroken else { return }
        isBroken = true
        failure = text
    }
}

/// Of a GOAWAY's debug data what an operator can read (ref T17: not always JSON).
func printable(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.prefix(256).filter { (0x20..<0x7f).contains($0) }, as: UTF8.self)
}

/// The header fields that each push has for itself, in kept memory.
struct OwnHeaders {
    private(set) var block = HeaderBlock()
    private var scratch = HeaderScratch()

    /// - Returns: whether all of them can be headers.
    mutating func fill(with request: PushRequest) -> Bool {
        block.removeAll()
        var isWhole = true
        forEachOwnHeader(of: request, scratch: &scratch) { name, value, indexing in
            if !block.append(name, value, HeaderBlock.Indexing(indexing)) { isWhole = false }
        }
        return isWhole
    }
}

extension PushID {
    /// Place and ticket in one number, as a session's tag.
    func tag(_ ticket: UInt32) -> UInt64 { UInt64(ticket) << 32 | UInt64(UInt32(truncatingIfNeeded: place)) }

    static func parts(ofTag tag: UInt64) -> (PushID, UInt32) {
        (PushID(place: Int(UInt32(truncatingIfNeeded: tag))), UInt32(truncatingIfNeeded: tag >> 32))
    }
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
