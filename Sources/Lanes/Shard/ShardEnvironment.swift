import CardRules
import PushWire
import Synchronization

/// What every shard of a system is given.
struct ShardEnvironment: Sendable {
    let profiles: [AppID: AppProfile]
    let store: any Store
    /// `nil`: every partition is this node's, for good.
    let cluster: (any Cluster)?
    let pusher: any Pusher
    let clock: any WallClock
    let random: any RandomSource
    let trace: any Trace
    let zone: @Sendable (String) -> Zone?
    let claims: ClaimCount
    let hub: TimelineHub
    let keepsTimeline: Bool
    let storeRetrySeconds: Double
    let restarts: RestartIntensity
    /// For durations; `nil`: none are measured.
    let steady: (any SteadyClock)?
    let callsHeld: Int
}

/// R7: a wall clock behind the latest time seen by more than this was set back.
let clockStepSeconds = 0.5

/// Something that a restored record has to ask another one again, its own record being durable (S7).
struct OwedMessage: Sendable {
    let from: DeviceID
    let effect: LaneEffect
    let reportedAt: WallTime
}

/// A call about a session or a device that this node does not know. Another node may have answered 201 for it, the news
/// being on their way.
struct Doubt: Sendable {
    let call: DeviceCall
    let isOfDevice: Bool
}

/// How shards reach each other.
protocol ShardRouter: AnyObject, Sendable {
    /// An event for a device of whatever shard.
    func deliver(_ call: DeviceCall)
    /// A `claimPhone`, `handOver`, `confirmHandover` or `askSessions` whose record is durable.
    func route(_ effect: LaneEffect, from device: DeviceID)
    /// A session that is durable, running or stopped.
    func session(_ key: CardKey) -> Session?
    /// The device that a call was for is not there.
    func undelivered(_ call: DeviceCall)
    /// The store refuses what is written of a partition: when this returns, `deliver` takes its devices' calls elsewhere.
    func fenced(_ partition: Int, epoch: Int64)
    /// In a cluster: a call about what is not known here. It comes back when it is certain.
    func lookUp(_ doubt: Doubt)
    /// A lane that was parked is to be read again.
    func reread(_ device: DeviceID)
}

/// L10: how many starts are claimed and not answered on this node.
final class ClaimCount: Sendable {
    private let count = Atomic<Int>(0)
    private let limit: Atomic<Int>

    init(limit: Int) { self.limit = Atomic(limit) }

    /// From now on; what is claimed already stays so.
    func change(limit: Int) { self.limit.store(limit, ordering: .relaxed) }

    /// Room for one more. What is taken is given back unused, or when the start is answered.
    /// - Returns: `false` when there is none.
    func take() -> Bool {
        var seen = count.load(ordering: .relaxed)
        while seen < limit.load(ordering: .relaxed) {
            let (isTaken, now) = count.weakCompareExchange(expected: seen, desired: seen + 1, ordering: .relaxed)
            if isTaken { return true }
            seen = now
        }
        return false
    }

    func giveBack() { count.subtract(1, ordering: .relaxed) }
}
