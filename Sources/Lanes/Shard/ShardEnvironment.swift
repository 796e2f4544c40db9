import CardRules
import PushWire

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
    /// L10: the node's limit, shared out, so that no two shards need to agree.
    let claimsAtOnce: Int
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
