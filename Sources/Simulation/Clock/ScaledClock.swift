public import CardRules
public import Lanes
internal import Synchronization

/// Real time, run faster: from `start` on, `speed` seconds pass in each real one, save while it is paused. The one place
/// in the simulation that looks at a real clock.
public final class ScaledClock: WallClock, SteadyClock {
    private let start: WallTime
    private let speed: Double
    private let state: Mutex<State>

    private struct State {
        /// What the clock said at `since`.
        var reached: WallTime
        /// `nil`: it stands.
        var since: ContinuousClock.Instant?
    }

    /// - Parameter speed: above zero.
    public init(start: WallTime, speed: Double) {
        self.start = start
        self.speed = max(speed, 0.001)
        state = Mutex(State(reached: start, since: .now))
    }

    public var now: WallTime { state.withLock { now($0) } }

    /// It goes forward only, as `now` does.
    public var uptime: SteadyTime { SteadyTime.zero.advanced(bySeconds: now.seconds(since: start)) }

    private func now(_ state: State) -> WallTime {
        guard let since = state.since else { return state.reached }
        let elapsed = since.duration(to: .now).components
        return state.reached.advanced(
            bySeconds: (Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18) * speed)
    }

    /// The clock stands from now on. A sleeper may wake early for it.
    public func pause() {
        state.withLock { state in
            state.reached = now(state)
            state.since = nil
        }
    }

    /// It goes on from where it stood.
    public func goOn() {
        state.withLock { state in if state.since == nil { state.since = .now } }
    }

    public func sleep(until deadline: WallTime) async throws {
        let seconds = deadline.seconds(since: now) / speed
        if seconds > 0 { try await ContinuousClock().sleep(for: .seconds(seconds)) }
    }
}
