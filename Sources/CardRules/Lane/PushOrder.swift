/// Counts the pushes of one lane; with the lane's generation it names one push, so that a verdict finds its cause.
public struct PushNumber: Hashable, Comparable, Sendable {
    public let value: UInt32
    public init(_ value: UInt32) { self.value = value }
    public static func < (left: PushNumber, right: PushNumber) -> Bool { left.value < right.value }
}

/// `apns-priority` (ref T7): only these two are allowed for a Live Activity.
public enum PushPriority: Int, Hashable, Sendable {
    case conserving = 5
    case immediate = 10
}

/// The three pushes of a Live Activity.
public enum PushEvent: String, Hashable, Sendable, CaseIterable {
    case start, update, end
}

/// Which games a slate card shows and how: with a snapshot it gives the content.
public struct SlateArrangement: Hashable, Sendable {
    /// The front first, then the others in the card's order (T12). Empty only on an end of a card of which nothing is
    /// known: the phone then keeps what it shows (ref L18).
    public let games: [GameID]
    public let spoilerFree: Bool

    public init(games: [GameID], spoilerFree: Bool) {
        self.games = games
        self.spoilerFree = spoilerFree
    }
}

/// What a push shows.
public enum CardContent: Hashable, Sendable {
    case slate(SlateArrangement)
    case session(SessionShow)
    /// Only on an end of a card of which nothing is known: the phone then keeps what it shows (ref L18).
    case nothing

    /// The games of a slate card; none on any other.
    public var games: [GameID] { if case .slate(let arrangement) = self { arrangement.games } else { [] } }

    public var spoilerFree: Bool { if case .slate(let arrangement) = self { arrangement.spoilerFree } else { false } }

    public var session: Session? { if case .session(let show) = self { show.session } else { nil } }
}

/// A session's content, with what its alert says.
public struct SessionShow: Hashable, Sendable {
    public let session: Session
    /// When it began, as the device's wall clock showed it: `22:15` (P3). Empty but on a start.
    public let since: String
    /// It follows a card that stood before: the alert must not read as news (P3).
    public let isSuccessor: Bool

    public init(session: Session, since: String = "", isSuccessor: Bool = false) {
        self.session = session
        self.since = since
        self.isSuccessor = isSuccessor
    }
}

/// What a start of a probe changes in the finished payload.
public struct ProbePush: Hashable, Sendable {
    public let variant: ProbeVariant
    /// Unix seconds, for the variant that has one.
    public let staleDate: Int64

    public init(variant: ProbeVariant, staleDate: Int64) {
        self.variant = variant
        self.staleDate = staleDate
    }
}

/// One push as a lane wants it: what and for whom. The shell turns it into headers and bytes.
public struct PushOrder: Hashable, Sendable {
    public let number: PushNumber
    public let key: CardKey
    public let address: PushAddress
    public let priority: PushPriority
    /// `aps.timestamp`, Unix seconds: strictly rising per card (P5).
    public let timestamp: Int64
    /// `apns-expiration`, Unix seconds (P10).
    public let expiration: Int64
    /// The front's effective score (P7); `nil` on an end.
    public let relevance: Double?
    public let content: CardContent
    public let kind: Kind
    /// Which selection it was computed from: one from an older selection is discarded instead of sent (A4).
    public let selectionRevision: UInt32
    /// G8: a push to this address was accepted before.
    public let isConfirmed: Bool
    /// G7: a start that goes with the ends, before other starts.
    public let isReissue: Bool
    /// It is one of a probe's: the payload as it would be, with one field changed.
    public var probe: ProbePush?

    public enum Kind: Hashable, Sendable {
        /// Never with a stale date (P1). `withSound`: the device asks for it, and this is no successor (P1).
        case start(withSound: Bool)
        /// `staleDate`, Unix seconds, only while a game of the card is under way (P4).
        case update(staleDate: Int64?)
        /// `dismissalDate`, Unix seconds (E1).
        case end(dismissalDate: Int64)
    }

    public var event: PushEvent {
        switch kind {
        case .start: .start
        case .update: .update
        case .end: .end
        }
    }

    public init(
        number: PushNumber, key: CardKey, address: PushAddress, priority: PushPriority, timestamp: Int64,
        expiration: Int64, relevance: Double?, content: CardContent, kind: Kind, selectionRevision: UInt32 = 0,
        isConfirmed: Bool = false, isReissue: Bool = false
    ) {
        self.number = number
        self.key = key
        self.address = address
        self.priority = priority
        self.timestamp = timestamp
        self.expiration = expiration
        self.relevance = relevance
        self.content = content
        self.kind = kind
        self.selectionRevision = selectionRevision
        self.isConfirmed = isConfirmed
        self.isReissue = isReissue
    }

    /// A push of a slate card.
    public init(
        number: PushNumber, key: CardKey, address: PushAddress, priority: PushPriority, timestamp: Int64,
        expiration: Int64, relevance: Double?, content: SlateArrangement, kind: Kind, selectionRevision: UInt32 = 0
    ) {
        self.init(
            number: number, key: key, address: address, priority: priority, timestamp: timestamp,
            expiration: expiration, relevance: relevance, content: .slate(content), kind: kind,
            selectionRevision: selectionRevision)
    }
}
