/// How much is at stake, the most first. At `info` an operator reads along all day.
public enum LogLevel: String, Hashable, Sendable, CaseIterable {
    /// Somebody has to do something: a fault of the configuration, a store that cannot write, a gateway that refuses all.
    case error
    /// May heal by itself, and is worth knowing when it does not: a lost connection, a lane that was started again.
    case warning
    /// What an operator expects to see: started, ready, reloaded, healed, stopped.
    case info
    /// Single pushes and decisions, for a search.
    case debug

    /// 0 for the gravest.
    var rank: Int {
        switch self {
        case .error: 0
        case .warning: 1
        case .info: 2
        case .debug: 3
        }
    }
}

/// How lines look.
public enum LogFormat: String, Hashable, Sendable, CaseIterable {
    case json, text
    /// Text on a terminal, else JSON.
    case auto
}
