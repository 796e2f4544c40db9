import CardRules
import Synchronization

/// Everything that reaches a shard from other threads, a batch at a time.
///
/// Ticks are latest-wins in one slot; calls, verdicts and commit outcomes are never dropped. A call that finds
/// `callsHeld` waiting is told so.
final class ShardInbox: Sendable, VerdictSink {
    private let callsHeld: Int

    struct Load {
        var calls: [DeviceCall] = []
        var answers: [PushAnswer] = []
        var commits: [CommitOutcome] = []
        /// Lanes to throw away, and what is heard of those that were.
        var kills: [KillOrder] = []
        /// Partitions that come and go.
        var orders: [PartitionOrder] = []
        /// Posts that went on to another record, which has them now.
        var applied: [AppliedPost] = []
        var fallenNews: [(device: DeviceID, news: FallenNews)] = []
        var snapshot: SlateSnapshot?
        /// Comes with a snapshot.
        var tuning: Tuning?
        /// Whoever waits for the turns of the snapshot, the oldest first.
        var ticks: [TickWatch] = []
        /// Time has passed: look at the deadlines.
        var isTimeDue = false
        /// Write also what could wait for company.
        var isFlush = false
        /// Calls are not taken any more.
        var isFinished = false
        /// The loop has ended: nobody carries out orders.
        var isLoopOver = false
        /// How often anything came in.
        var offers: UInt64 = 0

        var isEmpty: Bool {
            calls.isEmpty && answers.isEmpty && commits.isEmpty && kills.isEmpty && fallenNews.isEmpty
                && orders.isEmpty && applied.isEmpty && snapshot == nil && !isTimeDue && !isFlush
        }
    }

    private let load = Mutex(Load())
    private let earliest = Mutex<WallTime?>(nil)
    private let wake: AsyncStream<Void>.Continuation
    /// One element says: there may be something; any number of offers between two turns make one.
    let wakes: AsyncStream<Void>

    init(callsHeld: Int) {
        self.callsHeld = callsHeld
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// - Returns: why the call was not taken, when too many wait or nobody works any more.
    func offer(_ call: DeviceCall) -> DeviceAnswer? {
        let refusal: DeviceAnswer? = load.withLock { load in
            if load.isFinished { return .unavailable }
            guard load.calls.count < callsHeld else { return .overloaded }
            load.calls.append(call)
            load.offers += 1
            return nil
        }
        if refusal == nil { wake.yield() }
        return refusal
    }

    private func put(_ change: (inout Load) -> Void) {
        load.withLock { load in
            change(&load)
            load.offers += 1
        }
        wake.yield()
    }

    /// A newer snapshot replaces one that was not looked at.
    func offer(_ snapshot: SlateSnapshot, tuning: Tuning? = nil, watch: TickWatch? = nil) {
        put { load in
            load.snapshot = snapshot
            if let tuning { load.tuning = tuning }
            guard let watch else { return }
            if load.ticks.count >= Self.ticksHeld { load.ticks.removeFirst() }
            load.ticks.append(watch)
        }
    }

    /// Ticks that one sweep can answer; of more the oldest are not measured.
    private static let ticksHeld = 64

    /// Something one lane says to another: few, and never refused.
    func offerInternal(_ call: DeviceCall) {
        let isTaken = load.withLock { load in
            guard !load.isFinished else { return false }
            load.calls.append(call)
            load.offers += 1
            return true
        }
        if isTaken { wake.yield() } else { call.reply(.unavailable) }
    }

    func offer(_ order: KillOrder) {
        let isTaken = load.withLock { load in
            guard !load.isFinished else { return false }
            load.kills.append(order)
            load.offers += 1
            return true
        }
        if isTaken { wake.yield() } else { order.whenWritten(false) }
    }

    func offer(_ order: PartitionOrder) {
        let isTaken = load.withLock { load in
            guard !load.isFinished, !load.isLoopOver else { return false }
            load.orders.append(order)
            load.offers += 1
            return true
        }
        if isTaken { wake.yield() } else { order.callOff() }
    }

    func offer(_ applied: AppliedPost) { put { $0.applied.append(applied) } }

    func offer(_ news: FallenNews, of device: DeviceID) { put { $0.fallenNews.append((device, news)) } }

    func offerFlush() { put { $0.isFlush = true } }

    /// Until the shard has looked it has no next deadline: whoever drives the time must not ask for this one again.
    func offerTime() {
        nextDeadline = nil
        put { $0.isTimeDue = true }
    }

    func take(_ answers: [PushAnswer]) { put { $0.answers += answers } }

    /// The shard's next turn offers again what the pusher had no room for.
    func mayOffer() { put { $0.isTimeDue = true } }

    func take(_ outcome: CommitOutcome) { put { $0.commits.append(outcome) } }

    /// Everything that waits.
    func takeAll() -> Load {
        load.withLock { load in
            let all = load
            load = Load()
            load.isFinished = all.isFinished
            load.isLoopOver = all.isLoopOver
            load.offers = all.offers
            return all
        }
    }

    var isEmpty: Bool { load.withLock { $0.isEmpty } }

    var callsWaiting: Int { load.withLock { $0.calls.count } }

    /// How often anything came in: unchanged, nothing has happened between two looks.
    var offers: UInt64 { load.withLock { $0.offers } }

    /// When the shard next wants to be woken, for whoever drives the time.
    var nextDeadline: WallTime? {
        get { earliest.withLock { $0 } }
        set { earliest.withLock { $0 = newValue } }
    }

    /// Whoever waits for an order must not wait for a loop that has ended.
    func endLoop() {
        let orders = load.withLock { load in
            load.isLoopOver = true
            defer { load.orders = [] }
            return load.orders
        }
        for order in orders { order.callOff() }
    }

    /// - Returns: the calls and kills that nobody will take any more; orders have been called off with the loop.
    func finish() -> (calls: [DeviceCall], kills: [KillOrder]) {
        wake.finish()
        return load.withLock { load in
            load.isFinished = true
            defer { (load.calls, load.kills) = ([], []) }
            return (load.calls, load.kills)
        }
    }
}
