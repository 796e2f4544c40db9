/// What a lane must know after a restart (L1): the device as its app reported it, its cards, its ledger, its choices.
/// Everything else in a lane can be found again.
public struct LaneRecord: Hashable, Sendable {
    public let device: DeviceID
    public var app: AppID
    public var settings = DeviceSettings()
    public var pushToStart: PushToStart?
    public var selection: Selection?
    public var ledger: NightLedger
    /// The games that have joined this phone's eligible set and are still in it, in order of joining (A3).
    public var members: [GameID] = []
    /// What was added and could not be started yet (section 2).
    public var deferred: DeferredStart?
    public var cards: [Card] = []
    /// Activities known to have ended, newest last, at most `endedKept`: a token for one of them is ignored (L3).
    public var endedActivities: [ActivityID] = []
    /// Ends owed to activities that are no longer their key's card (L3), at most `owedEndsKept`.
    public var owedEnds: [OwedEnd] = []
    /// The sessions that name this phone, and those whose cards are still to be ended.
    public var sessions: [SessionMember] = []
    /// Cards on their way to follow those that are `replacing`.
    public var successors: [Successor] = []
    /// The starts of a probe that are still to be sent, or whose cards nobody has told of.
    public var probes: [ProbeCard] = []
    /// The device was deleted; its record goes when its owed ends are sent.
    public var isRemoved = false

    public static let endedKept = 8
    public static let owedEndsKept = 8

    public init(device: DeviceID, app: AppID, ledger: NightLedger) {
        self.device = device
        self.app = app
        self.ledger = ledger
    }
}

/// An older activity under a key, to be ended at once (L3). Retried until accepted or until it has expired anyway.
public struct OwedEnd: Hashable, Sendable {
    public let key: CardKey
    public let activity: ActivityID
    public let address: PushAddress
    /// When iOS ends it by itself (L7).
    public var limit: WallTime
    /// What it shows last; empty where nothing is known: the phone then keeps what it shows (ref L18).
    public let games: [GameID]

    public init(key: CardKey, activity: ActivityID, address: PushAddress, limit: WallTime, games: [GameID]) {
        self.key = key
        self.activity = activity
        self.address = address
        self.limit = limit
        self.games = games
    }
}

/// What the app says about the phone and its owner's wishes.
public struct DeviceSettings: Hashable, Sendable {
    /// `nil`: signed out (S1).
    public var user: String?
    public var osVersion: OSVersion?
    public var appVersion: String?
    /// IANA name.
    public var timeZone = "UTC"
    public var quietHours: QuietHours?
    public var spoilerFree = false
    public var sound = false
    public var frequentUpdates = false
    public var personalisation = Personalisation.none

    public init() {}
}

/// `17.2` and such; missing parts are zero.
public struct OSVersion: Hashable, Comparable, Sendable {
    public let major: Int
    public let minor: Int

    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// `nil` unless the text begins with a whole number; parts beyond the second are ignored.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).prefix(2).map { Int($0) }
        guard let first = parts.first, let major = first, major >= 0 else { return nil }
        guard parts.count > 1 else {
            self.init(major: major, minor: 0)
            return
        }
        guard let minor = parts[1], minor >= 0 else { return nil }
        self.init(major: major, minor: minor)
    }

    public static func < (left: OSVersion, right: OSVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// The first with push-to-start (ref I9).
    public static let withPushToStart = OSVersion(major: 17, minor: 2)
}

/// The owner's taste as the app computed it; another version of it than ours is kept and cannot be read (A2).
public enum Personalisation: Hashable, Sendable {
    case none
    case readable(Taste)
    /// The text as it came.
    case unreadable(String)
}

/// Version 1 of a personalisation.
public struct Taste: Hashable, Sendable {
    /// By the name the slate uses; weights 0...1.
    public var teams: [String: Double]
    /// Points by league.
    public var leagues: [String: Double]
    /// A3: a game without a selection joins from here on, points.
    public var minimumWorth: Double
    /// At most this many games on a card; 1 or more.
    public var maxGames: Int

