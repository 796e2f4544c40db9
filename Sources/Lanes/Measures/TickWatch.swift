import Synchronization

/// Follows one tick through the shards: until every lane has taken its turn, and until the last push that those turns
/// ordered is answered.
final class TickWatch: Sendable {
    private struct State {
        var shardsLeft: Int
        var pushesOut = 0
        var hasSent = false
    }

    private let state: Mutex<State>
    private let received: SteadyTime
    private let clock: any SteadyClock
    private let trace: any Trace

    init(shards: Int, clock: any SteadyClock, trace: any Trace) {
        state = Mutex(State(shardsLeft: shards))
        received = clock.uptime
        self.clock = clock
        self.trace = trace
    }

    /// One shard is through. A shard that had this tick's snapshot replaced by a newer one before it looked is through
    /// with that one.
    func decided() {
        let (isDecided, isAnswered) = state.withLock { state in
            state.shardsLeft -= 1
            return (state.shardsLeft == 0, state.shardsLeft == 0 && state.hasSent && state.pushesOut == 0)
        }
        if isDecided { trace.record(.tickDecided(seconds: seconds)) }
        if isAnswered { trace.record(.tickAnswered(seconds: seconds)) }
    }

    func sent() {
        state.withLock { state in
            state.pushesOut += 1
            state.hasSent = true
        }
    }

    func answered() {
        let isLast = state.withLock { state in
            state.pushesOut -= 1
            return state.pushesOut == 0 && state.shardsLeft == 0
        }
        if isLast { trace.record(.tickAnswered(seconds: seconds)) }
    }

    private var seconds: Double { clock.uptime.seconds(since: received) }
}
