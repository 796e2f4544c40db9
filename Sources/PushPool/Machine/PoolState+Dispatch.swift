internal import CardRules
internal import Lanes

/// Which push goes next, and where (G3, G5, G7, G8).
extension PoolState {
    mutating func dispatch(_ gateway: Gateway, at now: PoolTime) {
        guard pauses[gateway]?.since == nil, stopping?.isOver != true, let mine = flowsOf[gateway] else { return }
        if let stopping, stopping.deadline == nil { return }
        for place in mine { flows[place].isBlocked = false }
        while buckets[gateway]?.hasOne(at: now.steady) == true, let next = best(of: mine, at: now) {
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
    private mutating func best(of mine: [Int], at now: PoolTime) -> Candidate? {
        var best: Candidate?
        for flow in mine where !flows[flow].isBlocked {
            guard let candidate = candidate(flow, at: now) else { continue }
            if best.map({ (candidate.line, candidate.order) < ($0.line, $0.order) }) ?? true { best = candidate }
        }
        return best
    }

    private mutating func candidate(_ flow: Int, at now: PoolTime) -> Candidate? {
        let key = flows[flow].key
        let group = groups[key.group]
        var probes: [PoolScope] = []
        var isGatewayShut = false
        if faults.heldCount > 0 {
            for scope in [PoolScope.key(group.gateway, keyID: group.keyID), .app(group.gateway, topic: key.topic)] {
                switch faults.gate(scope, at: now.steady) {
                case .open: break
                case .probe: probes.append(scope)
                case .shut:
                    flows[flow].isBlocked = true
                    return nil
                }
            }
            let gate = faults.gate(.gateway(group.gateway), at: now.steady)
            isGatewayShut = gate == .shut
            if gate == .probe { probes.append(.gateway(group.gateway)) }
        }
        // G5: ends and reissues try all the same, their deadlines are nearer.
        let lines = isGatewayShut ? 1 : PushRank.allCases.count
        for line in 0..<lines {
            guard let head = head(of: flow, line, at: now) else { continue }
            guard group.free(key.standing, above: 0) != nil else {
                groups[key.group].starve(key.standing)
                flows[flow].isBlocked = true
                return nil
            }
            return Candidate(flow: flow, line: line, order: head.order, probes: probes)
        }
        flows[flow].isBlocked = true
        return nil
    }

    /// The first of a line that still counts; what is void or has waited too long is taken out on the way.
    mutating func head(of flow: Int, _ line: Int, at now: PoolTime) -> LinePlace? {
        let time = waitingTime(flows[flow].gateway, at: now)
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
        let slot = slots[push.place]
        let key = flows[flow].key
        // A repeat of what did not count is no second push.
        let isFirst = slot.moves == 0 && !slot.hasChangedConnection && !slot.isQuickTry
        let isPatient = isFirst && slot.facts.rank != .endOrReissue
        var due = addresses.due(slot.facts.address, isPatient: isPatient, at: now.steady)
        let isOtherTry = addresses.isOtherTry(slot.facts.address, at: slot.facts.gateway, now.steady)
        if isOtherTry { due = max(due, otherTries.due(at: now.steady)) }
        if due > now.steady { return park(push, until: due, at: now) }
        guard let place = groups[key.group].free(key.standing, above: slot.above) else {
            groups[key.group].starve(key.standing)
            groups[key.group].wantFresh(above: slot.above)
            return park(push, until: now.steady.advanced(bySeconds: Self.freshLookSeconds), at: now)
        }
        let (token, mustSign) = schedules[groups[key.group].key].token(
            held: groups[key.group][place].token, at: now)
        if mustSign { actions.append(.sign(token)) }
        if groups[key.group][place].token?.token != token {
            groups[key.group][place].token = (token, now.steady)
        }
        groups[key.group][place].sent(at: now.steady)
        let connection = groups[key.group][place].number
        for scope in scopes { faults.probed(scope, at: now.steady) }
        if isPatient { addresses.spend(slot.facts.address, at: now.steady) }
        if isOtherTry { otherTries.spend(at: now.steady) }
        buckets[slot.facts.gateway]?.take()
        forgetWaiting(push)
        waitingCount -= 1
        inFlightCount += 1
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
        let slot = slots[push.place]
        let left = slot.deadline.seconds(since: waitingTime(slot.facts.gateway, at: now))
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
