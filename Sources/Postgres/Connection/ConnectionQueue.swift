internal import Synchronization

/// What callers and a connection's thread share.
final class ConnectionQueue: Sendable {
    /// Runs on the connection's thread, or learns why it cannot.
    struct Job: Sendable {
        let run: @Sendable (inout PostgresSession) -> Void
        let refuse: @Sendable (PostgresError) -> Void
    }

    private struct State: Sendable {
        var jobs: [Job] = []
        var end: PostgresError?
    }

    private let state = Mutex(State())
    private let maximumWaiting: Int

    init(maximumWaiting: Int) { self.maximumWaiting = maximumWaiting }

    /// - Returns: why the job was not taken.
    func put(_ job: Job) -> PostgresError? {
        state.withLock { state in
            if let end = state.end { return end }
            guard state.jobs.count < maximumWaiting else { return .tooManyWaiting(maximumWaiting) }
            state.jobs.append(job)
            return nil
        }
    }

    func take() -> [Job] {
        state.withLock { state in
            defer { state.jobs.removeAll(keepingCapacity: true) }
            return state.jobs
        }
    }

    /// Takes nothing in any more. The first reason holds.
    func close(_ error: PostgresError) {
        let refused = state.withLock { state in
            state.end = state.end ?? error
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in refused { job.refuse(error) }
    }

    var end: PostgresError? { state.withLock { $0.end } }
}