    public init(teams: [String: Double], leagues: [String: Double], minimumWorth: Double, maxGames: Int) {
        self.teams = teams
        self.leagues = leagues
        self.minimumWorth = minimumWorth
        self.maxGames = maxGames
    }
}

/// The push-to-start token held, with all that belongs to it (G1).
public struct PushToStart: Hashable, Sendable {
    /// `nil` once APNs has refused it at both gateways or called it unregistered (G2, G3).
    public var address: PushAddress?
    public var reportedAt: WallTime
    /// The phone said "iOS has none" then; the token held stays (G1).
    public var noneReportedAt: WallTime?
    public var ownership: Ownership

    /// Who may start on the phone behind the token (S7).
    public enum Ownership: Hashable, Sendable {
        /// Reported; the older record's night has not been handed over yet.
        case claiming
        case owner
        /// Another record reported the same token later. The handover stays here until that record has it.
        case superseded(by: DeviceID, owed: Handover?)
    }

    public init(address: PushAddress?, reportedAt: WallTime, noneReportedAt: WallTime? = nil, ownership: Ownership) {
        self.address = address
        self.reportedAt = reportedAt
        self.noneReportedAt = noneReportedAt
        self.ownership = ownership
    }
}

/// What an older record of a phone gives to the newer one (S7).
public struct Handover: Hashable, Sendable {
    public var ledger: NightLedger
    public var cards: [Card]
    public var members: [GameID]
    public var endedActivities: [ActivityID]
    /// What the last pushes of its cards carried.
    public var marks: [SentMark]
    public var sessions: [SessionMember]
    public var successors: [Successor]

    public init(
        ledger: NightLedger, cards: [Card], members: [GameID], endedActivities: [ActivityID], marks: [SentMark] = [],
        sessions: [SessionMember] = [], successors: [Successor] = []
    ) {
        self.ledger = ledger
        self.cards = cards
        self.members = members
        self.endedActivities = endedActivities
        self.marks = marks
        self.sessions = sessions
        self.successors = successors
    }
}

/// What the next owner of a card must know of its last push, so that nothing is said twice (U1) and timestamps go on
/// rising (P5).
public struct SentMark: Hashable, Sendable {
    public let key: CardKey
    /// Of the content last accepted; `nil` where that is not known.
    public let fingerprint: UInt64?
    public let front: GameID?
    public let timestamp: Int64

    public init(key: CardKey, fingerprint: UInt64?, front: GameID?, timestamp: Int64) {
        self.key = key
        self.fingerprint = fingerprint
        self.front = front
        self.timestamp = timestamp
    }
}

/// The app's own choice of games (A1).
public struct Selection: Hashable, Sendable {
    /// In the app's order.
    public var games: [GameID]
    public var pinned: GameID?
    public var muted: [GameID]
    /// By the app's clock, never ahead of the server's.
    public var syncedAt: WallTime
    /// By the server's clock.
    public var arrivedAt: WallTime

    public init(games: [GameID], pinned: GameID?, muted: [GameID], syncedAt: WallTime, arrivedAt: WallTime) {
        self.games = games
        self.pinned = pinned
        self.muted = muted
        self.syncedAt = syncedAt
        self.arrivedAt = arrivedAt
    }
}

/// Additions whose start was withheld by a rule that may pass (section 2).
public struct DeferredStart: Hashable, Sendable {
    public var games: [GameID]
    /// The rule that withheld it last.
    public var rule: Rule
    /// When a hold of S10, G3 or G5 is over; `nil` where only an event can change it.
    public var until: WallTime?

    public init(games: [GameID], rule: Rule, until: WallTime? = nil) {
        self.games = games
        self.rule = rule
        self.until = until
    }

    /// The obstacle is the push itself (L2, G3-G5): nothing but time or a fresh token ends it.
    public var isGatewayHold: Bool { rule.isGatewayHold }
}

extension PendingStart {
    /// The obstacle is the push itself (L2, G3-G5): nothing but time or a fresh token ends it.
    public var isGatewayHold: Bool { rule.isGatewayHold }
}

extension Rule {
    fileprivate var isGatewayHold: Bool {
        switch self {
        case .l2, .g3, .g4, .g5: true
        default: false
        }
    }
}
