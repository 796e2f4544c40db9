public import CardRules

/// One call that the app makes to the server, as the HTTP interface has it (api.md): each case is one body.
public struct PhoneReport: Hashable, Sendable {
    /// Its place in the fleet.
    public let phone: Int
    /// When it leaves the phone.
    public let at: WallTime
    /// The record in the path.
    public let device: DeviceID
    public let body: Body

    public init(phone: Int, at: WallTime, device: DeviceID, body: Body) {
        self.phone = phone
        self.at = at
        self.device = device
        self.body = body
    }

    public enum Body: Hashable, Sendable {
        /// `PUT /v1/devices/{device}`.
        case registered(Registration)
        /// `PUT /v1/devices/{device}/selection`; `syncedAt` by the phone's clock.
        case selection(games: [GameID], pinned: GameID?, muted: [GameID], syncedAt: WallTime)
        /// `PUT /v1/devices/{device}/cards/{key}`.
        case cardToken(
            key: CardKey, activity: ActivityID, token: PushAddress, startedBy: Card.StartedBy, began: WallTime)
        /// `POST /v1/devices/{device}/cards/{key}/reports`.
        case card(key: CardKey, report: CardReport, activity: ActivityID, at: WallTime)
    }

    public enum CardReport: String, Hashable, Sendable, CaseIterable {
        case ended, dismissed, opened, stale
    }

    /// A good app gives everything each time.
    public struct Registration: Hashable, Sendable {
        public let user: String?
        public let pushToStart: PushToStartReading
        public let gateway: Gateway
        public let osVersion: OSVersion
        public let appVersion: String
        public let timeZone: String
        public let quietHours: QuietHours?
        public let spoilerFree: Bool
        public let sound: Bool
        public let frequentUpdates: Bool
        public let personalisation: Personalisation
    }

    /// What the app read from iOS (C4).
    public enum PushToStartReading: Hashable, Sendable {
        case token(PushAddress)
        /// "iOS has none": null in the body, without a gateway.
        case none
    }
}
