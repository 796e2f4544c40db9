import Simulation
import Synchronization

/// Holds the night: its clock stands, and nothing of feed or phones happens. What is under way comes home meanwhile.
final class NightPause: Sendable {
    private struct State {
        var isPaused = false
        /// The night is being left: nobody waits any more.
        var isOver = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let clock: ScaledClock?

    /// - Parameter clock: the one that runs by itself; `nil` where the player moves the time.
    init(of clock: ScaledClock?) { self.clock = clock }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    func toggle() {
        let isPaused = state.withLock { state in
            state.isPaused.toggle()
            return state.isPaused
        }
        if isPaused { clock?.pause() } else { goOn() }
    }

    /// For good.
    func end() {
        state.withLock { state in
            state.isPaused = false
            state.isOver = true
        }
        goOn()
    }

    /// Returns when the night goes on; at once where it is not held.
    func passed() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isHeld = state.withLock { state in
                    guard state.isPaused, !state.isOver else { return false }
                    state.waiting.append(continuation)
                    return true
                }
                if !isHeld { continuation.resume() }
            }
        } onCancel: {
            end()
        }
    }

    private func goOn() {
        clock?.goOn()
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
