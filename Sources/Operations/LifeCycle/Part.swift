/// One part of a daemon, such as the store or the web server: how it begins and ends, and what its failure means.
public struct Part: Sendable {
    /// For logs and the service manager's status.
    public let name: String
    public let onFailure: FailurePlan
    /// Brings it up; returns when it can be used.
    /// - Throws: why it cannot; then the daemon does not start.
    let start: @Sendable () async throws -> Void
    /// Does its work until it is stopped or its task is cancelled; `nil` where it has threads of its own. To return before
    /// is a failure.
    let run: (@Sendable () async throws -> Void)?
    /// Takes it down, what it holds brought to an end. Called once, also after a failure.
    let stop: @Sendable () async -> Void

    public init(
        _ name: String, onFailure: FailurePlan = .endsDaemon, start: @escaping @Sendable () async throws -> Void = {},
        run: (@Sendable () async throws -> Void)? = nil, stop: @escaping @Sendable () async -> Void = {}
    ) {
        self.name = name
        self.onFailure = onFailure
        self.start = start
        self.run = run
        self.stop = stop
    }
}

/// What becomes of the daemon when one of its parts fails while it runs.
public enum FailurePlan: Hashable, Sendable {
    /// It goes down in order, with the part's reason.
    case endsDaemon
    /// The part is run again after a wait.
    case restarts(RestartPlan)
}

/// How a part is run again: waits that double, and a bound on how often.
public struct RestartPlan: Hashable, Sendable {
    public var firstSeconds = 1.0
    public var mostSeconds = 60.0
    /// A part that ran this long has recovered: waits begin anew.
    public var recoveredSeconds = 300.0
    /// Failures in a row after which the daemon goes down all the same; `nil`: never.
    public var failuresAtMost: Int?

    public init() {}

    /// - Parameter failures: in a row, at least 1.
    func waitSeconds(failures: Int) -> Double {
        var seconds = firstSeconds
        for _ in 1..<max(2, min(failures, 64)) where failures > 1 { seconds = min(mostSeconds, seconds * 2) }
        return min(mostSeconds, seconds)
    }
}

/// What has happened to one part so far: decides what is next. Pure.
struct RestartCount: Hashable, Sendable {
    private(set) var failures = 0

    enum Next: Hashable, Sendable {
        case endDaemon
        case runAgain(afterSeconds: Double)
    }

    /// - Parameter ranSeconds: how long it ran before it failed.
    mutating func failed(afterSeconds ranSeconds: Double, _ plan: FailurePlan) -> Next {
        guard case .restarts(let restart) = plan else { return .endDaemon }
        failures = ranSeconds >= restart.recoveredSeconds ? 1 : failures + 1
        if let most = restart.failuresAtMost, failures > most { return .endDaemon }
        return .runAgain(afterSeconds: restart.waitSeconds(failures: failures))
    }
}
