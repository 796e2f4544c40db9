/// Something that happened to a phone's lane.
public enum LaneEvent: Sendable {
    /// The slate changed; its newest snapshot is in the surroundings.
    case tick
    /// A time that the lane asked to be woken at has come.
    case look
    /// The app reported the device (`PUT /v1/devices/{device}`).
    case registered(DevicePatch)
    /// The app's selection (`PUT .../selection`); `arrivedAt` is the turn's own time.
    case selected(games: [GameID], pinned: GameID?, muted: [GameID], syncedAt: WallTime)
    /// An update token (`PUT .../cards/{key}`).
    case cardToken(CardToken)
    /// `POST .../cards/{key}/reports`.
    case reported(CardReport)
    /// A session that names this device, or named it, as it is now. `as`: the record of this phone that it names, where
    /// that is another one (S7).
    case session(Session, as: DeviceID?)
    /// `DELETE /v1/devices/{device}`.
    case removed
    /// What became of one of this lane's pushes.
    case verdict(PushNumber, Verdict)
    /// Another record reported this one's push-to-start token (S7).
    case superseded(by: DeviceID, token: [UInt8])
    /// This record owns the phone behind its token; `from` is the older record and what it hands over, if there is one
    /// (S7).
    case owned(token: [UInt8], from: DeviceID?, handover: Handover?)
    /// The newer record has the handover for good (S7).
    case handoverTaken(by: DeviceID)
    /// An operator made a moment up for this phone alone (`POST /v1/moments`).
    case madeUpMoment(game: GameID, kind: MomentKind, until: WallTime)
    /// An operator probes this phone (`POST /v1/probes`); `nil`: at the gateway that its token belongs to.
    case probe(Gateway?)
    /// The tuning is another one: what was worked out by the old one is worked out anew.
    case retuned
}

/// What an app says of its device; a field left out keeps its value (api.md).
public struct DevicePatch: Hashable, Sendable {
    public var user: Patched<String> = .absent
    public var pushToStart: Patched<PushAddress> = .absent
    public var osVersion: OSVersion?
    public var appVersion: String?
    /// A zone that the system knows, with its name.
    public var zone: Zone?
    public var quietHours: Patched<QuietHours> = .absent
    public var spoilerFree: Bool?
    public var sound: Bool?
    public var frequentUpdates: Bool?
    public var personalisation: Personalisation?

    public init() {}
}

/// An update token with what the app says of its activity.
public struct CardToken: Hashable, Sendable {
    public let key: CardKey
    public let activity: ActivityID
    public let address: PushAddress
    public let startedBy: Card.StartedBy
    /// When the activity began on the phone, where the app says so.
    public let began: WallTime?

    public init(
        key: CardKey, activity: ActivityID, address: PushAddress, startedBy: Card.StartedBy, began: WallTime?
    ) {
        self.key = key
        self.activity = activity
        self.address = address
        self.startedBy = startedBy
        self.began = began
    }
}

/// What the app says became of a card.
public struct CardReport: Hashable, Sendable {
    public let key: CardKey
    public let kind: Kind
    public let activity: ActivityID
    public let at: WallTime

    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Ended, by whatever cause (L5).
        case ended
        /// Swiped away by its owner (L5, S9).
        case dismissed
        /// The owner opened the app from it: a sign of life (S14).
        case opened
        /// Stale is alive (C1).
        case stale
    }

    public init(key: CardKey, kind: Kind, activity: ActivityID, at: WallTime) {
        self.key = key
        self.kind = kind
        self.activity = activity
        self.at = at
    }
}

/// What a turn looks at besides the lane's own state. One object a shard, replaced with each snapshot.
public final class Surroundings: Sendable {
    public let slate: SlateSnapshot
    public let tuning: Tuning
    /// How many starts a turn may claim, for as many fewer are claimed and unanswered than L10 allows.
    public let claims: Int

    /// More than one turn ever claims.
    public static let claimsATurn = 5

    public init(slate: SlateSnapshot, tuning: Tuning, claims: Int) {
        self.slate = slate
        self.tuning = tuning
        self.claims = claims
    }

    public convenience init(slate: SlateSnapshot, tuning: Tuning, mayClaim: Bool = true) {
        self.init(slate: slate, tuning: tuning, claims: mayClaim ? Surroundings.claimsATurn : 0)
    }
}
