public import CardRules
internal import Glibc
public import Lanes

/// The machine's own clocks. The one place of the daemon that looks at them.
public struct MachineClock: WallClock, SteadyClock {
    public init() {}

    public var now: WallTime {
        let time = read(CLOCK_REALTIME)
        return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Since the machine was started; stands still while it sleeps.
    public var uptime: SteadyTime {
        let time = read(CLOCK_MONOTONIC)
        return SteadyTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    private func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }

    /// R7: a step of the wall clock is noticed within this, in either direction.
    static let lookSeconds = 0.5

    public func sleep(until deadline: WallTime) async throws {
        while true {
            let seconds = deadline.seconds(since: now)
            guard seconds > 0 else { return try Task.checkCancellation() }
            try await ContinuousClock().sleep(for: .seconds(min(seconds, Self.lookSeconds)))
        }
    }
}
