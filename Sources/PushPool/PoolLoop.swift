import CardRules
import Lanes
import PushWire
import TLS

/// The I/O thread's loop: takes pushes from the mailbox, spreads them over connections, brings verdicts home.
struct PoolLoop: ~Copyable {
    private let configuration: PushPool.Configuration
    private let clock: any WallClock
    private let mailbox: PoolMailbox
    private let context: TLSContext
    private var tokens: ProviderTokens
    private let epoll: Epoll
    private var groups: [Gateway: Group] = [:]
    private var nextToken = PoolLoop.wakeToken + 1
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var answers: [ObjectIdentifier: (sink: any VerdictSink, answers: [PushAnswer])] = [:]

    private static let wakeToken: UInt64 = 0
    /// How often a push that was certainly not sent goes again.
    private static let returnsAtMost = 3

    /// One connection group: a gateway with one key (G6).
    private struct Group {
        let endpoint: PushPool.Endpoint
        var queue = PoolQueue()
        var connections: [UInt64: PoolConnection] = [:]
        var backoffSeconds: Double = 0
        var openAgainAt = WallTime.distantPast
    }

    init(
        configuration: PushPool.Configuration, clock: any WallClock, mailbox: PoolMailbox, context: TLSContext,
        tokens: ProviderTokens, epoll: consuming Epoll
    ) {
        self.configuration = configuration
        self.clock = clock
        self.mailbox = mailbox
        self.context = context
        self.tokens = tokens
        self.epoll = epoll
        for (gateway, endpoint) in configuration.gateways { groups[gateway] = Group(endpoint: endpoint) }
    }

    mutating func run() {
        var events: [Epoll.Event] = []
        guard (try? epoll.add(mailbox.wake.descriptor, .read, token: Self.wakeToken)) != nil else {
            mailbox.refuseAll()
            return
        }
        while true {
            do { try epoll.wait(timeoutMilliseconds: isBusy ? 50 : nil, into: &events) } catch { break }
            for event in events where event.token == Self.wakeToken { mailbox.wake.drain() }
            takePushes()
            for event in events where event.token != Self.wakeToken { advance(event.token) }
            expire()
            for gateway in Gateway.allCases { send(to: gateway) }
            giveAnswers()
            if mailbox.isStopping, !isBusy { break }
        }
        for gateway in groups.keys {
            for connection in (groups[gateway]?.connections ?? [:]).values { connection.close() }
        }
        mailbox.refuseAll()
    }

    private var isBusy: Bool {
        groups.values.contains { group in
            group.queue.count > 0 || group.connections.values.contains { $0.inFlight > 0 }
        }
    }

    private mutating func takePushes() {
        let deadline = clock.now.advanced(bySeconds: configuration.timeoutSeconds)
        for push in mailbox.takeAll() {
            let gateway = push.request.address.gateway
            guard let waiting = groups[gateway]?.queue.count, waiting < configuration.maxWaiting else {
                answer(push, .notSent)
                continue
            }
            groups[gateway]?.queue.append(Flight(push: push, deadline: deadline))
        }
    }

    // MARK: - Connections

    private mutating func advance(_ token: UInt64) {
        for gateway in Gateway.allCases {
            guard let connection = groups[gateway]?.connections[token] else { continue }
            let before = connection.wants
            var outcome = PoolConnection.Outcome()
            let isOpen = connection.advance(using: &buffer, &outcome)
            settle(outcome, gateway)
            if !isOpen {
                lose(token, gateway, hadAnswer: outcome.hasAnswer)
            } else if connection.wants != before {
                try? epoll.modify(connection.descriptor, connection.wants, token: token)
            }
        }
    }

    /// A connection is gone. One that never answered makes the next wait longer (G6).
    private mutating func lose(_ token: UInt64, _ gateway: Gateway, hadAnswer: Bool) {
        groups[gateway]?.connections[token] = nil
        guard !hadAnswer, let group = groups[gateway] else { return }
        let seconds = max(configuration.backoffSeconds, min(group.backoffSeconds * 2, configuration.backoffMaxSeconds))
        groups[gateway]?.backoffSeconds = seconds
        groups[gateway]?.openAgainAt = clock.now.advanced(bySeconds: seconds)
    }

