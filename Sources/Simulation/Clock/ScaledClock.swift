public import CardRules
public import Lanes

/// Real time, run faster: from `start` on, `speed` seconds pass in each real one. The one place in the simulation that
/// looks at a real clock.
public struct ScaledClock: WallClock {
    private let start: WallTime
    private let speed: Double
    private let began: ContinuousClock.Instant

    /// - Parameter speed: above zero.
    public init(start: WallTime, speed: Double) {
        self.start = start
        self.speed = max(speed, 0.001)
        began = .now
    }

    public var now: WallTime {
        let elapsed = began.duration(to: .now).components
        return start.advanced(bySeconds: (Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18) * speed)
    }

    public func sleep(until deadline: WallTime) async throws {
        let seconds = deadline.seconds(since: now) / speed
        if seconds > 0 { try await ContinuousClock().sleep(for: .seconds(seconds)) }
    }
}
