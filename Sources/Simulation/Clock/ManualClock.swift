public import CardRules
public import Lanes
import Synchronization

/// A clock that only its owner moves. Sleepers wake when it passes their deadline. Its steady time goes along forwards,
/// and stands still while the clock is set back.
public final class ManualClock: WallClock, SteadyClock {
    private struct State {
        var now: WallTime
        var uptime = SteadyTime.zero
        var sleepers: [Int: (deadline: WallTime, wake: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        var count = 0
    }

    private let state: Mutex<State>

    public init(now: WallTime) { state = Mutex(State(now: now)) }

    public var now: WallTime { state.withLock { $0.now } }

    public var uptime: SteadyTime { state.withLock { $0.uptime } }

    /// Sets the wall clock as a person would: no time passes.
    public func step(bySeconds seconds: Double) {
        let before = uptime
        set(now.advanced(bySeconds: seconds))
        state.withLock { $0.uptime = before }
    }

    /// Moves the clock, also backwards, and wakes whoever is due.
    public func set(_ time: WallTime) {
        let due = state.withLock { state in
            state.uptime = state.uptime.advanced(bySeconds: max(0, time.seconds(since: state.now)))
            state.now = time
            let due = state.sleepers.filter { $0.value.deadline <= time }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value.wake)
        }
        for wake in due { wake.resume() }
    }

    public func advance(bySeconds seconds: Double) { set(now.advanced(bySeconds: seconds)) }

    public func sleep(until deadline: WallTime) async throws {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (wake: CheckedContinuation<Void, any Error>) in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[id] = (deadline, wake)
                    return nil
                }
                if let outcome { wake.resume(with: outcome) }
            }
        } onCancel: {
            let wake = state.withLock { state in
                guard let sleeper = state.sleepers.removeValue(forKey: id) else {
                    state.cancelled.insert(id)
                    return nil as CheckedContinuation<Void, any Error>?
                }
                return sleeper.wake
            }
            wake?.resume(throwing: CancellationError())
        }
    }
}
