public import CardRules

/// What must hold, always, seen from the phones.
public enum Invariant: String, Hashable, Sendable, CaseIterable {
    /// Never more than one server-started card alive under a key on a phone.
    case i1 = "I1"
    /// Accepted starts per phone and night stay within S6, whatever crashed; and none is sent that S1, S5, S8, S9 or S10
    /// withholds.
    case i2 = "I2"
    /// Every start had an alert, no stale date and no spoiler; no background push was sent.
    case i3 = "I3"
    /// A running session whose card was confirmed is not left with a dead card.
    case i4 = "I4"
    /// Nothing was sent to a card that the server had reason to know expired.
    case i5 = "I5"
    /// Within a minute every reachable phone shows exactly what the rules give.
    case i6 = "I6"
    /// No valid token was cleared.
    case i7 = "I7"
    /// No owed end was forgotten.
    case i8 = "I8"
    /// No takeover went against the owner's wishes, none flickered.
    case i9 = "I9"
    /// Nothing was said twice, and the timestamps of a card strictly rise.
    case i10 = "I10"
}

/// One breach of an invariant, as seen from a phone or at a gateway.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    public let invariant: Invariant
    public let at: WallTime
    /// Its place in the fleet; `nil` where no phone is concerned.
    public let phone: Int?
    /// A sentence; holds no token.
    public let detail: String

    public var description: String {
        "\(invariant.rawValue) at \(at.unixSeconds)\(phone.map { ", phone \($0)" } ?? ""): \(detail)"
    }
}

/// How strictly is judged. Seconds.
public struct JudgeOptions: Hashable, Sendable {
    /// I6: how long a phone may take to show what is so.
    public var settleSeconds: Double = 60
    /// How long a report or a push may be under way: what left before is taken to have arrived.
    public var inFlightSeconds: Double = 2
    /// How long after its token was reported a card may show for the first time what was decided before.
    public var firstUpdateSeconds: Double = 5
    /// How long an answer may be under way before the server must act on it.
    public var answerSeconds: Double = 35
    /// Reports count from when they reach the server and are answered (`arrives`, `isAnswered`), and the slate is kept from
    /// when it says so (`slateIsKept`); else from when they leave.
    public var hearsReportsOnArrival = false
    /// Violations kept with their sentences; all are counted.
    public var violationsKept = 200
    /// The attributes type of slate cards.
    public var slateAttributesType = "LineupAttributes"

    public init() {}
}

/// One push as it was at a gateway, with its answer.
public struct PushAttempt: Hashable, Sendable {
    public let at: WallTime
    public let gateway: Gateway
    public let token: [UInt8]
    public let push: ReceivedPush
    /// HTTP status and Apple's word.
    public let status: Int
    public let reason: String?
    /// Milliseconds, only with 410.
    public let timestamp: Int64?
    /// Whether the server got the answer; where it did not, its verdict is unknown.
    public let answerArrives: Bool
    /// Accepted, and it will reach no phone (ref R3).
    public let isLost: Bool
    /// When the server handed it to its pool; `nil`: just now.
    public var queuedAt: WallTime?
    /// Whose token it is; `nil` for one that no phone has.
    public let phone: Int?
    public let target: PushTarget?

    public init(
        at: WallTime, gateway: Gateway, token: [UInt8], push: ReceivedPush, status: Int, reason: String? = nil,
        timestamp: Int64? = nil, answerArrives: Bool = true, isLost: Bool = false, phone: Int?,
        target: PushTarget?
    ) {
        self.at = at
        self.gateway = gateway
        self.token = token
        self.push = push
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.answerArrives = answerArrives
        self.isLost = isLost
        self.phone = phone
        self.target = target
    }
}