    private mutating func open(_ gateway: Gateway) {
        guard let group = groups[gateway], clock.now >= group.openAgainAt else { return }
        let endpoint = group.endpoint
        let token = nextToken
        nextToken += 1
        do {
            guard let address = try SocketAddress.resolve(host: endpoint.host, port: endpoint.port).first else { return }
            let tls = try TLSConnection.client(context, host: endpoint.host, socket: try Socket.connect(to: address))
            let authority = endpoint.port == 443 ? endpoint.host : "\(endpoint.host):\(endpoint.port)"
            let connection = PoolConnection(tls, authority: authority)
            try epoll.add(connection.descriptor, connection.wants, token: token)
            groups[gateway]?.connections[token] = connection
        } catch {
            lose(token, gateway, hadAnswer: false)
        }
    }

    // MARK: - Sending

    private mutating func send(to gateway: Gateway) {
        guard let group = groups[gateway] else { return }
        if mailbox.isStopping { refuseWaiting(gateway) }
        let usable = group.connections.values.count { !$0.isDraining }
        if let waiting = groups[gateway]?.queue.count, waiting > 0, usable < wanted(waiting) { open(gateway) }
        guard (groups[gateway]?.queue.count ?? 0) > 0, let token = tokens.token(at: clock.now) else { return }
        for (number, connection) in group.connections.sorted(by: { $0.key < $1.key }) {
            var hasSubmitted = false
            while connection.hasRoom(maxStreams: configuration.maxStreams), let flight = groups[gateway]?.queue.popFirst() {
                if connection.submit(flight, token: token) {
                    hasSubmitted = true
                } else {
                    giveBack(flight, gateway)
                    connection.drain()
                }
            }
            guard hasSubmitted else { continue }
            let before = connection.wants
            var outcome = PoolConnection.Outcome()
            let isOpen = connection.flush(&outcome)
            settle(outcome, gateway)
            if !isOpen {
                lose(number, gateway, hadAnswer: true)
            } else if connection.wants != before {
                try? epoll.modify(connection.descriptor, connection.wants, token: number)
            }
        }
    }

    /// One connection is enough for little.
    private func wanted(_ waiting: Int) -> Int { waiting > 200 ? configuration.connections : 1 }

    private mutating func settle(_ outcome: PoolConnection.Outcome, _ gateway: Gateway) {
        if outcome.hasAnswer { groups[gateway]?.backoffSeconds = 0 }
        if outcome.isTokenExpired { tokens.expire(at: clock.now) }
        for (flight, verdict) in outcome.verdicts { answer(flight.push, verdict) }
        for flight in outcome.returned { giveBack(flight, gateway) }
    }

    /// Certainly not sent: again, on whatever connection has room, a few times.
    private mutating func giveBack(_ flight: Flight, _ gateway: Gateway) {
        var flight = flight
        flight.returns += 1
        guard flight.returns <= PoolLoop.returnsAtMost, !mailbox.isStopping else {
            answer(flight.push, .notSent)
            return
        }
        groups[gateway]?.queue.append(flight)
    }

    private mutating func refuseWaiting(_ gateway: Gateway) {
        while let flight = groups[gateway]?.queue.popFirst() { answer(flight.push, .notSent) }
    }

    private mutating func expire() {
        let now = clock.now
        for gateway in Gateway.allCases {
            guard let group = groups[gateway] else { continue }
            if group.queue.count > 0, let expired = groups[gateway]?.queue.removeExpired(at: now) {
                for flight in expired { answer(flight.push, .notSent) }
            }
            for (token, connection) in group.connections {
                var outcome = PoolConnection.Outcome()
                connection.expire(at: now, &outcome)
                settle(outcome, gateway)
                guard connection.isIdleAndDraining else { continue }
                connection.close()
                groups[gateway]?.connections[token] = nil
            }
        }
    }

    // MARK: - Verdicts

    private mutating func answer(_ push: OutgoingPush, _ verdict: Verdict) {
        let id = ObjectIdentifier(push.sink)
        answers[id, default: (push.sink, [])].answers.append(PushAnswer(ticket: push.ticket, verdict: verdict))
    }

    private mutating func giveAnswers() {
        for (sink, batch) in answers.values { sink.take(batch) }
        answers.removeAll(keepingCapacity: true)
    }
}
