import CardRules
import Lanes
import Measuring
import Synchronization

/// Wall time that stands where it was put, while reading it costs what reading the machine's clock costs; steady time is
/// the machine's own.
final class SetClock: WallClock, SteadyClock {
    private let milliseconds: Atomic<Int64>

    init(_ time: WallTime) { milliseconds = Atomic(time.milliseconds) }

    var now: WallTime {
        _ = unixSeconds()
        return WallTime(milliseconds: milliseconds.load(ordering: .relaxed))
    }

    var uptime: SteadyTime { SteadyTime(nanoseconds: Int64(uptimeSeconds() * 1e9)) }

    func advance(bySeconds seconds: Double) {
        milliseconds.add(Int64(seconds * 1000), ordering: .relaxed)
    }

    func sleep(until deadline: WallTime) async throws { try await ContinuousClock().sleep(for: .seconds(3600)) }
}
