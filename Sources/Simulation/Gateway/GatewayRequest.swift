public import CardRules

/// One header field as it came, its name in lower case (RFC 9113, 8.2.1).
public struct GatewayHeader: Hashable, Sendable {
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// One request as the gateway reads it from a stream, whole.
public struct GatewayRequest: Hashable, Sendable {
    public let method: String
    public let path: String
    /// In the order in which they came, pseudo-headers left out.
    public let headers: [GatewayHeader]
    public let body: [UInt8]
    /// Of its connection; 0 where there is none.
    public var stream: Int32 = 0
    /// G22: fields that Apple wants never indexed, and that came otherwise (ref T24).
    public var indexedFields: [String] = []

    public init(method: String, path: String, headers: [GatewayHeader], body: [UInt8]) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// What reaches a phone: the push without the provider token.
public struct ReceivedPush: Hashable, Sendable {
    /// `apns-id`, canonical text as it was sent.
    public let apnsID: String
    public let pushType: String
    public let topic: String
    /// 10, 5 or 1.
    public let priority: Int
    /// Unix seconds; `nil` where the header was absent (ref T9).
    public let expiration: Int64?
    public let collapseID: String?
    public let payload: [UInt8]

    public init(
        apnsID: String, pushType: String = "liveactivity", topic: String, priority: Int = 10, expiration: Int64? = nil,
        collapseID: String? = nil, payload: [UInt8]
    ) {
        self.apnsID = apnsID
        self.pushType = pushType
        self.topic = topic
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
    }

    /// The bundle id that the topic names, without a suffix.
    public var bundleID: String { Simulation.bundleID(ofTopic: topic) }
}

/// A push that the gateway accepted, to be handed to the phone before the 200 is written.
public struct GatewayDelivery: Hashable, Sendable {
    public let token: [UInt8]
    public let gateway: Gateway
    public let push: ReceivedPush

    public init(token: [UInt8], gateway: Gateway, push: ReceivedPush) {
        self.token = token
        self.gateway = gateway
        self.push = push
    }
}

/// What the gateway answers (ref R1).
public struct GatewayAnswer: Hashable, Sendable {
    public let status: Int
    /// Apple's word; `nil` with 200.
    public let reason: String?
    /// Milliseconds since 1970, only with 410 (ref R2).
    public let timestamp: Int64?
    /// Echoed, or made where the request had none.
    public let apnsID: String
    /// Only from the sandbox, only with 200 (ref R4).
    public let uniqueID: String?
    /// Set only with 200.
    public let delivery: GatewayDelivery?
    /// What else happens to the request or its connection.
    public let effect: Effect
    /// How often the push reaches its phone: twice with a fault of G27.
    public var copies = 1
    /// Seconds until it is written.
    public var delaySeconds: Double = 0
    /// G32.
    public var retryAfterSeconds: Int?
    /// The value of `date`.
    public var date: String?

    public enum Effect: Hashable, Sendable {
        case none
        /// The connection no longer answers (ref T23): nothing is written at all.
        case silence
        /// GOAWAY with this reason follows the answer (ref T16).
        case goAway(reason: String)
        /// RST_STREAM with this code instead of an answer (G27).
        case reset(code: UInt32)
        /// The connection ends instead, with FIN or RST (G27).
        case hangUp(withReset: Bool)

        /// No answer will be written.
        public var losesAnswer: Bool {
            switch self {
            case .none, .goAway: false
            case .silence, .reset, .hangUp: true
            }
        }
    }

    /// Header fields of the answer, without `:status`.
    public var headers: [GatewayHeader] {
        var fields = [GatewayHeader("apns-id", apnsID)]
        if let uniqueID { fields.append(GatewayHeader("apns-unique-id", uniqueID)) }
        if reason != nil { fields.append(GatewayHeader("content-type", "application/json")) }
        if let retryAfterSeconds { fields.append(GatewayHeader("retry-after", "\(retryAfterSeconds)")) }
        if let date { fields.append(GatewayHeader("date", date)) }
        return fields
    }

    /// JSON with `reason`, and `timestamp` with 410; empty with 200.
    public var body: [UInt8] {
        guard let reason else { return [] }
        let stamp = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return Array("{\"reason\":\"\(reason)\"\(stamp)}".utf8)
    }
}

/// What a gateway knows of a token.
public enum TokenStanding: Hashable, Sendable {
    /// Never issued by this gateway's environment.
    case unknown
    case live(bundleID: String)
    /// No longer good; whether the gateway says so yet is a matter of its options (ref G13).
    case dead(bundleID: String, since: WallTime, kind: TokenKind)
}

/// The two kinds of token a phone gives (ref I9, I16).
public enum TokenKind: Hashable, Sendable {
    case pushToStart
    case update
}

/// The suffix of every Live Activity topic (ref 1.2).
let liveActivitySuffix = ".push-type.liveactivity"

func bundleID(ofTopic topic: String) -> String {
    topic.hasSuffix(liveActivitySuffix) ? String(topic.dropLast(liveActivitySuffix.utf8.count)) : topic
}
