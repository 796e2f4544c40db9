internal import CardRules
internal import Lanes

/// Which push goes next, and where (G3, G5, G7, G8).
extension PoolState {
    mutating func dispatch(_ gateway: Gateway, at now: PoolTime) {
        let mine = flowsOf[gateway]
        guard pauses[gateway].since == nil, stopping?.isOver != true, !mine.isEmpty else { return }
        if let stopping, stopping.deadline == nil { return }
        for place in mine { flows[place].isBlocked = false }
        let time = waitingTime(gateway, at: now)
        while buckets[gateway].hasOne(at: now.steady), let next = best(of: mine, waiting: time, at: now) {
            launch(next.flow, next.line, scopes: next.probes, at: now)
        }
    }

    private struct Candidate {
        let flow: Int
        let line: Int
        let order: UInt64
        /// Held scopes that this push would probe.
        let probes: [PoolScope]
    }

    /// The lowest rank, then the oldest, of all that may go.
    private mutating func best(of mine: [Int], waiting time: SteadyTime, at now: PoolTime) -> Candidate? {
        var best: Candidate?
        for flow in mine where !flows[flow].isBlocked {
            guard let candidate = candidate(flow, waiting: time, at: now) else { continue }
            if best.map({ (candidate.line, candidate.order) < ($0.line, $0.order) }) ?? true { best = candidate }
        }
        return best
    }

    private mutating func candidate(_ flow: Int, waiting time: SteadyTime, at now: PoolTime) -> Candidate? {
        let group = flows[flow].key.group
        let standing = flows[flow].key.standing
        let gateway = flows[flow].gateway
        var probes: [PoolScope] = []
        var isGatewayShut = false
        // An app of which nothing is known yet is under suspicion too (G3, G8).
        if !flows[flow].isProven, flows[flow].inFlight >= faults.limits.inARow { return block(flow) }
        if !faults.isQuiet {
            for scope in [key(of: group), .app(gateway, topic: flows[flow].key.topic)] {
                switch faults.gate(scope, at: now.steady) {
                case .open: if isCrowded(scope, flow) { return block(flow) }
                case .probe: probes.append(scope)
                case .shut: return block(flow)
                }
            }
            switch faults.gate(.gateway(gateway), at: now.steady) {
            case .open: isGatewayShut = isCrowded(.gateway(gateway), flow)
            case .probe: probes.append(.gateway(gateway))
            case .shut: isGatewayShut = true
            }
        }
        // G5: ends and reissues try all the same, their deadlines are nearer.
        let lines = isGatewayShut ? 1 : PushRank.allCases.count
        for line in 0..<lines {
            guard let head = head(of: flow, line, waiting: time) else { continue }
            guard groups[group].connections.free(standing, above: 0, atMost: plan.group.maxStreams) != nil else {
                groups[group].starve(standing)
                return block(flow)
            }
            return Candidate(flow: flow, line: line, order: head.order, probes: probes)
        }
        return block(flow)
    }

    private mutating func block(_ flow: Int) -> Candidate? {
        flows[flow].isBlocked = true
        return nil
    }

    func key(of group: Int) -> PoolScope { .key(groups[group].gateway, keyID: groups[group].keyID) }

    /// G3: under suspicion, and what is in flight will tell.
    private func isCrowded(_ scope: PoolScope, _ flow: Int) -> Bool {
        guard let room = faults.room(scope) else { return false }
        let inFlight =
            switch scope {
            // What a drained connection still owes says nothing about the key any more.
            case .key: groups[flows[flow].key.group].usableInFlight
            case .gateway(let gateway): flowsOf[gateway].reduce(0) { $0 + flows[$1].inFlight }
            case .app(let gateway, let topic):
                flowsOf[gateway].reduce(0) { $0 + (flows[$1].key.topic == topic ? flows[$1].inFlight : 0) }
            }
        return inFlight >= room
    }

    /// The first of a line that still counts; what is void or has waited too long is taken out on the way.
    /// - Parameter time: of its gateway's waiting clock.
    mutating func head(of flow: Int, _ line: Int, waiting time: SteadyTime) -> LinePlace? {
        while let first = flows[flow].lines[line].first {
            guard isCurrent(first) else {
                flows[flow].lines[line].removeFirst()
                continue
            }
            guard first.deadline <= time else { return first }
            flows[flow].lines[line].removeFirst()
            drop(first.push)
        }
        return nil
    }

    private mutating func launch(_ flow: Int, _ line: Int, scopes: [PoolScope], at now: PoolTime) {
        guard let head = flows[flow].lines[line].first else { return }
        flows[flow].lines[line].removeFirst()
        let push = head.push
        let group = flows[flow].key.group
        let standing = flows[flow].key.standing
        let gateway = flows[flow].gateway
        let address = slots[push.place].facts.address
        let isPatient = slots[push.place].isFirst && slots[push.place].facts.rank != .endOrReissue
        var due = addresses.due(address, isPatient: isPatient, at: now.steady)
        let isOtherTry = addresses.isOtherTry(address, at: gateway, now.steady)
        if isOtherTry { due = max(due, otherTries.due(at: now.steady)) }
        if due > now.steady { return park(push, until: due, at: now) }
        guard
            let place = groups[group].connections.free(
                standing, above: slots[push.place].above, atMost: plan.group.maxStreams)
        else {
            groups[group].starve(standing)
            groups[group].wantFresh(above: slots[push.place].above)
            return park(push, until: now.steady.advanced(bySeconds: Self.freshLookSeconds), at: now)
        }
        let (token, mustSign) = schedules[groups[group].key].token(
            held: groups[group].connections[place].token, at: now)
        if mustSign { actions.append(.sign(token)) }
        if groups[group].connections[place].token?.token != token { groups[group][place].token = (token, now.steady) }
        groups[group][place].sent(at: now.steady)
        let connection = groups[group].connections[place].number
        for scope in scopes { faults.probed(scope, at: now.steady) }
        if isPatient { addresses.spend(address, at: now.steady) }
        if isOtherTry { otherTries.spend(at: now.steady) }
        buckets[gateway].take()
        forgetWaiting(push)
        waitingCount -= 1
        inFlightCount += 1
        flows[flow].inFlight += 1
        let ticket = nextTicket()
        slots[push.place].ticket = ticket
        slots[push.place].phase = .inFlight(connection: connection)
        slots[push.place].token = token
        deadlines.append(
            push, ticket: ticket, deadline: now.steady.advanced(bySeconds: plan.timeoutSeconds))
        actions.append(.submit(push, ticket: ticket, on: connection, token: token))
    }

    /// It steps out of its line, so that it holds nobody up, and comes back in its old place.
    private mutating func park(_ push: PushID, until due: SteadyTime, at now: PoolTime) {
        let left = slots[push.place].deadline.seconds(since: waitingTime(slots[push.place].facts.gateway, at: now))
        parked.insert(place(of: push), until: min(due, now.steady.advanced(bySeconds: max(0, left))))
    }

    mutating func unpark(at now: PoolTime) {
        while let place = parked.removeFirst(dueBy: now.steady) {
            guard isCurrent(place) else { continue }
            if place.deadline <= waitingTime(slots[place.push.place].facts.gateway, at: now) {
                drop(place.push)
            } else {
                waitingCount -= 1
                enqueue(place.push, isReturning: true)
            }
        }
    }

    /// A push that waits for a fresh connection looks again so soon.
    private static let freshLookSeconds = 0.1
}
