import CardRules
import Synchronization

/// Everything that reaches a shard from other threads, a batch at a time.
///
/// Ticks are latest-wins in one slot; calls, verdicts and commit outcomes are never dropped. A call that finds
/// `callsHeld` waiting is told so.
final class ShardInbox: Sendable, VerdictSink {
    static let callsHeld = 200_000

    struct Load {
        var calls: [DeviceCall] = []
        var answers: [PushAnswer] = []
        var commits: [CommitOutcome] = []
        var snapshot: SlateSnapshot?
        /// Time has passed: look at the deadlines.
        var isTimeDue = false
        /// Write also what could wait for company.
        var isFlush = false

        var isEmpty: Bool {
            calls.isEmpty && answers.isEmpty && commits.isEmpty && snapshot == nil && !isTimeDue && !isFlush
        }
    }

    private let load = Mutex(Load())
    private let earliest = Mutex<WallTime?>(nil)
    private let wake: AsyncStream<Void>.Continuation
    /// One element says: there may be something; any number of offers between two turns make one.
    let wakes: AsyncStream<Void>

    init() {
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// - Returns: `false` when too many calls wait: nothing was taken.
    func offer(_ call: DeviceCall) -> Bool {
        let isTaken = load.withLock { load in
            guard load.calls.count < ShardInbox.callsHeld else { return false }
            load.calls.append(call)
            return true
        }
        if isTaken { wake.yield() }
        return isTaken
    }

    /// A newer snapshot replaces one that was not looked at.
    func offer(_ snapshot: SlateSnapshot) {
        load.withLock { $0.snapshot = snapshot }
        wake.yield()
    }

    /// Something one lane says to another: few, and never refused.
    func offerInternal(_ call: DeviceCall) {
        load.withLock { $0.calls.append(call) }
        wake.yield()
    }

    func offerFlush() {
        load.withLock { $0.isFlush = true }
        wake.yield()
    }

    func offerTime() {
        load.withLock { $0.isTimeDue = true }
        wake.yield()
    }

    func take(_ answers: [PushAnswer]) {
        load.withLock { $0.answers += answers }
        wake.yield()
    }

    func take(_ outcome: CommitOutcome) {
        load.withLock { $0.commits.append(outcome) }
        wake.yield()
    }

    /// Everything that waits.
    func takeAll() -> Load {
        load.withLock { load in
            let all = load
            load = Load()
            return all
        }
    }

    var isEmpty: Bool { load.withLock { $0.isEmpty } }

    /// When the shard next wants to be woken, for whoever drives the time.
    var nextDeadline: WallTime? {
        get { earliest.withLock { $0 } }
        set { earliest.withLock { $0 = newValue } }
    }

    func finish() { wake.finish() }
}
