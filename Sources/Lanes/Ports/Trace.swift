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
    /// A transaction is durable.
    case committed(rows: Int)
    /// The store could not write; it is tried again.
    case storeFailed(StoreError)
    /// Something of an earlier incarnation of a lane came late and was refused.
    case fenced(DeviceID)
    /// A lane that was thrown away goes on from what the store knows of it.
    case restarted(DeviceID)
}

/// Sees nothing.
public struct NoTrace: Trace {
    public init() {}
    public func record(_ event: TraceEvent) {}
}
