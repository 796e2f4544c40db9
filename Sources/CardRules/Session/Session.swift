/// One session as the system holds it: a subject whose card stands on some devices (programme `session`).
///
/// Immutable and shared: every lane that shows it refers to this one object, so that its content is neither copied nor
/// rendered for each lane (U1, P9). A lane's own record keeps only the key and the version it has heard of.
public final class Session: Sendable {
    /// The card's key on every phone.
    public let id: CardKey
    /// Rises with every change, also across an end and a new opening.
    public let version: Int64
    public let terms: SessionTerms
    /// `false` once it was stopped: its content is then what its cards show last.
    public let isRunning: Bool
    /// When it was stopped.
    public let stoppedAt: WallTime?
    /// The newest version whose caller asked for urgency (P6); 0: none did.
    public let urgentVersion: Int64
    /// 64 bits of the content state: equal content, equal number (U1).
    public let fingerprint: UInt64

    public init(
        id: CardKey, version: Int64, terms: SessionTerms, isRunning: Bool = true, stoppedAt: WallTime? = nil,
        urgentVersion: Int64 = 0
    ) {
        self.id = id
        self.version = version
        self.terms = terms
        self.isRunning = isRunning
        self.stoppedAt = stoppedAt
        self.urgentVersion = urgentVersion
        var hash = ContentHash()
        hash.add(terms.content)
        fingerprint = hash.value
    }

    /// A new session, or one that was stopped and is opened anew.
    /// - Parameter former: the stopped one of this id.
    public static func opened(_ id: CardKey, _ terms: SessionTerms, after former: Session? = nil) -> Session {
        let version = (former?.version ?? 0) + 1
        return Session(id: id, version: version, terms: terms, urgentVersion: terms.isUrgent ? version : 0)
    }

    /// The same session with other terms.
    public func changed(to terms: SessionTerms) -> Session {
        Session(
            id: id, version: version + 1, terms: terms,
            urgentVersion: terms.isUrgent ? version + 1 : urgentVersion)
    }

    /// The session, stopped.
    /// - Parameter content: shown last; `nil`: what it shows now.
    public func stopped(at now: WallTime, content: JSONValue? = nil) -> Session {
        var terms = terms
        if let content { terms.content = content }
        return Session(
            id: id, version: version + 1, terms: terms, isRunning: false, stoppedAt: now, urgentVersion: urgentVersion)
    }
}

extension Session: Hashable {
    public static func == (left: Session, right: Session) -> Bool {
        left === right
            || left.id == right.id && left.version == right.version && left.isRunning == right.isRunning
                && left.stoppedAt == right.stoppedAt && left.urgentVersion == right.urgentVersion
                && left.terms == right.terms
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(version)
    }
}

/// What the caller says of a session (`PUT /v1/sessions/{session}`).
public struct SessionTerms: Hashable, Sendable {
    /// In the caller's order, none twice, at least one.
    public var devices: [DeviceID]
    /// The Swift name of the app's attributes struct.
    public var attributesType: String
    /// An object, in canonical form (`JSONValue.canonical`).
    public var attributes: JSONValue
    /// The content state: an object, in canonical form, passed on as it is.
    public var content: JSONValue
    /// The title of its alert (P3), not blank.
    public var title: String
    /// The source of truth for elapsed time: never changes while the session runs (R4).
    public var startedAt: WallTime
    public var alert: SessionAlert?
    /// P6: this change goes at priority 10.
    public var isUrgent: Bool
    /// Devices that start their own card (S15).
    public var startedOn: [DeviceID]

    public static let maxDevices = 256

    public init(
        devices: [DeviceID], attributesType: String, attributes: JSONValue, content: JSONValue, title: String,
        startedAt: WallTime, alert: SessionAlert? = nil, isUrgent: Bool = false, startedOn: [DeviceID] = []
    ) {
        self.devices = devices
        self.attributesType = attributesType
        self.attributes = attributes
        self.content = content
        self.title = title
        self.startedAt = startedAt
        self.alert = alert
        self.isUrgent = isUrgent
        self.startedOn = startedOn
    }
}

/// The caller's own words for the first start (P3). `{since}` stands for the time of day when the session began.
public struct SessionAlert: Hashable, Sendable {
    public var title: String
    public var body: String

    public init(title: String, body: String) {
        self.title = title
        self.body = body
    }

    /// It tells when the session began, and so does not read as news on a reissue (P3).
    public var tellsSince: Bool { title.contains("{since}") || body.contains("{since}") }
}
