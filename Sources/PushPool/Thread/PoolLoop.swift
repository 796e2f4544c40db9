internal import CardRules
internal import Lanes
internal import PushWire
internal import TLS

/// The pool's thread: waits, reads, asks `PoolState` what to do, does it, delivers. Everything but the queue lives here.
struct PoolLoop: ~Copyable {
    private let queue: PoolQueue
    private let clock: any WallClock & SteadyClock
    private let configuration: PushPool.Configuration
    private let context: TLSContext
    private let trace: (any PoolTrace)?
    private let isTraced: Bool
    private var state: PoolState
    private var tokens: ProviderTokens
    /// By the place that the state names.
    private var pushes: [HeldPush?] = []
    private var connections: [UInt64: PoolConnection] = [:]
    /// Connections whose gateway's name is being looked up.
    private var resolving: [UInt64: (group: Int, attempt: Int)] = [:]
    private var verdicts = Verdicts()
    private var counts = PoolSnapshot()
    /// How things stand, and how they stood when it was last said.
    private var standing = PoolStanding()
    private var published: PoolStanding?
    /// Those most frequent by far, until they are written into `counts` at the turn's end.
    private var accepted = PerGateway([Int](repeating: 0, count: PushEvent.allCases.count))
    /// `:authority` of each gateway that there is.
    private let authorities: PerGateway<[UInt8]?>
    private var events: [PoolEvent] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var headers = OwnHeaders()

    /// An object, so that a push is handed on without a copy of all that it consists of.
    private final class HeldPush {
        let push: OutgoingPush
        let takenAt: SteadyTime

        init(_ push: OutgoingPush, at takenAt: SteadyTime) {
            self.push = push
            self.takenAt = takenAt
        }
    }

    private static let wakeToken: UInt64 = 0
    /// While something has a deadline: the injected clock may run faster than the system's.
    private static let lookMilliseconds: Int32 = 50
    /// While connections stand idle: they are pinged, and grow old.
    private static let idleMilliseconds: Int32 = 500
    /// Of one wake-up: what a round brings that asks for another.
    private static let roundsAtMost = 16

    init(
        queue: PoolQueue, configuration: PushPool.Configuration, plan: PoolPlan, keys: [ReadyKey], context: TLSContext,
        clock: any WallClock & SteadyClock, random: (any RandomSource)?, trace: (any PoolTrace)?
    ) {
        self.queue = queue
        self.clock = clock
        self.configuration = configuration
        self.context = context
        self.trace = trace
        isTraced = trace != nil
        var authorities = PerGateway<[UInt8]?>(nil)
        for (gateway, endpoint) in configuration.gateways { authorities[gateway] = endpoint.authority }
        self.authorities = authorities
        tokens = ProviderTokens(keys: keys)
        state = PoolState(
            plan: plan, jitter: JitterSource(random: random), at: PoolTime(steady: clock.uptime, wall: clock.now))
    }

    /// Returns when the pool was stopped, or when the system refuses to wait; each push has its verdict then.
    mutating func run() {
        do {
            let epoll = try Epoll()
            try epoll.add(queue.wake.descriptor, .read, token: Self.wakeToken)
            try turns(epoll)
        } catch {
            // No epoll, no connections: what is held is settled below, and what comes later by the caller.
        }
        let last = queue.close()
        let now = time
        for push in last.pushes + last.refused { settle(HeldPush(push, at: now.steady), .notSent, at: now) }
        state.stop(deadline: now.steady, at: now)
        state.turn(at: now)
        for case .settle(let push, let verdict) in state.takeActions() { settle(push, verdict, at: now) }
        for connection in connections.values { connection.close() }
        connections = [:]
        deliver()
    }

    private var time: PoolTime { PoolTime(steady: clock.uptime, wall: clock.now) }

    private mutating func turns(_ epoll: borrowing Epoll) throws {
        var ready: [Epoll.Event] = []
        while state.stopping == nil || !state.isEmpty {
            try epoll.wait(timeoutMilliseconds: queue.mayRest() ? patience : 0, into: &ready)
            for event in ready where event.token == Self.wakeToken { queue.wake.drain() }
            let arrivals = queue.take()
            for event in ready where event.token != Self.wakeToken {
                connections[event.token]?.advance(isEnding: event.isEnding, using: &buffer)
            }
            // Read last: nothing that has come is treated as of a time before it came.
            let now = time
            take(arrivals, at: now, in: epoll)
            rounds(at: now, in: epoll)
            deliver()
            // Sinks that hear of answers offer their next pushes at once: these leave in the same turn, at their own time.
            if queue.hasNews {
                let arrivals = queue.take()
                let later = time
                take(arrivals, at: later, in: epoll)
                rounds(at: later, in: epoll)
                deliver()
            }
            for connection in connections.values { connection.register(in: epoll) }
        }
    }

