/// One decision of a lane, for people: what was decided, by which rule, and why. Never holds a token or a score (P2).
public struct TimelineEntry: Hashable, Sendable {
    public let at: WallTime
    public let key: CardKey?
    public let kind: Kind
    public let rule: Rule?
    /// A short sentence.
    public let detail: String
    /// The push concerned, if any.
    public let push: PushNumber?

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case start, update, end, withheld, verdict, token, report, sync, takeover, reissue, probe, moment
    }

    public init(at: WallTime, key: CardKey?, kind: Kind, rule: Rule?, detail: String, push: PushNumber? = nil) {
        self.at = at
        self.key = key
        self.kind = kind
        self.rule = rule
        self.detail = detail
        self.push = push
    }
}
