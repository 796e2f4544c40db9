internal import CardRules
internal import Lanes
internal import Synchronization
internal import TLS

/// What callers and the pool's thread share. Callers put pushes in from any thread; the thread takes all at once and is
/// woken once for whatever gathered meanwhile.
final class PoolQueue: Sendable {
    let wake: EventSignal
    private let heldAtMost: Int
    private let state = Mutex(State())

    private struct State: Sendable {
        var arrivals = Arrivals()
        /// Pushes taken in that have no verdict yet, in here or on the thread.
        var held = 0
        var isStopping = false
        var isClosed = false
        var isWoken = false
        var counters = PushPool.Counters()
    }

    /// What came since the last look.
    struct Arrivals: Sendable {
        var pushes: [OutgoingPush] = []
        /// Came while the pool was full: they end as not sent.
        var refused: [OutgoingPush] = []
        var resolved: [(gateway: Gateway, addresses: [SocketAddress])] = []
        var isStopping = false
    }

    init(heldAtMost: Int) throws(SocketError) {
        wake = try EventSignal()
        self.heldAtMost = heldAtMost
    }

    /// - Returns: false, and nothing is kept, if the thread has ended.
    func put(_ pushes: [OutgoingPush]) -> Bool {
        let (isOpen, mustWake) = state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed else { return (false, false) }
            let room = max(0, heldAtMost - state.held)
            state.arrivals.pushes.append(contentsOf: pushes.prefix(room))
            state.arrivals.refused.append(contentsOf: pushes.dropFirst(room))
            state.held += pushes.count
            return (true, Self.claimWake(&state))
        }
        if mustWake { wake.signal() }
        return isOpen
    }

    func put(resolved addresses: [SocketAddress], of gateway: Gateway) {
        let mustWake = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            state.arrivals.resolved.append((gateway, addresses))
            return Self.claimWake(&state)
        }
        if mustWake { wake.signal() }
    }

    func stop() {
        state.withLock { $0.isStopping = true }
        wake.signal()
    }

    /// For the pool's thread: drains the signal, then takes what is there.
    func take() -> Arrivals {
        wake.drain()
        return state.withLock { state in
            var taken = state.arrivals
            taken.isStopping = state.isStopping
            state.arrivals = Arrivals()
            state.isWoken = false
            return taken
        }
    }

    /// Takes nothing in any more, and hands out what came last.
    func close() -> Arrivals {
        state.withLock { state in
            state.isClosed = true
            let taken = state.arrivals
            state.arrivals = Arrivals()
            return taken
        }
    }

    /// So many verdicts are about to go out.
    func note(sent: Int, answered: Int, unknown: Int, settled: Int) {
        state.withLock { state in
            state.held -= settled
            state.counters.sent += sent
            state.counters.answered += answered
            state.counters.unknown += unknown
        }
    }

    var counters: PushPool.Counters { state.withLock { $0.counters } }

    private static func claimWake(_ state: inout State) -> Bool {
        defer { state.isWoken = true }
        return !state.isWoken
    }
}
