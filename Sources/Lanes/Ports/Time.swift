public import CardRules

/// Wall time, injected: real, scaled, or moved by a test.
public protocol WallClock: Sendable {
    var now: WallTime { get }

    /// Returns when `now >= deadline`, early when woken for another reason, or throws `CancellationError`.
    func sleep(until deadline: WallTime) async throws
}

/// Random bits, injected and seeded. Never used for keys.
public protocol RandomSource: Sendable {
    func next() -> UInt64
}
