internal import CardRules

/// How things stand, in a form that is cheap to make after every turn and to compare with the last one.
struct PoolStanding {
    var waiting = 0
    var inFlight = 0
    /// Connections by gateway and phase, at `place`.
    private(set) var phases = [Int](
        repeating: 0, count: Gateway.allCases.count * PoolSnapshot.ConnectionPhase.allCases.count)
    private(set) var ratePerSecond = PerGateway(0.0)
    private(set) var isPaused = PerGateway(false)
    private(set) var held: [PoolScope] = []

    mutating func take(_ state: borrowing PoolState) {
        waiting = state.waitingCount
        inFlight = state.inFlightCount
        for place in phases.indices { phases[place] = 0 }
        for group in state.groups.indices {
            let gateway = state.groups[group].gateway
            for connection in state.groups[group].connections {
                let phase: PoolSnapshot.ConnectionPhase =
                    switch connection.phase {
                    case .opening, .greeting: .opening
                    case .unproven, .proven: connection.inFlight > 0 ? .busy : .idle
                    case .draining: .draining
                    }
                phases[Self.place(gateway, phase)] += 1
            }
        }
        for gateway in Gateway.allCases {
            ratePerSecond[gateway] = state.buckets[gateway].perSecond
            isPaused[gateway] = state.pauses[gateway].since != nil
        }
        if state.faults.heldCount > 0 || !held.isEmpty { held = state.faults.held }
    }

    private static func place(_ gateway: Gateway, _ phase: PoolSnapshot.ConnectionPhase) -> Int {
        let row = gateway == .production ? 0 : PoolSnapshot.ConnectionPhase.allCases.count
        return switch phase {
        case .opening: row
        case .idle: row + 1
        case .busy: row + 2
        case .draining: row + 3
        }
    }

    /// Writes it into `snapshot`, where `before` stands.
    func write(into snapshot: inout PoolSnapshot, after before: PoolStanding?) {
        (snapshot.waiting, snapshot.inFlight) = (waiting, inFlight)
        if before?.phases != phases {
            snapshot.connections = [:]
            for gateway in Gateway.allCases {
                for phase in PoolSnapshot.ConnectionPhase.allCases where phases[Self.place(gateway, phase)] > 0 {
                    snapshot.connections[.init(gateway: gateway, state: phase)] = phases[Self.place(gateway, phase)]
                }
            }
        }
        for gateway in Gateway.allCases {
            if before?.ratePerSecond[gateway] != ratePerSecond[gateway] {
                snapshot.ratePerSecond[gateway] = ratePerSecond[gateway]
            }
            guard before?.isPaused[gateway] != isPaused[gateway] else { continue }
            if isPaused[gateway] { snapshot.paused.insert(gateway) } else { snapshot.paused.remove(gateway) }
        }
        if before == nil || !held.isEmpty || !snapshot.held.isEmpty { snapshot.held = Set(held) }
    }
}

extension PoolSnapshot {
    /// Adds what happened since the last time.
    mutating func add(_ turn: PoolSnapshot) {
        for (outcome, count) in turn.outcomes { outcomes[outcome, default: 0] += count }
        if turn.answered > 0 {
            for place in seconds.counts.indices { seconds.counts[place] += turn.seconds.counts[place] }
            seconds.sum += turn.seconds.sum
        }
        sent += turn.sent
        answered += turn.answered
        unknown += turn.unknown
        tokensSigned += turn.tokensSigned
        connectionsOpened += turn.connectionsOpened
        if !turn.clockSkewSeconds.isEmpty { clockSkewSeconds.merge(turn.clockSkewSeconds) { $1 } }
    }

    /// Nothing has happened; keeps the memory.
    mutating func restart() {
        if !outcomes.isEmpty { outcomes.removeAll(keepingCapacity: true) }
        if answered > 0 {
            for place in seconds.counts.indices { seconds.counts[place] = 0 }
            seconds.sum = 0
        }
        (sent, answered, unknown, tokensSigned, connectionsOpened) = (0, 0, 0, 0, 0)
        if !clockSkewSeconds.isEmpty { clockSkewSeconds = [:] }
    }
}
