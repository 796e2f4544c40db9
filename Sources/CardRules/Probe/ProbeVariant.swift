/// The five starts of a probe (`POST /v1/probes`), in their order: the start that the scheduler would send, and four that
/// differ from it in one field. What the phone makes of each tells where pushes are lost.
public enum ProbeVariant: String, Hashable, Sendable, CaseIterable {
    /// As every start is (P1).
    case full
    /// iOS drops it without a word to anybody but its own log (ref L14).
    case noAlert = "no-alert"
    /// The card turns stale at that time; an app that ends what is not active kills it (ref L26).
    case staleDate = "stale-date"
    /// From iOS 18 on its card may never get an update token (ref L3).
    case noInputPushToken = "no-input-push-token"
    /// A content state with nothing but the required keys: one that does not decode shows no card (ref L15, L16).
    case bareContent = "bare-content"

    /// From the beginning of the probe, in its order.
    var number: Int { (Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    /// Seconds between two starts of a probe.
    public static let gapSeconds = 60.0
    /// Units of the hard cap that a probe needs (S6).
    public static let units = Self.allCases.count
}

/// One start of a probe and what is known of its card. Kept until its card is to be ended, or nobody has seen it in time.
public struct ProbeCard: Hashable, Sendable {
    public let variant: ProbeVariant
    /// Where its start goes, whatever gateway the token came with.
    public let gateway: Gateway
    public internal(set) var state: State
    /// Once the app has told of its card.
    public internal(set) var activity: ActivityID?
    /// The push under way. Not kept: after a restart the verdict is unknown.
    var number: PushNumber?
    /// P5, of its start. Not kept.
    var timestamp: Int64 = 0

    public enum State: Hashable, Sendable {
        /// Its turn comes then. -> starting.
        case waiting(until: WallTime)
        /// Claimed, the push may or may not have left. -> accepted, unknown; gone when refused or not sent.
        case starting(claimedAt: WallTime)
        /// APNs has taken it.
        case accepted(at: WallTime)
        /// It may be on the phone: not repeated (L2). Since its claim.
        case unknown(since: WallTime)
    }

    public init(variant: ProbeVariant, gateway: Gateway, state: State, activity: ActivityID? = nil) {
        self.variant = variant
        self.gateway = gateway
        self.state = state
        self.activity = activity
    }

    /// Since when its card may stand; `nil` before its start is claimed.
    var since: WallTime? {
        switch state {
        case .waiting: nil
        case .starting(let time), .accepted(let time), .unknown(let time): time
        }
    }

    /// When its start is due; `nil` once it is claimed.
    var dueAt: WallTime? { if case .waiting(let until) = state { until } else { nil } }

    var isStarting: Bool { if case .starting = state { true } else { false } }

    /// S13: its card may stand on the phone. A start without an alert never becomes one (ref L14).
    var mayStand: Bool { since != nil && variant != .noAlert }

    func step(_ event: ProbeStep.Event) -> ProbeStep { ProbeStep(variant: variant, event: event) }

    var name: String { "variant \(variant.number) of \(ProbeVariant.units), \(variant.rawValue)" }
}

/// Why a probe cannot begin, or go on.
public enum ProbeObstacle: Error, Hashable, Sendable {
    /// Another record owns the phone (S7): probe that one.
    case superseded(by: DeviceID)
    /// No push-to-start token is held (S2).
    case noToken
    /// One of this phone is still going on.
    case running
    /// S6: fewer units of the hard cap are left tonight than a probe needs.
    case unitsSpent(left: Int, needed: Int)
    /// Another rule that holds for probes too: S1, S2, S14.
    case held(Rule, detail: String)

    public var rule: Rule {
        switch self {
        case .superseded: .s7
        case .noToken: .s2
        case .running, .unitsSpent: .s6
        case .held(let rule, _): rule
        }
    }

    /// For people.
    public var detail: String {
        switch self {
        case .superseded(let newer): "the record \(newer) owns this phone"
        case .noToken: "no push-to-start token is held"
        case .running: "a probe of this phone is going on"
        case .unitsSpent(let left, let needed):
            "\(left) units of the hard cap are left tonight, a probe needs \(needed)"
        case .held(_, let detail): detail
        }
    }
}
