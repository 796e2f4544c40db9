/// What the app remembers of its cards from one launch to the next: when it first saw each, and what the server has
/// been told. Encode it, and keep it where widget and app find it.
///
/// Bounded: `activitiesKept` activities and as many dismissals, the oldest forgotten first.
public struct ClientMemory: Hashable, Sendable, Codable {
    public internal(set) var activities: [Remembered] = []
    /// When the owner swiped away the card of a key, the newest last.
    public internal(set) var dismissals: [Dismissal] = []

    public static let activitiesKept = 64

    public init() {}

    public struct Remembered: Hashable, Sendable, Codable {
        public let activity: ActivityID
        public let key: CardKey
        public let firstSeen: WallTime
        public var startedBy: Card.StartedBy
        /// The server has this token; gateway and hex, in one text as in one write (G1).
        var reportedAddress: String?
        var isStaleReported = false
        /// The app ended it: that it is dismissed then says nothing about its owner.
        var isEndedByApp = false
        var wasSeenEnded = false
        /// What is still to be told of its end, and since when.
        var owedReport: OwedReport?
        var isEndReported = false
    }

    struct OwedReport: Hashable, Sendable, Codable {
        let kind: CardReport.Kind
        let at: WallTime
    }

    public struct Dismissal: Hashable, Sendable, Codable {
        public let key: CardKey
        public let at: WallTime
    }

    /// The app has just started this card itself (`Activity.request`).
    public mutating func startedHere(_ activity: ActivityID, under key: CardKey, at now: WallTime) {
        guard self[activity] == nil else { return change(activity) { $0.startedBy = .app } }
        remember(
            ClientActivity(id: activity, key: key, state: .active, updateAddress: nil, began: now, startedBy: .app),
            at: now)
    }

    /// The server answered 2xx: it is not told again. A report that got lost is handed out again by the next
    /// `recover` (ref I22: uploads from a background wake are easily lost).
    public mutating func delivered(_ report: ClientReport) {
        switch report {
        case .cardToken(let token):
            change(token.activity) { $0.reportedAddress = addressText(token.address) }
        case .card(let report):
            change(report.activity) {
                if report.kind == .stale { $0.isStaleReported = true }
                if $0.owedReport?.kind == report.kind {
                    $0.owedReport = nil
                    $0.isEndReported = true
                }
            }
        case .device, .selection: break
        }
    }

    /// The server knows of this card, so its end is the server's (E4): it started it, or it has its token.
    public func isOwnedByServer(_ activity: ActivityID) -> Bool {
        guard let known = self[activity] else { return false }
        return known.startedBy == .push || known.reportedAddress != nil
    }

    /// The owner swiped the card of this key away since then.
    public func wasDismissed(_ key: CardKey, since time: WallTime) -> Bool {
        dismissals.contains { $0.key == key && $0.at >= time }
    }

    subscript(activity: ActivityID) -> Remembered? { activities.first { $0.activity == activity } }

    mutating func change(_ activity: ActivityID, _ body: (inout Remembered) -> Void) {
        guard let index = activities.firstIndex(where: { $0.activity == activity }) else { return }
        body(&activities[index])
    }

    mutating func remember(_ activity: ClientActivity, at now: WallTime) {
        activities.append(
            Remembered(
                activity: activity.id, key: activity.key, firstSeen: min(activity.began ?? now, now),
                startedBy: activity.startedBy))
        activities.removeFirst(max(0, activities.count - Self.activitiesKept))
    }

    mutating func noteDismissal(of key: CardKey, at now: WallTime) {
        dismissals.removeAll { $0.key == key }
        dismissals.append(Dismissal(key: key, at: now))
        dismissals.removeFirst(max(0, dismissals.count - Self.activitiesKept))
    }
}

func addressText(_ address: PushAddress) -> String { "\(address.gateway.rawValue) \(address.hex)" }
