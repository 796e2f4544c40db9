public import CardRules

/// What kind of phone this is and what its owner does tonight: everything that is settled beforehand.
///
/// One install of the app; a handset with two builds is two of these with one `handset` (ref P34).
public struct PhoneProfile: Hashable, Sendable {
    public var handset: Int
    public var gateway: Gateway
    public var bundleID: String
    public var osVersion: OSVersion
    public var appVersion = "1.0"
    /// IANA name.
    public var timeZone: String
    public var quietHours: QuietHours?
    public var spoilerFree = false
    public var sound = false
    public var frequentUpdates = false
    public var user: String?
    public var personalisation = Personalisation.none
    /// The record that the install reports under.
    public var device: DeviceID
    /// From this opening on it reports under another record, with the same push-to-start token (S7).
    public var secondRecord: SecondRecord?
    /// In order of time; the first is the first launch, where the app registers.
    public var openings: [Opening]
    /// The owner closes the app for good each time: iOS then never wakes it (ref I20).
    public var forceQuits = false
    /// Seconds after a card appears until its owner swipes it away; `nil`: never.
    public var swipesAfter: Double?
    public var pushToStart = PushToStartHabit.prompt
    public var app = AppHabit.good

    public struct SecondRecord: Hashable, Sendable {
        public var device: DeviceID
        public var fromOpening: Int

        public init(device: DeviceID, fromOpening: Int) {
            self.device = device
            self.fromOpening = fromOpening
        }
    }

    /// The owner looks into the app.
    public struct Opening: Hashable, Sendable {
        public var at: WallTime
        public var seconds: Double
        /// The choice of games from here on; `nil`: as before.
        public var choice: Choice?
        /// What the app would show on a card of its own, if it starts one and none stands.
        public var ownCard: SlateContent?

        public init(at: WallTime, seconds: Double, choice: Choice? = nil, ownCard: SlateContent? = nil) {
            self.at = at
            self.seconds = seconds
            self.choice = choice
            self.ownCard = ownCard
        }
    }

    public struct Choice: Hashable, Sendable {
        public var games: [GameID]
        public var pinned: GameID?
        public var muted: [GameID]

        public init(games: [GameID], pinned: GameID? = nil, muted: [GameID] = []) {
            self.games = games
            self.pinned = pinned
            self.muted = muted
        }
    }

    /// How well the app is made (ref P28).
    public enum AppHabit: Hashable, Sendable {
        /// Observes at launch, adopts what stands, reports each thing once.
        case good
        /// Observes only once its owner has it in front: what iOS wakes it for goes unreported until then (ref I17).
        case lateObservers
        /// Ends other cards that have no update token yet, or are stale, whenever iOS wakes it (ref I29).
        case killsUnfitCards
        /// Reports the tokens of ended cards again at each opening (ref I21).
        case reportsEndedCards
        /// Reports that there is no push-to-start token at each opening, and the token a little later (ref I13).
        case reportsNone
    }

    /// How the push-to-start token behaves (ref P3, P4).
    public enum PushToStartHabit: Hashable, Sendable {
        case prompt
        /// Changes after the first start; the app is told.
        case changesAfterFirstStart
        /// Changes after the first start; the app finds out at its next opening (ref I11).
        case changesInSilence
        /// Reads as none at each launch and is there 3 s later (ref I13).
        case noneAtLaunch
        /// iOS holds no registration: there never is one (ref I12).
        case none
    }

    public init(
        handset: Int, gateway: Gateway = .production, bundleID: String, osVersion: OSVersion, timeZone: String = "UTC",
        user: String?, device: DeviceID, openings: [Opening]
    ) {
        self.handset = handset
        self.gateway = gateway
        self.bundleID = bundleID
        self.osVersion = osVersion
        self.timeZone = timeZone
        self.user = user
        self.device = device
        self.openings = openings
    }
}
