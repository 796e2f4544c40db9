internal import Lanes

/// G7: how many pushes a second may leave for one gateway. Full at first; holds a quarter of a second's worth, so that a
/// loop that looks seldom still reaches the rate.
struct TokenBucket: Equatable, Sendable {
    private(set) var perSecond: Double
    private var level: Double
    private var filledAt: SteadyTime

    /// - Parameter perSecond: zero or less lets nothing pass.
    init(perSecond: Double, at now: SteadyTime) {
        self.perSecond = max(0, perSecond)
        level = Self.capacity(perSecond)
        filledAt = now
    }

    private static func capacity(_ perSecond: Double) -> Double { perSecond > 0 ? max(1, perSecond / 4) : 0 }

    /// May be called at any time; what was saved up counts at most as much as the new rate allows.
    mutating func set(perSecond: Double, at now: SteadyTime) {
        fill(at: now)
        self.perSecond = max(0, perSecond)
        level = min(level, Self.capacity(self.perSecond))
    }

    mutating func hasOne(at now: SteadyTime) -> Bool {
        fill(at: now)
        return level >= 1
    }

    mutating func take() { level -= 1 }

    private mutating func fill(at now: SteadyTime) {
        level = min(Self.capacity(perSecond), level + max(0, now.seconds(since: filledAt)) * perSecond)
        filledAt = max(filledAt, now)
    }
}

/// G7: pushes to one device token keep a distance, after a burst (the generic cell rate algorithm: one number a token).
struct Spacing: Equatable, Sendable {
    let seconds: Double
    let burst: Int

    /// - Parameter perSecond: zero or less: no spacing.
    init(perSecond: Double, burst: Int) {
        seconds = perSecond > 0 ? 1 / perSecond : 0
        self.burst = max(1, burst)
    }

    /// - Parameter full: when the burst will be whole again, as the last call left it.
    /// - Returns: when the push may go: now, or later, and then nothing is spent.
    func due(_ full: SteadyTime, at now: SteadyTime) -> SteadyTime {
        let earliest = full.advanced(bySeconds: -seconds * Double(burst - 1))
        return max(now, earliest)
    }

    func spent(_ full: SteadyTime, at now: SteadyTime) -> SteadyTime { max(full, now).advanced(bySeconds: seconds) }
}
