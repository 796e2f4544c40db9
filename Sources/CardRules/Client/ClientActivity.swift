/// One Live Activity as ActivityKit tells the app of it, in values of this module.
public struct ClientActivity: Hashable, Sendable {
    /// ActivityKit's `ActivityState` (ref I2).
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// Scheduled by the app itself, from iOS 26 on; not on the phone's screen yet.
        case pending
        case active
        /// Its `stale-date` has passed. It is visible, takes updates, and is alive (C1).
        case stale
        case ended
        case dismissed

        /// C1: active or stale.
        public var isAlive: Bool { self == .active || self == .stale }

        /// It stands, or will: another one under its key would be a second card.
        public var holdsItsKey: Bool { isAlive || self == .pending }
    }

    public var id: ActivityID
    /// `slate`, or the session's id as the activity's attributes carry it (api.md, sessions).
    public var key: CardKey
    public var state: State
    /// `nil` in a card's first seconds, and for longer on a fresh install (ref I18, I19): no reason to end it (C3).
    public var updateAddress: PushAddress?
    /// When it began, where the app knows: for a card of its own the time of `Activity.request`.
    public var began: WallTime?
    public var startedBy: Card.StartedBy

    public init(
        id: ActivityID, key: CardKey, state: State, updateAddress: PushAddress?, began: WallTime? = nil,
        startedBy: Card.StartedBy = .push
    ) {
        self.id = id
        self.key = key
        self.state = state
        self.updateAddress = updateAddress
        self.began = began
        self.startedBy = startedBy
    }
}

/// What the app is to do, in this order.
public enum ClientAction: Hashable, Sendable {
    /// Stands and was not known: observe its tokens and its state from now on.
    case adopt(ActivityID)
    /// Stands and is known: leave it as it is; after a launch observe it again.
    case keep(ActivityID)
    /// End it with immediate dismissal.
    case end(ActivityID)
    /// Tell the server, and `ClientMemory.delivered(_:)` when it has answered with 2xx.
    case report(ClientReport)
}

/// Why the app must not do what it was about to.
public struct ClientRefusal: Error, Hashable, Sendable {
    public let rule: Rule
    /// For people.
    public let text: String

    public init(_ rule: Rule, _ text: String) {
        self.rule = rule
        self.text = text
    }
}
