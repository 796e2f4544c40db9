internal import CardRules
internal import HTTP2
internal import Synchronization
internal import TLS

/// One client's connection: TLS, the HTTP/2 session, and what the model remembers of it. Used on its loop's thread.
final class ServedConnection {
    private let tls: TLSConnection
    private let model: GatewayCell
    private var session: ServerSession?
    private var memory: GatewayConnection
    private var announced: Int
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var events: [ServerEvent] = []
    private var isLeaving = false
    private var isEnding = false
    /// The last stream that a GOAWAY promised to have taken up: what comes above it is dropped, also what crosses it.
    private var lastPromised = Int32.max
    /// Answers that take their time, in the order of their requests (ref G27).
    private var later: [(due: WallTime, stream: Int32, answer: GatewayAnswer)] = []
    private(set) var wants: Epoll.Interest = .read

    var descriptor: Int32 { tls.descriptor }
    /// Time alone changes something.
    var isWaiting: Bool { !later.isEmpty }

    init(_ tls: TLSConnection, model: GatewayCell) {
        self.tls = tls
        self.model = model
        memory = model.openConnection()
        announced = memory.streamLimit
    }

    /// Does what can be done now.
    /// - Parameter buffer: for reading; shared by the connections of a loop.
    /// - Returns: false when the connection is over.
    func advance(using buffer: inout [UInt8]) -> Bool {
        do {
            guard let session = try established() else { return true }
            var isOpen = try read(into: session, using: &buffer)
            try answerDue(of: session)
            // Settings may have changed from outside; also after the last request was answered.
            isOpen = try flush(session) && isOpen
            wants = sent < outgoing.count ? [.read, .write] : .read
            return isOpen && !isEnding && (session.wantsRead || session.wantsWrite || sent < outgoing.count)
        } catch {
            return false
        }
    }

