import CardRules
import Lanes
import Synchronization

@testable import PushPool

/// Keeps the verdicts, and lets a test wait until enough have come.
final class Collector: VerdictSink {
    private struct State {
        var answers: [PushAnswer] = []
        var waiting: (count: Int, wake: CheckedContinuation<Void, Never>)?
        var isOffered = false
        var offer: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    var answers: [PushAnswer] { state.withLock { $0.answers } }
    var verdicts: [Verdict] { answers.map(\.verdict) }

    func take(_ answers: [PushAnswer]) {
        let wake = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.answers += answers
            guard let waiting = state.waiting, state.answers.count >= waiting.count else { return nil }
            state.waiting = nil
            return waiting.wake
        }
        wake?.resume()
    }

    func mayOffer() {
        let wake = state.withLock { state in
            state.isOffered = true
            defer { state.offer = nil }
            return state.offer
        }
        wake?.resume()
    }

    /// Until the pool says that it has room again.
    func waitForOffer() async {
        await withCheckedContinuation { wake in
            let isThere = state.withLock { state in
                if !state.isOffered { state.offer = wake }
                return state.isOffered
            }
            if isThere { wake.resume() }
        }
    }

    /// Until so many are there, or the task is cancelled.
    func wait(for count: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                let isThere = state.withLock { state in
                    guard state.answers.count < count, !Task.isCancelled else { return true }
                    state.waiting = (count, wake)
                    return false
                }
                if isThere { wake.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.wake.resume()
        }
    }

    func count(_ verdict: Verdict) -> Int { verdicts.count { $0 == verdict } }

    /// Every push of 0..<count has exactly one verdict.
    func hasOneEach(_ count: Int) -> Bool {
        let numbers = answers.map { Int($0.ticket.number.value) }.sorted()
        return numbers == Array(0..<count)
    }
}

/// Keeps what a pool traces.
final class NoticeCollector: PoolTrace {
    private struct State {
        var events: [PoolTraceEvent] = []
        var written = 0
        var waiting: (count: Int, wake: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    var all: [PoolTraceEvent] { state.withLock { $0.events } }
    var notices: [PoolNotice] { all.compactMap { if case .notice(let notice) = $0 { notice } else { nil } } }

    func record(_ event: PoolTraceEvent) {
        let wake = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.events.append(event)
            if case .written = event { state.written += 1 }
            guard let waiting = state.waiting, state.written >= waiting.count else { return nil }
            state.waiting = nil
            return waiting.wake
        }
        wake?.resume()
    }

    /// Until so many requests were handed to connections, repeats included.
    func waitForWritten(_ count: Int) async {
        await withCheckedContinuation { wake in
            let isThere = state.withLock { state in
                guard state.written < count else { return true }
                state.waiting = (count, wake)
                return false
            }
            if isThere { wake.resume() }
        }
    }
}
