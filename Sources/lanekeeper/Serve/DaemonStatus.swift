import Lanes
import Operations
import Synchronization

/// How a daemon stands, from any thread.
final class DaemonStatus: Sendable {
    private struct State: Sendable {
        var stage = LifeCycle.Stage.starting
        var supervisor: Supervisor?
        var calls: (any ServedCalls)?
    }

    private let state = Mutex(State())

    var stage: LifeCycle.Stage { state.withLock { $0.stage } }

    /// Calls are taken while it is ready, and no longer.
    func change(to stage: LifeCycle.Stage) {
        let calls = state.withLock { state in
            state.stage = stage
            return state.calls
        }
        switch stage {
        case .starting: break
        case .ready: calls?.open()
        case .stopping: calls?.close()
        }
    }

    /// `nil` until they are made.
    var calls: (any ServedCalls)? {
        get { state.withLock { $0.calls } }
        set { state.withLock { $0.calls = newValue } }
    }

    /// `nil` until the lanes are loaded.
    var supervisor: Supervisor? {
        get { state.withLock { $0.supervisor } }
        set { state.withLock { $0.supervisor = newValue } }
    }

    /// Why it can do no work now, a short sentence each; empty: it can.
    var obstacles: [String] {
        switch stage {
        case .starting: ["it is starting"]
        case .ready: []
        case .stopping: ["it is stopping"]
        }
    }
}
