import Intake
import Lanes
import Operations
import Synchronization

/// How a daemon stands, from any thread.
final class DaemonStatus: Sendable {
    private struct State: Sendable {
        var stage = LifeCycle.Stage.starting
        var supervisor: Supervisor?
        var calls: APIHandler?
        var storeTrouble: @Sendable () -> String? = { nil }
    }

    private let state = Mutex(State())
    private let counted: SystemMetrics

    init(metrics: SystemMetrics) { counted = metrics }

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
    var calls: APIHandler? {
        get { state.withLock { $0.calls } }
        set { state.withLock { $0.calls = newValue } }
    }

    /// `nil` until the lanes are loaded.
    var supervisor: Supervisor? {
        get { state.withLock { $0.supervisor } }
        set { state.withLock { $0.supervisor = newValue } }
    }
}

extension DaemonStatus {
    /// Asked at each look at its readiness; from any thread.
    func watch(store trouble: @escaping @Sendable () -> String?) { state.withLock { $0.storeTrouble = trouble } }
}

extension DaemonStatus: APIBackend {
    var readiness: APIReadiness {
        switch stage {
        case .starting: APIReadiness(reasons: ["it is starting"])
        case .ready: APIReadiness(reasons: [state.withLock { $0.storeTrouble }()].compactMap(\.self))
        case .stopping: APIReadiness(reasons: ["it is stopping"])
        }
    }

    func metrics() async -> [UInt8] { Array(await counted.registry.text().utf8) }
}
