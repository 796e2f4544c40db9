import CardRules
import HTTP2
import Lanes
import PushWire
import TLS

/// One connection to a gateway: TLS, the HTTP/2 session and the pushes in flight on it. Used on the I/O thread.
final class PoolConnection {
    private let tls: TLSConnection
    private let authority: [UInt8]
    private var session: ClientSession?
    private var flights: [UInt64: Flight] = [:]
    private var nextTag: UInt64 = 0
    private var outgoing: [UInt8] = []
    private var written = 0
    private var events: [ClientEvent] = []
    private var block = HeaderBlock()
    private var fields: [HeaderField] = []
    /// G6: one request goes first and is awaited.
    private var isProven = false
    /// No new requests: GOAWAY, a request that timed out, or an old provider token.
    private(set) var isDraining = false
    private(set) var wants: Epoll.Interest = .write

    var descriptor: Int32 { tls.descriptor }
    var inFlight: Int { flights.count }

    /// What became of pushes in one round.
    struct Outcome {
        var verdicts: [(Flight, Verdict)] = []
        /// Certainly not sent: to go again on another connection.
        var returned: [Flight] = []
        var isTokenExpired = false
        /// The peer answered something: the way to the gateway is good.
        var hasAnswer = false
    }

    init(_ tls: TLSConnection, authority: String) {
        self.tls = tls
        self.authority = Array(authority.utf8)
    }

    /// Whether another push may be submitted now (G6).
    func hasRoom(maxStreams: Int) -> Bool {
        guard let session, !isDraining, session.canSubmit else { return false }
        return isProven ? flights.count < maxStreams : flights.isEmpty
    }

    var isIdleAndDraining: Bool { isDraining && flights.isEmpty }

    func drain() { isDraining = true }

    /// - Returns: `false` when the session took it after all not: it was not sent.
    func submit(_ flight: Flight, token: ProviderToken) -> Bool {
        guard let session else { return false }
        fields.removeAll(keepingCapacity: true)
        block.removeAll()
        appendHeaders(of: flight.push.request, providerToken: token, authority: authority, to: &fields)
        for field in fields { block.append(field.name, field.value, field.indexing.forSession) }
        let tag = nextTag
        nextTag += 1
        do { _ = try session.submit(block, body: flight.push.request.payload, tag: tag) } catch { return false }
        flights[tag] = flight
        return true
    }

    /// Reads and writes what can be.
    /// - Returns: `false` when the connection is over; its pushes are settled then.
    func advance(using buffer: inout [UInt8], _ outcome: inout Outcome) -> Bool {
        do {
            guard let session = try established() else { return true }
            var isOpen = try read(session, &buffer)
            settle(session, &outcome)
            isOpen = try flush(session) && isOpen
            settle(session, &outcome)
            wants = written < outgoing.count ? [.read, .write] : .read
            if isOpen, session.wantsRead || session.wantsWrite || written < outgoing.count { return true }
        } catch {
            // The text of the failure belongs to the operator's log, which comes with the daemon.
        }
        abandon(&outcome)
        return false
    }

    /// Writes what was submitted.
    func flush(_ outcome: inout Outcome) -> Bool {
        guard let session else { return true }
        do {
            if try flush(session) {
                wants = written < outgoing.count ? [.read, .write] : .read
                return true
            }
        } catch {}
        abandon(&outcome)
        return false
    }

    /// Settles everything: what left whole is unknown, the rest was not sent.
    func abandon(_ outcome: inout Outcome) {
        if let session {
            session.abandon(acceptedBytes: session.producedBytes - UInt64(outgoing.count - written))
            settle(session, &outcome)
        }
        for flight in flights.values { outcome.returned.append(flight) }
        flights = [:]
    }

    /// G6: requests past their deadline are unknown, and the connection takes no more.
    func expire(at now: WallTime, _ outcome: inout Outcome) {
        for (tag, flight) in flights where flight.deadline <= now {
            flights[tag] = nil
            outcome.verdicts.append((flight, .unknown))
            isDraining = true
        }
    }

    func close() { tls.shutdown() }

    private func established() throws -> ClientSession? {
        if let session { return session }
        switch try tls.handshake() {
        case .wantsRead: wants = .read
        case .wantsWrite: wants = .write
        case .finished:
            let made = try ClientSession()
            session = made
            return made
        }
        return nil
    }

    private func read(_ session: ClientSession, _ buffer: inout [UInt8]) throws -> Bool {
        while true {
            var span = buffer.mutableSpan
            switch try tls.read(into: &span) {
            case .bytes(let count):
                let bytes = buffer.span
                try session.receive(bytes.extracting(first: count))
            case .wantsRead, .wantsWrite: return true
            case .closed: return false
            }
        }
    }

    private func flush(_ session: ClientSession) throws -> Bool {
        while true {
            if written == outgoing.count {
                outgoing.removeAll(keepingCapacity: true)
                written = 0
                try session.collect(into: &outgoing)
                if outgoing.isEmpty { return true }
            }
            let bytes = outgoing
            switch try tls.write(bytes.span.extracting(written..<bytes.count)) {
            case .bytes(let count): written += count
            case .wantsRead, .wantsWrite: return true
            case .closed: return false
            }
        }
    }

    private func settle(_ session: ClientSession, _ outcome: inout Outcome) {
        session.takeEvents(into: &events)
        for event in events {
            switch event {
            case .closed(let end):
                guard let flight = flights.removeValue(forKey: end.tag) else { continue }
                settle(flight, end.outcome, &outcome)
            case .goaway, .failed: isDraining = true
            case .settings, .pong: break
            }
        }
    }

    private func settle(_ flight: Flight, _ end: RequestOutcome, _ outcome: inout Outcome) {
        switch end {
        case .answered(let response):
            isProven = true
            outcome.hasAnswer = true
            let verdict = verdict(status: response.status, body: response.body)
            if case .refused(let refusal) = verdict, refusal.nextStep == .reconnect {
                // Certainly refused, and not for its own sake: again on a fresh connection (G4).
                isDraining = true
                outcome.isTokenExpired = outcome.isTokenExpired || refusal.reason == .known(.expiredProviderToken)
                if flight.returns == 0 {
                    outcome.returned.append(flight)
                    return
                }
            }
            outcome.verdicts.append((flight, verdict))
        case .notSent: outcome.returned.append(flight)
        case .unknown: outcome.verdicts.append((flight, .unknown))
        }
    }
}

extension HeaderField.Indexing {
    fileprivate var forSession: HeaderBlock.Indexing {
        switch self {
        case .never: .literal
        case .firstTime: .firstTimeOnly
        case .always: .indexed
        }
    }
}
