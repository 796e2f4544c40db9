public import CardRules

/// What an observer may see: metrics, the demo's summary, the simulator's trace. Must not block.
public protocol Trace: Sendable {
    func record(_ event: TraceEvent)
}

public enum TraceEvent: Sendable {
    /// A push was handed to the pool.
    case sent(PushEvent, Gateway, PushPriority)
    /// It came back.
    case answered(PushEvent, Gateway, Verdict)
    /// A lane decided something.
    case decided(DeviceID, TimelineEntry)
    /// What became of a start that replaces a card, or follows one that had to end (R1-R5).
    case reissued(Verdict)
    /// A tick was merged, ranked, and every lane has taken its turn: that long after it was received.
    case tickDecided(seconds: Double)
    /// The last push that a tick's turns ordered was answered: that long after the tick was received. Comes only where
    /// there was one.
    case tickAnswered(seconds: Double)
    /// A transaction of a shard is durable; `seconds` since it was handed over, where there is a clock for that.
    case committed(rows: Int, seconds: Double?)
    /// The store could not write; it is tried again.
    case storeFailed(StoreError)
    /// Something of an earlier incarnation of a lane came late and was refused.
    case fenced(DeviceID)
    /// A lane that was thrown away goes on from what the store knows of it.
    case restarted(DeviceID, cause: RestartCause)
    /// A lane was thrown away more often than may be: it rests, the others of its shard go on.
    case parked(DeviceID, until: WallTime)
}

public enum RestartCause: String, Hashable, Sendable, CaseIterable {
    /// It was thrown away by a call, or by what it ran into.
    case killed
    /// It had been parked.
    case unparked
}

/// Sees nothing.
public struct NoTrace: Trace {
    public init() {}
    public func record(_ event: TraceEvent) {}
}
