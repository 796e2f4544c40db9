import CardRules
import PushWire
import Synchronization

/// What every shard of a system is given.
struct ShardEnvironment: Sendable {
    let tuning: Tuning
    let profiles: [AppID: AppProfile]
    let store: any Store
    let pusher: any Pusher
    let clock: any WallClock
    let random: any RandomSource
    let trace: any Trace
    let zone: @Sendable (String) -> Zone?
    let claims: ClaimCount
    let keepsTimeline: Bool
    let storeRetrySeconds: Double
}

/// How shards reach each other.
protocol ShardRouter: AnyObject, Sendable {
    /// An event for a device of whatever shard.
    func deliver(_ call: DeviceCall)
    /// A `claimPhone`, `handOver` or `confirmHandover` whose record is durable.
    func route(_ effect: LaneEffect, from device: DeviceID)
    /// The device that a call was for is not there.
    func undelivered(_ call: DeviceCall)
}

/// L10: how many starts are claimed and not answered on this node.
final class ClaimCount: Sendable {
    private let count = Atomic<Int>(0)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func made(_ claims: Int) { count.add(claims, ordering: .relaxed) }
    func answered(_ claims: Int) { count.subtract(claims, ordering: .relaxed) }
    var isFull: Bool { count.load(ordering: .relaxed) >= limit }
}
