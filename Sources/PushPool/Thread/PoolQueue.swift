internal import CardRules
internal import Lanes
internal import PushWire
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
        /// Sinks whose pushes were handed back.
        var turnedAway: [ObjectIdentifier: any VerdictSink] = [:]
        var stop: StopOrder?
        var isClosed = false
        /// The thread looks again before it waits: it need not be woken.
        var isAwake = true
        /// Something came since it last took what there was.
        var hasNews = false
        var snapshot = PoolSnapshot()
    }

    struct StopOrder: Equatable, Sendable {
        /// How long what waits may still go; `nil`: not at all.
        let drainSeconds: Double?
    }

    enum Command: Equatable, Sendable {
        case pause(Gateway)
        case resume(Gateway)
        case rate(Gateway, perSecond: Double)
    }

    /// What came since the last look.
    struct Arrivals: Sendable {
        var pushes: [OutgoingPush] = []
        /// Updates that came while the pool was full: they end as not sent.
        var refused: [OutgoingPush] = []
        var commands: [Command] = []
        /// Addresses for a connection; empty: the name was not found.
        var resolved: [(connection: UInt64, addresses: [SocketAddress])] = []
        var stop: StopOrder?
    }

    init(heldAtMost: Int) throws(SocketError) {
        wake = try EventSignal()
        self.heldAtMost = max(1, heldAtMost)
    }

    enum Put {
        /// All but these, which were turned away for lack of room (G7).
        case taken(except: [OutgoingPush])
        /// The thread has ended; nothing was kept.
        case closed
    }

    func put(_ pushes: [OutgoingPush]) -> Put {
        let (result, mustWake) = state.withLock { state -> (Put, Bool) in
            guard !state.isClosed else { return (.closed, false) }
            if state.held + pushes.count <= heldAtMost {
                if state.arrivals.pushes.isEmpty {
                    state.arrivals.pushes = pushes  // as it is: a reference
                } else {
                    state.arrivals.pushes.append(contentsOf: pushes)
                }
                state.held += pushes.count
                return (.taken(except: []), Self.claimWake(&state))
            }
            return (.taken(except: Self.sort(pushes, into: &state, heldAtMost)), Self.claimWake(&state))
        }
        if mustWake { wake.signal() }
        return result
    }

    /// G7: beyond the bound an update ends as not sent; starts and ends may go a quarter beyond, and are then handed back.
    private static func sort(
        _ pushes: [OutgoingPush], into state: inout State, _ heldAtMost: Int
    ) -> [OutgoingPush] {
        var back: [OutgoingPush] = []
        for push in pushes {
            if push.request.event == .update {
                if state.held < heldAtMost {
                    state.arrivals.pushes.append(push)
                } else {
                    state.arrivals.refused.append(push)
                }
                state.held += 1
            } else if state.held < heldAtMost + heldAtMost / 4 {
                state.arrivals.pushes.append(push)
                state.held += 1
            } else {
                back.append(push)
                state.turnedAway[ObjectIdentifier(push.sink)] = push.sink
            }
        }
        return back
    }

    func put(resolved addresses: [SocketAddress], for connection: UInt64) {
        put { $0.arrivals.resolved.append((connection, addresses)) }
    }

    func put(_ command: Command) { put { $0.arrivals.commands.append(command) } }

    /// The first order holds.
    func stop(drainSeconds: Double?) { put { $0.stop = $0.stop ?? StopOrder(drainSeconds: drainSeconds) } }

    private func put(_ change: (inout State) -> Void) {
        let mustWake = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            change(&state)
            return Self.claimWake(&state)
        }
        if mustWake { wake.signal() }
    }

    /// For the pool's thread: takes what is there.
    func take() -> Arrivals {
        state.withLock { state in
            var taken = state.arrivals
            taken.stop = state.stop
            state.arrivals = Arrivals()
            state.hasNews = false
            state.isAwake = true
            return taken
        }
    }

    /// For the pool's thread, before it waits.
    /// - Returns: false: something has come. True: nothing has, and what comes from now on wakes it.
    func mayRest() -> Bool {
        state.withLock { state in
            state.isAwake = state.hasNews
            return !state.hasNews
        }
    }

    /// For the pool's thread: something came that it has not taken.
    var hasNews: Bool { state.withLock { $0.hasNews } }

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
    /// - Returns: whom to tell that there is room again.
    func note(settled: Int, _ change: (inout PoolSnapshot) -> Void) -> [any VerdictSink] {
        state.withLock { state in
            state.held -= settled
            change(&state.snapshot)
            guard !state.turnedAway.isEmpty, state.held < heldAtMost || state.isClosed else { return [] }
            defer { state.turnedAway = [:] }
            return Array(state.turnedAway.values)
        }
    }

    var snapshot: PoolSnapshot { state.withLock { $0.snapshot } }

    private static func claimWake(_ state: inout State) -> Bool {
        state.hasNews = true
        defer { state.isAwake = true }
        return !state.isAwake
    }
}
