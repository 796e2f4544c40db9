internal import CardRules

extension PoolState {
    /// How things stand now.
    func measure(into snapshot: inout PoolSnapshot) {
        snapshot.waiting = waitingCount
        snapshot.inFlight = inFlightCount
        for group in groups {
            for connection in group.connections {
                let phase: PoolSnapshot.ConnectionPhase =
                    switch connection.phase {
                    case .opening, .greeting: .opening
                    case .unproven, .proven: connection.inFlight > 0 ? .busy : .idle
                    case .draining: .draining
                    }
                snapshot.connections[.init(gateway: group.gateway, state: phase), default: 0] += 1
            }
        }
        for gateway in Gateway.allCases {
            snapshot.ratePerSecond[gateway] = buckets[gateway].perSecond
            if pauses[gateway].since != nil { snapshot.paused.insert(gateway) }
        }
        if faults.heldCount > 0 { snapshot.held = Set(faults.held) }
    }
}

extension PoolSnapshot {
    /// Adds what happened since the last time, and takes over how things stand.
    mutating func add(_ turn: PoolSnapshot) {
        for (outcome, count) in turn.outcomes { outcomes[outcome, default: 0] += count }
        for place in seconds.counts.indices { seconds.counts[place] += turn.seconds.counts[place] }
        seconds.sum += turn.seconds.sum
        sent += turn.sent
        answered += turn.answered
        unknown += turn.unknown
        tokensSigned += turn.tokensSigned
        connectionsOpened += turn.connectionsOpened
        (waiting, inFlight) = (turn.waiting, turn.inFlight)
        (connections, ratePerSecond, paused, held) = (turn.connections, turn.ratePerSecond, turn.paused, turn.held)
        clockSkewSeconds.merge(turn.clockSkewSeconds) { $1 }
    }
}
