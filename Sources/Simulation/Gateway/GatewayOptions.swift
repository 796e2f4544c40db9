public import CardRules

/// What of the gateway's behaviour is a guess or a choice (ref 8.1, 8.2). The defaults are those of the reference.
public struct GatewayOptions: Sendable {
    /// The provider keys that the gateway knows (ref G14). Empty: every token that is well formed is taken.
    public var keys: [ProviderKey] = []
    /// G4: the reason for a topic without the Live Activity suffix, or with it under another push type.
    public var topicMismatchReason = RefusalReason.Known.badTopic
    /// G5: a Live Activity topic without `apns-push-type` is refused; else it is taken and the phone gets nothing.
    public var refusesMissingPushType = true
    /// G6: priority 1 for a Live Activity is refused.
    public var refusesLowPriority = true
    /// G10: a body that is no JSON is refused with this reason; `nil`: taken, and the phone drops it.
    public var malformedJSONReason: RefusalReason.Known?
    /// G9, bytes.
    public var payloadLimit = 4096
    /// G13: how long a dead push-to-start token goes on being answered with 200 (ref R3, I13).
    public var deadPushToStart = Laziness.forever
    /// G13: the same for the update token of an activity that is over (ref R11: half an hour was seen).
    public var deadUpdate = Laziness.seconds(1800)
    /// G15, seconds: how old `iat` may be, and how far ahead.
    public var providerTokenLife: Double = 3600
    /// G15: the reason for an `iat` too far ahead.
    public var futureTokenReason = RefusalReason.Known.expiredProviderToken
    /// G16, seconds between two new provider tokens on one connection.
    public var providerTokenGap: Double = 1200
    /// G17: what a connection does after `ExpiredProviderToken` or `TooManyProviderTokenUpdates`.
    public var wedge = Wedge.never
    /// G18: a connection is bound to the team and key of its first accepted push.
    public var bindsConnections = true
    /// G18: spell it `BadEnvironmentKeyInToken` (ref K8).
    public var usesOtherEnvironmentSpelling = false
    /// G19: streams a connection may have open before and after its first request with a valid provider token.
    public var streamsBefore = 1
    public var streamsAfter = 1000
    /// G20: a refusal (4xx, not 410) takes the connection down to `streamsBefore` until its next 200 (ref T16).
    public var throttlesOnErrors = false
    /// G20: errors until the connection is ended with GOAWAY; `BadDeviceToken` counts five. `nil`: never.
    public var errorsUntilGoAway: Int?
    /// G19: what a stream beyond the limit gets.
    public var excess = Excess.refuse
    /// G23: connections that may be opened in any minute; `nil`: any number.
    public var opensPerMinute: Int?
    /// G23: how long a client that opened more is refused, seconds.
    public var churnSeconds: Double = 60
    /// G24: pushes to one device token in any second; `nil`: any number.
    public var perTokenPerSecond: Int?
    /// G32: `retry-after` with 429 and 503, seconds; Apple documents none (ref R6).
    public var retryAfterSeconds: Int?
    /// The answers carry `date`, the gateway's clock being this many seconds ahead; `nil`: they carry none.
    public var dateOffsetSeconds: Int64?
    /// How long each answer takes, seconds; the push has reached its phone before.
    public var answerSeconds: Double = 0
    /// G27, the first that matches a request happens to it.
    public var faults: [GatewayFault] = []
    /// G31: how many requests are kept, newest last.
    public var requestsKept = 0

    public init() {}

    public enum Laziness: Hashable, Sendable {
        case never
        case seconds(Double)
        case forever
    }

    public enum Excess: Hashable, Sendable {
        /// RST_STREAM with REFUSED_STREAM.
        case refuse
        /// And GOAWAY with Apple's plain words (ref T17).
        case goAway
    }

    public enum Wedge: Hashable, Sendable {
        case never
        /// Further requests fail with the same reason.
        case refuse
        /// Further requests get no answer.
        case silence
    }
}

/// One provider key as Apple holds it (ref K1, K7).
public struct ProviderKey: Sendable {
    public let keyID: String
    public let teamID: String
    /// The environments that the key is good for.
    public let gateways: Set<Gateway>
    /// The bundle ids that it may push to; `nil`: any.
    public let bundleIDs: Set<String>?
    /// ES256 over the bytes before the second dot: the message and the raw signature, 64 bytes r then s.
    public let verifies: @Sendable (_ message: [UInt8], _ signature: [UInt8]) -> Bool

    public init(
        keyID: String, teamID: String, gateways: Set<Gateway> = [.production, .sandbox],
        bundleIDs: Set<String>? = nil,
        verifies: @escaping @Sendable (_ message: [UInt8], _ signature: [UInt8]) -> Bool
    ) {
        self.keyID = keyID
        self.teamID = teamID
        self.gateways = gateways
        self.bundleIDs = bundleIDs
        self.verifies = verifies
    }
}