    private var patience: Int32? {
        let isBusy = !state.isEmpty || state.stopping != nil || !resolving.isEmpty
        if isBusy { return Self.lookMilliseconds }
        return connections.isEmpty ? nil : Self.idleMilliseconds
    }

    // MARK: - In

    private mutating func take(_ arrivals: PoolQueue.Arrivals, at now: PoolTime, in epoll: borrowing Epoll) {
        for push in arrivals.refused { settle(HeldPush(push, at: now.steady), .notSent, at: now) }
        for place in arrivals.pushes.indices { take(HeldPush(arrivals.pushes[place], at: now.steady), at: now) }
        for command in arrivals.commands {
            switch command {
            case .pause(let gateway): state.pause(gateway, at: now)
            case .resume(let gateway): state.resume(gateway, at: now)
            case .rate(let gateway, let perSecond): state.set(perSecond: perSecond, of: gateway, at: now)
            }
        }
        for answer in arrivals.resolved {
            guard let opening = resolving.removeValue(forKey: answer.connection) else { continue }
            guard !answer.addresses.isEmpty else {
                let host = endpoint(of: opening.group)?.host ?? ""
                state.handle(.lost(answer.connection, text: "\(host) was not found"), at: now)
                continue
            }
            let address = answer.addresses[opening.attempt % answer.addresses.count]
            connect(answer.connection, group: opening.group, to: address, at: now, in: epoll)
        }
        if let stop = arrivals.stop {
            state.stop(deadline: stop.drainSeconds.map { now.steady.advanced(bySeconds: $0) }, at: now)
        }
    }

    private mutating func take(_ held: HeldPush, at now: PoolTime) {
        if isTraced {
            let request = held.push.request
            trace?.record(.queued(request.id, request.event, request.address.gateway))
        }
        switch state.add(PushFacts(held.push), at: now) {
        case .refused: settle(held, .notSent, at: now)
        case .taken(let id):
            // What the state gave up to make room is over before its place is used again.
            settleGiven(at: now)
            if id.place == pushes.count { pushes.append(held) } else { pushes[id.place] = held }
        case .replaces(let id):
            settle(id, .notSent, at: now)
            pushes[id.place] = held
        }
    }

    /// Only verdicts and notices come out of `add`.
    private mutating func settleGiven(at now: PoolTime) {
        for action in state.takeActions() {
            switch action {
            case .settle(let push, let verdict): settle(push, verdict, at: now)
            case .notice(let notice): note(notice)
            case .open, .sign, .submit, .giveUp, .ping, .close: break
            }
        }
    }

    // MARK: - Rounds

    private mutating func rounds(at now: PoolTime, in epoll: borrowing Epoll) {
        gather()
        for _ in 0..<Self.roundsAtMost {
            for event in events { state.handle(event, at: now) }
            events.removeAll(keepingCapacity: true)
            state.turn(at: now)
            for action in state.takeActions() { perform(action, at: now, in: epoll) }
            for connection in connections.values { connection.flush() }
            gather()
            if events.isEmpty { return }
        }
        for event in events { state.handle(event, at: now) }
        events.removeAll(keepingCapacity: true)
    }

    private mutating func gather() {
        for connection in connections.values {
            connection.takeEvents { events.append($0) }
            if connection.isBroken { connections[connection.number] = nil }
        }
    }

    private mutating func perform(_ action: PoolAction, at now: PoolTime, in epoll: borrowing Epoll) {
        switch action {
        case .open(let number, let group, let attempt): open(number, group: group, attempt: attempt, at: now, in: epoll)
        case .sign(let token):
            do {
                try tokens.sign(token, at: now.wall)
                counts.tokensSigned += 1
            } catch {
                events.append(.cannotSign(token, text: "\(error)"))
            }
        case .submit(let push, let ticket, let number, let token): submit(push, ticket, on: number, token)
        case .giveUp(let push, let ticket, let number):
            let hasLeft = connections[number]?.giveUp(tag: push.tag(ticket)) ?? true
            events.append(hasLeft ? .unknown(push, ticket: ticket) : .notSent(push, ticket: ticket))
        case .ping(let number): connections[number]?.ping()
        case .close(let number):
            resolving[number] = nil
            connections.removeValue(forKey: number)?.close()
        case .settle(let push, let verdict): settle(push, verdict, at: now)
        case .notice(let notice): note(notice)
        }
    }

