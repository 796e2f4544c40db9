internal import CardRules
internal import HTTP2
internal import Lanes
internal import PushWire
internal import TLS

/// What the groups of a pool use in common. Used on the pool's thread.
final class PoolShared {
    let configuration: PushPool.Configuration
    let context: TLSContext
    var tokens: ProviderTokens
    var verdicts = Verdicts()
    /// Requests handed to connections in this turn.
    var sent = 0
    let random: (any RandomSource)?
    private var lastNumber: UInt64 = 0

    init(
        configuration: PushPool.Configuration, context: TLSContext, tokens: ProviderTokens,
        random: (any RandomSource)?
    ) {
        self.random = random
        self.configuration = configuration
        self.context = context
        self.tokens = tokens
    }

    /// Of a connection: from 1 on.
    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}

/// The connections to one gateway, and the pushes that wait for them (G6). Used on the pool's thread.
final class ConnectionGroup {
    let gateway: Gateway
    let endpoint: PushPool.Configuration.Endpoint
    private let shared: PoolShared
    private let authority: [UInt8]
    private var waiting = WaitingPushes()
    private var connections: [PoolConnection] = []
    private var failures = 0
    private var nextAttempt = WallTime.distantPast
    private var addresses: [SocketAddress] = []
    private(set) var isResolving = false
    private var isStopping = false
    private var pushesTaken: UInt64 = 0

    init(_ gateway: Gateway, at endpoint: PushPool.Configuration.Endpoint, shared: PoolShared) {
        self.gateway = gateway
        self.endpoint = endpoint
        self.shared = shared
        authority = endpoint.authority
    }

    /// Deadlines and waits run: the clock must be looked at.
    var isBusy: Bool { !waiting.isEmpty || connections.contains { $0.inFlightCount > 0 || !$0.isReady } }

    func add(_ push: OutgoingPush, at now: WallTime) {
        guard !isStopping else { return shared.verdicts.add(.notSent, for: push) }
        pushesTaken += 1
        let deadline = now.advanced(bySeconds: shared.configuration.timeoutSeconds)
        waiting.append(HeldPush(push: push, deadline: deadline, order: pushesTaken))
    }

    func connection(_ number: UInt64) -> PoolConnection? { connections.first { $0.number == number } }

    /// Reads one connection and settles what it brought.
    func advance(_ connection: PoolConnection, using buffer: inout [UInt8]) {
        connection.advance(using: &buffer)
        connection.takeEnds { settle($0, $1, on: connection) }
    }

    /// A turn after all was read: deadlines, requests out, connections that are over closed, new ones opened.
    func turn(at now: WallTime, in epoll: borrowing Epoll, resolve: (ConnectionGroup) -> Void) {
        waiting.expire(at: now) { shared.verdicts.add(.notSent, for: $0.push) }
        for connection in connections {
            connection.expire(at: now) { shared.verdicts.add(.unknown, for: $0.held.push) }
            let age = now.seconds(since: connection.openedAt)
            if !connection.isReady, age >= shared.configuration.connectSeconds { connection.drain() }
        }
        fill(at: now)
        for connection in connections {
            connection.flush()
            connection.takeEnds { settle($0, $1, on: connection) }
        }
        for connection in connections where connection.isOver { close(connection, at: now) }
        connections.removeAll { $0.isOver }
        if wantsConnection(at: now) { open(at: now, in: epoll, resolve: resolve) }
        for connection in connections { connection.register(in: epoll) }
    }

    func take(resolved: [SocketAddress], at now: WallTime) {
        isResolving = false
        addresses = resolved
        if resolved.isEmpty { noteFailure(at: now) }
    }

    /// What waits ends as not sent, and nothing new is taken.
    func stop() {
        isStopping = true
        while let held = waiting.next() { shared.verdicts.add(.notSent, for: held.push) }
    }

    var hasInFlight: Bool { connections.contains { $0.inFlightCount > 0 } }

    /// Closes all at once: what is in flight ends as the sockets tell.
    func abandon() {
        isStopping = true
        for connection in connections { connection.close { settle($0, $1, on: connection) } }
        connections.removeAll()
        stop()
    }

    // MARK: - Requests

