internal import Dispatch
internal import Lanes
internal import Synchronization

/// What waits for the store's thread: work goes in from any thread, without waiting, and comes out in order.
final class StoreQueue: Sendable {
    enum Job: Sendable {
        case commit(CommitBatch, done: @Sendable (CommitOutcome) -> Void)
        /// Called with `nil` when the store can do nothing any more.
        case read(@Sendable (SQLiteWriter?) -> Void)
    }

    /// Batches that may wait; above, a commit fails at once and the shard tries again later.
    static let maxWaiting = 10_000

    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
    }

    /// - Returns: `nil` if it was taken, else why not.
    func offer(_ job: Job) -> StoreError? {
        let refusal: StoreError? = state.withLock { state in
            if state.isClosed { return .unavailable(detail: "the store is closed") }
            if state.jobs.count >= Self.maxWaiting {
                return .unavailable(detail: "\(Self.maxWaiting) commits wait for the disk")
            }
            state.jobs.append(job)
            return nil
        }
        if refusal == nil { arrivals.signal() }
        return refusal
    }

    /// Nothing is taken any more; what waits is still done.
    func close() {
        state.withLock { $0.isClosed = true }
        arrivals.signal()
    }

    /// Blocks until something waits. For the store's thread.
    /// - Returns: all that waits; `nil` when the queue is closed and empty.
    func next() -> [Job]? {
        while true {
            arrivals.wait()
            let (jobs, isClosed) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.isClosed)
            }
            if !jobs.isEmpty { return jobs }
            if isClosed { return nil }
        }
    }

    var isEmpty: Bool { state.withLock { $0.jobs.isEmpty } }
}