    private mutating func submit(_ push: PushID, _ ticket: UInt32, on number: UInt64, _ token: TokenRef) {
        guard let held = pushes[push.place], let connection = connections[number] else {
            return events.append(.noRoom(push, ticket: ticket))
        }
        guard let signed = tokens[token], let authority = authorities[held.push.request.address.gateway]
        else { return events.append(.unsendable(push, ticket: ticket)) }
        switch connection.submit(
            held.push.request, token: signed, authority: authority, tag: push.tag(ticket), using: &headers)
        {
        case .taken:
            counts.sent += 1
            if isTraced { trace?.record(.written(held.push.request.id, connection: number)) }
        case .noRoom: events.append(.noRoom(push, ticket: ticket))
        case .unsendable: events.append(.unsendable(push, ticket: ticket))
        }
    }

    // MARK: - Connections

    private func endpoint(of group: Int) -> PushPool.Configuration.Endpoint? {
        configuration.gateways[state.groups[group].gateway]
    }

    private mutating func open(_ number: UInt64, group: Int, attempt: Int, at now: PoolTime, in epoll: borrowing Epoll)
    {
        counts.connectionsOpened += 1
        guard let endpoint = endpoint(of: group) else {
            return events.append(.lost(number, text: "no such gateway"))
        }
        if let numeric = SocketAddress(ip: endpoint.host, port: endpoint.port) {
            return connect(number, group: group, to: numeric, at: now, in: epoll)
        }
        resolving[number] = (group, attempt)
        // On a thread of its own, for the system's resolver blocks.
        let queue = queue
        do {
            _ = try LoopThread(name: "push-resolve") {
                let found = try? SocketAddress.resolve(host: endpoint.host, port: endpoint.port)
                queue.put(resolved: found ?? [], for: number)
            }
        } catch {
            resolving[number] = nil
            events.append(.lost(number, text: "\(error)"))
        }
    }

    private mutating func connect(
        _ number: UInt64, group: Int, to address: SocketAddress, at now: PoolTime, in epoll: borrowing Epoll
    ) {
        guard let endpoint = endpoint(of: group) else { return }
        do {
            let connection = try PoolConnection(
                number: number, context: context, host: endpoint.host, address: address)
            try epoll.add(connection.descriptor, .write, token: number)
            connections[number] = connection
        } catch {
            events.append(.lost(number, text: "\(error)"))
        }
    }

    // MARK: - Out

    private mutating func settle(_ push: PushID, _ verdict: Verdict, at now: PoolTime) {
        guard let held = pushes[push.place].take() else { return }
        settle(held, verdict, at: now)
    }

    private mutating func settle(_ held: HeldPush, _ verdict: Verdict, at now: PoolTime) {
        verdicts.add(verdict, for: held.push.ticket, to: held.push.sink)
        let gateway = held.push.request.address.gateway
        let event = held.push.request.event
        let seconds = now.steady.seconds(since: held.takenAt)
        switch verdict {
        case .accepted:
            accepted[gateway][event.place] += 1
            counts.seconds.add(seconds)
        case .refused:
            counts.count(verdict, event, gateway)
            counts.seconds.add(seconds)
        case .notSent, .unknown: counts.count(verdict, event, gateway)
        }
        if isTraced { trace?.record(.answered(held.push.request.id, verdict, seconds: seconds)) }
    }

    private mutating func countAccepted() {
        for gateway in Gateway.allCases {
            for event in PushEvent.allCases where accepted[gateway][event.place] > 0 {
                counts.count(.accepted, event, gateway, times: accepted[gateway][event.place])
                accepted[gateway][event.place] = 0
            }
        }
    }

    private mutating func note(_ notice: PoolNotice) {
        if case .clockSkew(let gateway, let seconds) = notice { counts.clockSkewSeconds[gateway] = seconds }
        trace?.record(.notice(notice))
    }

    private mutating func deliver() {
        countAccepted()
        standing.take(state)
        let waiting = queue.note(settled: verdicts.count) { snapshot in
            snapshot.add(counts)
            standing.write(into: &snapshot, after: published)
        }
        counts.restart()
        let before = published
        published = standing
        if let before { standing = before }  // its memory is used again
        verdicts.deliver()
        for sink in waiting { sink.mayOffer() }
    }
}

extension PushEvent {
    /// In a table of all.
    fileprivate var place: Int {
        switch self {
        case .start: 0
        case .update: 1
        case .end: 2
        }
    }
}
