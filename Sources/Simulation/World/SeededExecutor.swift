internal import Synchronization

/// Runs tasks one job at a time on the caller's thread, in an order drawn from a seed: with a clock that only the world
/// moves, the same seed gives the same run. Default actors follow it as their task's preference.
final class SeededExecutor: TaskExecutor {
    private struct State {
        var ready: [UnownedJob] = []
        var random: SeededGenerator
        var run = 0
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.ready.append(job) }
    }

    /// Jobs run so far.
    var jobs: Int { state.withLock { $0.run } }

    /// Runs jobs until none is ready, or until so many have run.
    /// - Returns: whether any did.
    @discardableResult
    func drain(atMost limit: Int = .max) -> Bool {
        var count = 0
        while count < limit, let job = next() {
            job.runSynchronously(on: asUnownedTaskExecutor())
            count += 1
        }
        return count > 0
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            guard !state.ready.isEmpty else { return nil }
            state.run += 1
            let place = state.ready.count == 1 ? 0 : Int.random(in: 0..<state.ready.count, using: &state.random)
            state.ready.swapAt(place, state.ready.count - 1)
            return state.ready.removeLast()
        }
    }
}
