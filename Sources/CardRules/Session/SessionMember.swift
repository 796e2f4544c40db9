/// What one lane keeps of a session that names its phone, or whose card it still has to end. The content is not here:
/// it is the `Session`'s, found again by the key.
public struct SessionMember: Hashable, Sendable {
    public let key: CardKey
    /// Of the session as this lane last heard of it; what is not above it is no news.
    public var version: Int64
    /// Records of this phone, other than the lane's own, that the session names (S7).
    public var names: [DeviceID]
    /// The session was stopped, or does not name this phone any more: its cards are ended (E3).
    public var isOver: Bool
    /// A start that is still to come.
    public var pending: PendingStart?

    public init(
        key: CardKey, version: Int64, names: [DeviceID] = [], isOver: Bool = false, pending: PendingStart? = nil
    ) {
        self.key = key
        self.version = version
        self.names = names
        self.isOver = isOver
        self.pending = pending
    }
}

/// A session's start that could not be sent yet (section 2).
public struct PendingStart: Hashable, Sendable {
    /// The rule that withheld it last; S4 before it was first decided.
    public var rule: Rule
    /// When time alone lets it be decided again; `nil` where only an event can.
    public var until: WallTime?
    /// It follows a card that stood before (R2, R5): only the hard cap counts it, and it makes no sound (P1).
    public var isSuccessor: Bool

    public init(rule: Rule, until: WallTime? = nil, isSuccessor: Bool = false) {
        self.rule = rule
        self.until = until
        self.isSuccessor = isSuccessor
    }
}
