/// One decision of a lane, for people: what was decided, by which rule, and why. Never holds a token or a score (P2).
public struct TimelineEntry: Hashable, Sendable {
    public let at: WallTime
    public let key: CardKey?
    public let kind: Kind
    public let rule: Rule?
    /// A short sentence.
    public let detail: String
    /// What would change the decision, a short sentence; `nil` where it stands by itself.
    public let changesWhen: String?
    /// The push concerned, if any.
    public let push: PushNumber?
    /// What a probe has come to, for programs; `nil` where it is about none.
    public let probe: ProbeStep?

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case start, update, end, withheld, verdict, token, report, sync, takeover, reissue, probe, moment
    }

    public init(
        at: WallTime, key: CardKey?, kind: Kind, rule: Rule?, detail: String, changesWhen: String? = nil,
        push: PushNumber? = nil, probe: ProbeStep? = nil
    ) {
        self.at = at
        self.key = key
        self.kind = kind
        self.rule = rule
        self.detail = detail
        self.changesWhen = changesWhen
        self.push = push
        self.probe = probe
    }
}

extension TimelineEntry {
    /// It says what became of a card and by which rule; the other kinds say what was heard.
    public var isDecision: Bool {
        guard key != nil, rule != nil else { return false }
        return switch kind {
        case .start, .update, .end, .withheld, .takeover, .reissue: true
        case .report: changesWhen != nil
        case .verdict, .token, .sync, .probe, .moment: false
        }
    }

    /// The decision that stands for each key: the last one of these entries about it, newest first in `entries`.
    public static func lastDecisions(in entries: some Sequence<TimelineEntry>) -> [CardKey: TimelineEntry] {
        var last: [CardKey: TimelineEntry] = [:]
        for entry in entries where entry.isDecision {
            if let key = entry.key, last[key] == nil { last[key] = entry }
        }
        return last
    }
}
