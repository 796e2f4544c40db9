/// The card that is to follow one due for reissue. While there is one, the card under its key is `replacing`.
public struct Successor: Hashable, Sendable {
    public let key: CardKey
    /// Names the portion that it belongs to: only when all of a portion are accepted are their old cards ended (R2).
    public let portion: Int
    public var claimedAt: WallTime
    public var state: State
    /// The earliest evidence of it (L4).
    public var ageBegan: WallTime?
    /// Once it is acknowledged.
    public var activity: ActivityID?
    public var updateAddress: PushAddress?
    public var tokenReportedAt: WallTime?

    public enum State: Hashable, Sendable {
        /// Its start is claimed, the push may or may not have left. -> accepted, unknown, refused.
        case starting
        /// APNs has accepted it; others of its portion are not there yet.
        case accepted
        /// It may be on the phone: not repeated (R3).
        case unknown
        /// Refused or not sent: tried again then (R3). -> starting.
        case refused(retryAt: WallTime)
    }

    /// It may stand on the phone.
    public var mayStand: Bool { if case .refused = state { false } else { true } }

    public init(key: CardKey, portion: Int, claimedAt: WallTime, state: State, ageBegan: WallTime? = nil) {
        self.key = key
        self.portion = portion
        self.claimedAt = claimedAt
        self.state = state
        self.ageBegan = ageBegan
    }
}
