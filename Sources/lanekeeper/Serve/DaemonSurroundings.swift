import CardRules
import Lanes
import Operations

/// What a daemon is given of the world around it, beside its configuration: as it is in production, and as a demo has it.
struct DaemonSurroundings: Sendable {
    /// The time of rules, pushes and calls: everything that belongs to the night.
    var clock: any WallClock & SteadyClock = MachineClock()
    /// Real time, whatever the night's is: for the deadlines of connections and for what is measured.
    let machine = MachineClock()
    /// Whether the daemon lets the night's time pass for its lanes; else whoever moves the clock does.
    var passesTime = true
    /// The randomness of one part: jitter and ids, never keys.
    var random: @Sendable (RandomPart) throws -> any RandomSource = { _ in try MachineRandom.fresh() }
    /// Whether older tables in PostgreSQL are brought to this version when it starts.
    var migratesStore = false
    /// Sees what lanes do, besides metrics and log.
    var trace: (any Trace)?
    /// So long, on the night's clock, what waits may still be pushed, and answers are awaited, when it stops (L10). `nil`: what
    /// waits is given up at once.
    var drainSeconds: Double? = 10
    /// Told the address of the API once it listens.
    var listens: @Sendable (String) -> Void = { say($0) }

    enum RandomPart: Sendable {
        case pushPool, lanes, feed, store
    }
}

/// Two who look on.
struct BothTraces: Trace {
    private let first: any Trace
    private let second: any Trace

    init(_ first: any Trace, _ second: any Trace) { (self.first, self.second) = (first, second) }

    func record(_ event: TraceEvent) {
        first.record(event)
        second.record(event)
    }
}
