public import CardRules

/// What must hold, always: rules.md, section 11.
public enum Invariant: String, Hashable, Sendable, CaseIterable {
    case i1 = "I1"
    case i2 = "I2"
    case i3 = "I3"
    case i4 = "I4"
    case i5 = "I5"
    case i6 = "I6"
    case i7 = "I7"
    case i8 = "I8"
    case i9 = "I9"
    case i10 = "I10"

    /// I4 and I8 concern sessions, and reissues that a phone could not have missed; they are not judged yet.
    public var isJudged: Bool { self != .i4 && self != .i8 }
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
    /// How long an answer may be under way before the server must act on it.
    public var answerSeconds: Double = 35
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
    /// Whose token it is; `nil` for one that no phone has.
    public let phone: Int?
    public let target: PushTarget?

    public init(
        at: WallTime, gateway: Gateway, token: [UInt8], push: ReceivedPush, status: Int, reason: String? = nil,
        timestamp: Int64? = nil, answerArrives: Bool = true, phone: Int?, target: PushTarget?
    ) {
        self.at = at
        self.gateway = gateway
        self.token = token
        self.push = push
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.answerArrives = answerArrives
        self.phone = phone
        self.target = target
    }
}
