public import CardRules
public import PushWire

/// Sees each push on its way, and what an operator should hear. Called on the pool's thread; must not block.
public protocol PoolTrace: Sendable {
    func record(_ event: PoolTraceEvent)
}

public enum PoolTraceEvent: Equatable, Sendable {
    /// Taken in; it waits.
    case queued(ApnsID, PushEvent, Gateway)
    /// Handed to a connection, which writes it at once as far as its socket takes it. Again for a repeat.
    case written(ApnsID, connection: UInt64)
    /// Over. `seconds`: since it was taken in.
    case answered(ApnsID, Verdict, seconds: Double)
    case notice(PoolNotice)
}
