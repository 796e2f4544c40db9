public import CardRules

/// Something that happened on a phone, for those who watch it from outside.
public enum PhoneEvent: Hashable, Sendable {
    /// A card appeared. `timestamp` is that of its start push, `nil` for one that the app started.
    case appeared(PhoneCard, timestamp: Int64?, apnsID: String?)
    /// Its content was replaced.
    case updated(activity: ActivityID, content: SlateContent, timestamp: Int64)
    case becameStale(activity: ActivityID)
    /// It is over for iOS; it may still be seen on the Lock Screen until it is removed.
    case ended(activity: ActivityID, by: Ending)
    /// It is out of sight.
    case removed(activity: ActivityID, bySwipe: Bool)
    /// A push reached the phone and did nothing.
    case dropped(Drop, event: String?, activity: ActivityID?, apnsID: String)

    public enum Ending: Hashable, Sendable {
        case push, app, limit, swipe
    }

    /// Why iOS did nothing with a push (ref 4.3).
    public enum Drop: String, Hashable, Sendable, CaseIterable {
        case notLiveActivity, noPayload, unknownEvent, wrongSubscription, oldSystem
        case noAlert, noAttributes, noTimestamp, undecodableContent, twoInputs, channelInput, startBudget
        case tooManyActivities
        case notAlive, olderTimestamp, equalTimestamp, tooOld, tooFarAhead, updateBudget
    }
}

/// One Live Activity as iOS holds it.
public struct PhoneCard: Hashable, Sendable {
    public let activity: ActivityID
    public let key: CardKey
    public let startedBy: Card.StartedBy
    public let began: WallTime
    public internal(set) var state = State.active
    public internal(set) var content: SlateContent
    /// The content state of a session's card, as it came; such a card has no games in `content`.
    public internal(set) var session: [UInt8]?
    /// `aps.timestamp` of what was applied last, Unix seconds.
    public internal(set) var newestTimestamp: Int64
    /// Unix seconds (ref P17).
    public internal(set) var staleDate: Int64?
    /// Once iOS has made one.
    public internal(set) var updateToken: [UInt8]?
    /// Whether iOS will make one at all (ref P9).
    var getsToken: Bool
    /// The record under which the app has reported the update token.
    var tokenReportedAs: DeviceID?
    var isEndReported = false
    var isStaleReported = false
    var endedBy: PhoneEvent.Ending?
    /// Priority-10 updates since `urgentSince` (ref P21).
    var urgentSpent = 0
    var urgentSince: WallTime

    public enum State: Hashable, Sendable {
        /// -> stale, ended, removed.
        case active
        /// Visible, updatable (C1). -> active, ended, removed.
        case stale
        /// -> removed.
        case ended
        case removed
    }

    /// C1.
    public var isAlive: Bool { state == .active || state == .stale }

    init(
        activity: ActivityID, key: CardKey, startedBy: Card.StartedBy, began: WallTime, content: SlateContent,
        timestamp: Int64, getsToken: Bool
    ) {
        self.activity = activity
        self.key = key
        self.startedBy = startedBy
        self.began = began
        self.content = content
        newestTimestamp = timestamp
        self.getsToken = getsToken
        urgentSince = began
    }
}

/// A line of the device log (ref F6, F7); the frame around it is left to whoever prints it.
public struct PhoneLogLine: Hashable, Sendable {
    public let at: WallTime
    /// `liveactivitiesd` or the app's process.
    public let process: String
    public let text: String
}

/// What becomes of a token, for the gateways.
public struct TokenChange: Hashable, Sendable {
    public let token: [UInt8]
    public let gateway: Gateway
    public let change: Change

    public enum Change: Hashable, Sendable {
        case issued(TokenKind, activity: ActivityID?)
        case died
    }
}

/// What a phone brings forth while it acts.
public struct PhoneOutput: Sendable {
    public internal(set) var events: [(at: WallTime, event: PhoneEvent)] = []
    public internal(set) var reports: [PhoneReport] = []
    public internal(set) var tokens: [TokenChange] = []

    public init() {}
}
