public import CardRules

/// One request to APNs, complete but for the provider token.
/// Source: Apple, "Sending notification requests to APNs" (ref section 1.2).
public struct PushRequest: Hashable, Sendable {
    /// `apns-id`: ours, one per attempt (P10).
    public let id: ApnsID
    public let address: PushAddress
    /// `apns-topic`: bundle id + `.push-type.liveactivity`.
    public let topic: String
    public let event: PushEvent
    public let priority: PushPriority
    /// `apns-expiration`, Unix seconds.
    public let expiration: Int64
    /// `apns-collapse-id`, 1 to 64 bytes; starts carry one (P10).
    public let collapseID: String?
    /// The JSON body, at most 4,096 bytes (P8); shared by every push of the same content.
    public let payload: [UInt8]

    public init(
        id: ApnsID, address: PushAddress, topic: String, event: PushEvent, priority: PushPriority, expiration: Int64,
        collapseID: String?, payload: [UInt8]
    ) {
        self.id = id
        self.address = address
        self.topic = topic
        self.event = event
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
    }
}

/// 128 random bits, written as a canonical lower-case UUID of version 4.
public struct ApnsID: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    /// Random bits; those that mark version and variant are overwritten (RFC 9562, 5.4).
    public init(randomHigh: UInt64, randomLow: UInt64) {
        high = randomHigh & ~0xf000 | 0x4000
        low = randomLow & ~(3 << 62) | 2 << 62
    }
}
