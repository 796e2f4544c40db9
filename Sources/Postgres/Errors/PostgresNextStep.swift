/// What to do about an error.
public enum PostgresNextStep: Hashable, Sendable {
    /// A conflict between transactions (40001, 40P01): the same again, now.
    case repeatNow
    /// A lock or a statement took too long (55P03, 57014): the same again, later.
    case repeatLater
    /// The server is short of something, or its disk fails (53xxx, 58xxx): wait, and tell somebody.
    case backOffAndAlarm
    /// Drop the connection, look the name up again, connect: lost, shut down, or demoted to read-only (25006).
    case reconnect
    /// A newer owner holds what was to be written (LK001).
    case fenced
    /// Anything else is a mistake in what was asked or set up: time does not mend it.
    case stop
}

/// Whether what was asked has happened.
public enum PostgresOutcome: Hashable, Sendable {
    case notDone
    /// It may have landed, or land in a moment. Never conclude "not committed" from a plain read: connect and repeat.
    case unknown
}

extension PostgresError {
    public var nextStep: PostgresNextStep {
        switch self {
        case .unreachable, .lost, .silent, .system: .reconnect
        case .tooManyWaiting: .repeatLater
        case .badAddress, .closed, .unexpected: .stop
        case .server(let error): error.nextStep
        }
    }

    /// A fatal report may overtake the answer to a commit, so that it leaves the outcome open too.
    public var outcome: PostgresOutcome {
        switch self {
        case .badAddress, .unreachable, .tooManyWaiting: .notDone
        case .lost, .silent, .closed, .system, .unexpected: .unknown
        case .server(let error): error.isFatal ? .unknown : .notDone
        }
    }
}

extension PostgresServerError {
    /// By the SQLSTATE. Source: PostgreSQL, appendix A; each seen in the restarts and failovers that were measured.
    public var nextStep: PostgresNextStep {
        switch sqlState {
        case "40001", "40P01": .repeatNow
        case "55P03", "57014": .repeatLater
        case "25006": .reconnect
        case "LK001": .fenced
        default:
            switch sqlState.prefix(2) {
            case "53", "58": .backOffAndAlarm
            case "08": .reconnect
            case "57" where sqlState.hasPrefix("57P0"): .reconnect
            default: isFatal ? .reconnect : .stop
            }
        }
    }
}

/// How long to wait before the next attempt: 50 ms, doubled up to 2 s, each between half and the whole of it, so that many
/// nodes do not come back in step.
public struct PostgresBackoff: Hashable, Sendable {
    public static let firstSeconds = 0.05
    public static let longestSeconds = 2.0

    private var attempts = 0

    public init() {}

    /// - Parameter random: 64 random bits.
    public mutating func next(random: UInt64) -> Double {
        let whole = min(PostgresBackoff.longestSeconds, PostgresBackoff.firstSeconds * Double(1 << min(attempts, 10)))
        attempts += 1
        return whole * (0.5 + Double(random >> 11) / Double(UInt64(1) << 54))
    }

    /// To be called when it works again.
    public mutating func reset() { attempts = 0 }
}
