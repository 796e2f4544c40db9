public import CardRules

/// Wall time, injected: real, scaled, or moved by a test.
public protocol WallClock: Sendable {
    var now: WallTime { get }

    /// Returns when `now >= deadline`, early when woken for another reason, or throws `CancellationError`.
    func sleep(until deadline: WallTime) async throws
}

/// Time that only goes forward, injected: for waits inside one process. Setting the machine's clock does not move it.
public protocol SteadyClock: Sendable {
    var uptime: SteadyTime { get }
}

/// A reading of a `SteadyClock`: means nothing but its distance to another reading of the same clock.
public struct SteadyTime: Hashable, Comparable, Sendable {
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static let zero = SteadyTime(nanoseconds: 0)
    public static let distantFuture = SteadyTime(nanoseconds: .max)

    /// - Parameter seconds: may be negative or fractional; the sum saturates.
    public func advanced(bySeconds seconds: Double) -> SteadyTime {
        let step = seconds * 1e9
        let bounded = step >= 9.2e18 ? Int64.max : step <= -9.2e18 ? .min : step == step ? Int64(step) : 0
        let (sum, overflow) = nanoseconds.addingReportingOverflow(bounded)
        return SteadyTime(nanoseconds: overflow ? (seconds < 0 ? .min : .max) : sum)
    }

    /// Seconds from `earlier` to `self`; negative when `earlier` is later.
    public func seconds(since earlier: SteadyTime) -> Double {
        Double(nanoseconds) / 1e9 - Double(earlier.nanoseconds) / 1e9
    }

    public static func < (left: SteadyTime, right: SteadyTime) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// Random bits, injected and seeded. Never used for keys.
public protocol RandomSource: Sendable {
    func next() -> UInt64
}
