/// What became of one push (L2). A verdict is an ordinary value, not an error.
public enum Verdict: Hashable, Sendable {
    /// 200: Apple took the push. Says nothing about the phone (ref R3).
    case accepted
    /// Answered with a refusal: not on the phone.
    case refused(Refusal)
    /// Never left, or the peer says so (connection refused, REFUSED_STREAM, above GOAWAY's last stream: RFC 9113, 6.8
    /// and 8.7): may be repeated, its spend is given back.
    case notSent
    /// Written, never answered: may be on the phone. Stays spent, is not repeated.
    case unknown
}

/// An answer of APNs other than 200.
public struct Refusal: Hashable, Sendable {
    public let reason: RefusalReason
    /// HTTP status.
    public let status: Int
    /// Only with 410: since when APNs knows the token to be dead (ref R2; milliseconds on the wire).
    public let deadSince: WallTime?

    public init(_ reason: RefusalReason, status: Int, deadSince: WallTime? = nil) {
        self.reason = reason
        self.status = status
        self.deadSince = deadSince
    }
}

/// Every reason that APNs is known to give for refusing a push to a device (ref section 3).
/// Source: Apple, "Handling notification responses from APNs". The raw value is APNs' own word.
public enum RefusalReason: Hashable, Sendable {
    case known(Known)
    /// A word that no list has: clears nothing (G3), is shown to the operator.
    case unlisted(String)

    public enum Known: String, Hashable, Sendable, CaseIterable {
        case badCollapseID = "BadCollapseId"
        case badDeviceToken = "BadDeviceToken"
        case badExpirationDate = "BadExpirationDate"
        case badMessageID = "BadMessageId"
        case badPriority = "BadPriority"
        case badTopic = "BadTopic"
        case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
        case duplicateHeaders = "DuplicateHeaders"
        case idleTimeout = "IdleTimeout"
        case invalidPushType = "InvalidPushType"
        case missingDeviceToken = "MissingDeviceToken"
        case missingTopic = "MissingTopic"
        case payloadEmpty = "PayloadEmpty"
        case topicDisallowed = "TopicDisallowed"
        case badCertificate = "BadCertificate"
        case badCertificateEnvironment = "BadCertificateEnvironment"
        case expiredProviderToken = "ExpiredProviderToken"
        case forbidden = "Forbidden"
        case invalidProviderToken = "InvalidProviderToken"
        case missingProviderToken = "MissingProviderToken"
        case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
        case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
        case badPath = "BadPath"
        case methodNotAllowed = "MethodNotAllowed"
        case expiredToken = "ExpiredToken"
        case unregistered = "Unregistered"
        case payloadTooLarge = "PayloadTooLarge"
        case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
        case tooManyRequests = "TooManyRequests"
        case internalServerError = "InternalServerError"
        case serviceUnavailable = "ServiceUnavailable"
        case shutdown = "Shutdown"
    }

    /// - Parameter word: as APNs wrote it. Two spellings of one reason (ref K8) and the spaced form (ref B9) are alike.
    public init(_ word: String) {
        switch word {
        case "BadEnvironmentKeyInToken": self = .known(.badEnvironmentKeyIDInToken)
        case "Service Unavailable": self = .known(.serviceUnavailable)
        default: self = Known(rawValue: word).map(RefusalReason.known) ?? .unlisted(word)
        }
    }

    public var word: String {
        switch self {
        case .known(let reason): reason.rawValue
        case .unlisted(let word): word
        }
    }
}

/// What the sender may do after a refusal. Source: ref section 3, rules G2-G5.
public enum NextStep: Hashable, Sendable {
    /// Once, at the other gateway; the address is dropped only when both refuse (G2).
    case tryOtherGateway
    /// The token is dead, if it was not reported again since (G3, ref R2).
    case forgetAddress
    /// This token only: 60 s, doubling to 15 min (G5).
    case holdToken
    /// The gateway is in trouble: as Apple asks, 15 min (G5).
    case holdGateway
    /// A fresh connection, then again; sign anew only if the provider token is old enough (G4).
    case reconnect
    /// A fault of the operator or of this program: raised, nothing cleared, nothing charged (G3).
    case reportToOperator(FaultScope)
}

/// What an operator's fault concerns (G3).
public enum FaultScope: Hashable, Sendable {
    /// The app (topic) on that gateway.
    case app
    /// The provider key on that gateway.
    case key
    /// One push as it was built.
    case push
}

extension RefusalReason {
    public var nextStep: NextStep {
        guard case .known(let reason) = self else { return .reportToOperator(.push) }
        return switch reason {
        case .badDeviceToken: .tryOtherGateway
        case .expiredToken, .unregistered: .forgetAddress
        case .tooManyRequests: .holdToken
        case .internalServerError, .serviceUnavailable: .holdGateway
        case .idleTimeout, .shutdown, .expiredProviderToken, .tooManyProviderTokenUpdates, .unrelatedKeyIDInToken:
            .reconnect
        case .badTopic, .deviceTokenNotForTopic, .missingTopic, .topicDisallowed: .reportToOperator(.app)
        case .badCertificate, .badCertificateEnvironment, .forbidden, .invalidProviderToken, .missingProviderToken,
            .badEnvironmentKeyIDInToken:
            .reportToOperator(.key)
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .badPath, .duplicateHeaders,
            .invalidPushType, .methodNotAllowed, .missingDeviceToken, .payloadEmpty, .payloadTooLarge:
            .reportToOperator(.push)
        }
    }
}