    private func fill(at now: WallTime) {
        while !waiting.isEmpty {
            let free = connections.filter(\.canTake).min { $0.inFlightCount < $1.inFlightCount }
            guard let free, let held = waiting.next() else { return }
            guard let token = try? shared.tokens.current(at: now) else {
                shared.verdicts.add(.notSent, for: held.push)  // a key that cannot sign: nothing has left
                continue
            }
            let deadline = now.advanced(bySeconds: shared.configuration.timeoutSeconds)
            switch free.submit(held, token: token, authority: authority, deadline: deadline) {
            case .taken: shared.sent += 1
            case .unsendable: shared.verdicts.add(.notSent, for: held.push)  // the fault is the push's alone
            case .noRoom:
                free.drain()
                takeBack(held)
            }
        }
    }

    private func settle(_ request: PoolConnection.InFlight, _ outcome: RequestOutcome, on connection: PoolConnection) {
        switch outcome {
        case .notSent: takeBack(request.held)
        case .unknown: shared.verdicts.add(.unknown, for: request.held.push)
        case .answered(let response):
            let verdict = verdict(status: response.status, body: response.body)
            guard case .refused(let refusal) = verdict, isTokenRefusal(refusal.reason) else {
                failures = 0
                return shared.verdicts.add(verdict, for: request.held.push)
            }
            // G4: the connection is closed and another opened; the push was certainly refused, so it may go again.
            connection.drain()
            if refusal.reason == .known(.expiredProviderToken) {
                shared.tokens.wasRefused(issuedAt: request.tokenIssuedAt)
            }
            guard !request.held.wasTokenRefused, !isStopping else {
                return shared.verdicts.add(verdict, for: request.held.push)
            }
            var held = request.held
            held.wasTokenRefused = true
            waiting.giveBack(held)
        }
    }

    private func takeBack(_ held: HeldPush) {
        guard held.moves < HeldPush.movesAtMost, !isStopping else {
            return shared.verdicts.add(.notSent, for: held.push)
        }
        var held = held
        held.moves += 1
        waiting.giveBack(held)
    }

    private func isTokenRefusal(_ reason: RefusalReason) -> Bool {
        reason == .known(.expiredProviderToken) || reason == .known(.tooManyProviderTokenUpdates)
    }

    // MARK: - Connections

    private func wantsConnection(at now: WallTime) -> Bool {
        guard !isStopping, !isResolving, !waiting.isEmpty, isAttemptDue(at: now) else { return false }
        let open = connections.filter { !$0.isDraining }
        // Others follow when the first has proven itself and is not enough.
        return open.count < max(1, shared.configuration.connectionsPerGateway) && open.allSatisfy(\.isProven)
    }

    private func isAttemptDue(at now: WallTime) -> Bool {
        // Further away than any wait: the clock was set back meanwhile.
        now >= nextAttempt || nextAttempt.seconds(since: now) > shared.configuration.backoff.mostSeconds
    }

    private func open(at now: WallTime, in epoll: borrowing Epoll, resolve: (ConnectionGroup) -> Void) {
        if let numeric = SocketAddress(ip: endpoint.host, port: endpoint.port) { addresses = [numeric] }
        guard !addresses.isEmpty else {
            isResolving = true
            return resolve(self)
        }
        let address = addresses.removeFirst()  // the next attempt takes the next one, or asks anew
        do {
            let connection = try PoolConnection(
                number: shared.nextNumber(), context: shared.context, host: endpoint.host, address: address, at: now)
            try epoll.add(connection.descriptor, .write, token: connection.number)
            connections.append(connection)
        } catch {
            noteFailure(at: now)
        }
    }

    private func close(_ connection: PoolConnection, at now: WallTime) {
        connection.close { settle($0, $1, on: connection) }
        // Opening and closing quickly looks like an attack (ref T21), whatever the reason was.
        let wasShort = now.seconds(since: connection.openedAt) < 1
        if wasShort || !connection.isProven { noteFailure(at: now) } else { addresses = [] }
    }

    private func noteFailure(at now: WallTime) {
        failures += 1
        nextAttempt = now.advanced(
            bySeconds: shared.configuration.backoff.seconds(failures: failures, random: shared.random))
    }
}