    /// Says goodbye: GOAWAY with the reason of a server that leaves (ref R-table, 503 aside), as far as it can be sent.
    func leave() {
        guard let session else { return }
        try? session.goaway(debug: Array(#"{"reason":"Shutdown"}"#.utf8))
        _ = try? flush(session)
        tls.shutdown()
    }

    private func established() throws -> ServerSession? {
        if let session { return session }
        switch try tls.handshake() {
        case .wantsRead: wants = .read
        case .wantsWrite: wants = .write
        case .finished:
            let made = try ServerSession(maxConcurrentStreams: UInt32(clamping: announced))
            session = made
            return made
        }
        return nil
    }

    private func read(into session: ServerSession, using buffer: inout [UInt8]) throws -> Bool {
        while true {
            var span = buffer.mutableSpan
            switch try tls.read(into: &span) {
            case .bytes(let count):
                let bytes = buffer.span
                try session.receive(bytes.extracting(first: count))
                try answerAll(of: session)
                // Answers leave between reads, so that a client that never stops sending is answered too.
                if outgoing.count - sent < Self.outgoingAtMost { _ = try flush(session) }
            case .wantsRead, .wantsWrite: return true
            case .closed: return false
            }
        }
    }

    private func answerAll(of session: ServerSession) throws {
        session.takeEvents(into: &events)
        for event in events {
            switch event {
            case .request(let request):
                if request.stream <= lastPromised { try answer(request, of: session) }
            case .goaway: isLeaving = true
            case .beyondLimit where model.excess == .goAway:
                try sayGoodbye("Maximum active streams violated for this endpoint.", of: session)
            case .cancelled, .beyondLimit, .settingsAcknowledged, .pong, .failed: break
            }
        }
        if isLeaving, session.openStreams == 0 { try session.goaway() }
    }

    private func answer(_ request: ServerRequest, of session: ServerSession) throws {
        let answer = model.answer(GatewayRequest(request), on: &memory)
        // The new limit goes out before the answer that earned it, so that a client that has the answer has both.
        try announceLimit(of: session)
        guard answer.delaySeconds <= 0 else {
            later.append((model.time.advanced(bySeconds: answer.delaySeconds), request.stream, answer))
            return
        }
        try write(answer, to: request.stream, of: session)
    }

    private func answerDue(of session: ServerSession) throws {
        guard !later.isEmpty else { return }
        let now = model.time
        let due = later.filter { $0.due <= now }
        later.removeAll { $0.due <= now }
        for entry in due { try write(entry.answer, to: entry.stream, of: session) }
        if isLeaving, later.isEmpty, session.openStreams == 0 { try session.goaway() }
    }

    private func write(_ answer: GatewayAnswer, to stream: Int32, of session: ServerSession) throws {
        switch answer.effect {
        case .silence: return
        case .reset(let code): return try session.reset(stream, ErrorCode(rawValue: code))
        case .hangUp(let withReset):
            _ = try flush(session)
            if withReset { tls.closeWithReset() } else { tls.shutdown() }
            isEnding = true
            return
        case .none, .goAway: break
        }
        try session.respond(to: stream, status: answer.status, headers: headerBlock(of: answer), body: answer.body)
        if case .goAway(let reason) = answer.effect {
            try sayGoodbye("{\"reason\":\"\(reason)\"}", of: session)
        }
    }

    /// - Parameter last: `nil`: all that were taken up.
    private func sayGoodbye(_ text: String, last: Int32? = nil, of session: ServerSession) throws {
        lastPromised = min(lastPromised, last ?? session.lastStream)
        try session.goaway(lastStream: lastPromised, debug: Array(text.utf8))
        isLeaving = true
    }

    /// - Returns: false when the connection is over.
    func take(_ order: ConnectionOrder, using buffer: inout [UInt8]) -> Bool {
        guard let session else { return true }
        do {
            switch order {
            case .announce(let streams):
                memory.streamLimit = streams
                try announceLimit(of: session)
            case .goAway(let reason, let unprocessed):
                let last = max(0, session.lastStream - 2 * Int32(clamping: unprocessed))
                try sayGoodbye("{\"reason\":\"\(reason)\"}", last: last, of: session)
                later.removeAll { $0.stream > last }
            case .goAwayText(let text): try sayGoodbye(text, of: session)
            case .close:
                tls.shutdown()
                return false
            case .reset:
                tls.closeWithReset()
                return false
            }
        } catch {
            return false
        }
        return advance(using: &buffer)
    }

    private func announceLimit(of session: ServerSession) throws {
        guard memory.streamLimit != announced else { return }
        announced = memory.streamLimit
        try session.announce(maxConcurrentStreams: UInt32(clamping: announced))
    }

    /// - Returns: false when the client has gone.
    private func flush(_ session: ServerSession) throws -> Bool {
        while true {
            if sent == outgoing.count {
                outgoing.removeAll(keepingCapacity: true)
                sent = 0
                try session.collect(into: &outgoing, upTo: Self.recordBytes)
                if outgoing.isEmpty { return true }
            }
            let bytes = outgoing
            switch try tls.write(bytes.span.extracting(sent..<bytes.count)) {
            case .bytes(let count): sent += count
            case .wantsRead, .wantsWrite: return true
            case .closed: return false
            }
        }
    }

    /// One TLS record.
    private static let recordBytes = 16_384
    private static let outgoingAtMost = 1 << 20
}

/// The model of one gateway with the lock that guards it, its backend and its clock.
final class GatewayCell: Sendable {
    private let model: Mutex<GatewayModel>
    private let backend: any GatewayBackend
    private let now: @Sendable () -> WallTime

    init(_ model: GatewayModel, backend: any GatewayBackend, now: @escaping @Sendable () -> WallTime) {
        self.model = Mutex(model)
        self.backend = backend
        self.now = now
    }

    func openConnection() -> GatewayConnection { model.withLock { $0.openConnection() } }

    /// G23.
    func mayOpen() -> Bool {
        let now = now()
        return model.withLock { $0.mayOpen(at: now) }
    }

    var time: WallTime { now() }
    var excess: GatewayOptions.Excess { model.withLock { $0.options.excess } }

    func answer(_ request: GatewayRequest, on connection: inout GatewayConnection) -> GatewayAnswer {
        let now = now()
        return model.withLock { backend.serve(request, by: &$0, on: &connection, at: now) }
    }

    func with<Result: Sendable>(_ body: (inout GatewayModel) -> Result) -> Result { model.withLock { body(&$0) } }
}

extension GatewayRequest {
    /// Fields beyond the pseudo-headers keep their order.
    fileprivate init(_ request: ServerRequest) {
        var method = ""
        var path = ""
        var headers: [GatewayHeader] = []
        headers.reserveCapacity(request.headers.count)
        for (name, value) in request.headers.fields {
            switch name {
            case ":method": method = value
            case ":path": path = value
            default: if !name.hasPrefix(":") { headers.append(GatewayHeader(name, value)) }
            }
        }
        self.init(method: method, path: path, headers: headers, body: request.body)
        stream = request.stream
        if request.headers.indexing(of: ":path") != .literal { indexedFields.append(":path") }
        if let indexing = request.headers.indexing(of: "authorization"), indexing != .literal {
            indexedFields.append("authorization")
        }
    }
}

private func headerBlock(of answer: GatewayAnswer) -> HeaderBlock {
    var block = HeaderBlock()
    block.append("apns-id", answer.apnsID, .literal)
    if let uniqueID = answer.uniqueID { block.append("apns-unique-id", uniqueID, .literal) }
    if answer.reason != nil { block.append("content-type", "application/json") }
    if let seconds = answer.retryAfterSeconds { block.append("retry-after", String(seconds), .literal) }
    if let date = answer.date { block.append("date", date, .literal) }
    return block
}
