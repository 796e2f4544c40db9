internal import CardRules

/// Why a request is refused.
struct GatewayRefusal: Error, Hashable, Sendable {
    let reason: RefusalReason.Known
    /// The reason as it is spelt on the wire.
    let word: String
    let deadSince: WallTime?

    init(_ reason: RefusalReason.Known, word: String? = nil, deadSince: WallTime? = nil) {
        self.reason = reason
        self.word = word ?? reason.rawValue
        self.deadSince = deadSince
    }

    /// Source: ref section 3.
    var status: Int {
        switch reason {
        case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed:
            400
        case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
            .missingProviderToken, .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        }
    }
}

/// The header fields that the gateway knows.
struct RequestFields {
    var id: String?
    var topic: String?
    var pushType: String?
    var priority: String?
    var expiration: String?
    var collapseID: String?
    var authorization: String?
    /// G8: a field that came twice.
    var hasDuplicate = false

    init(_ headers: [GatewayHeader]) {
        for header in headers {
            let isRepeated: Bool
            switch header.name {
            case "apns-id": isRepeated = Self.keep(header.value, in: &id)
            case "apns-topic": isRepeated = Self.keep(header.value, in: &topic)
            case "apns-push-type": isRepeated = Self.keep(header.value, in: &pushType)
            case "apns-priority": isRepeated = Self.keep(header.value, in: &priority)
            case "apns-expiration": isRepeated = Self.keep(header.value, in: &expiration)
            case "apns-collapse-id": isRepeated = Self.keep(header.value, in: &collapseID)
            case "authorization": isRepeated = Self.keep(header.value, in: &authorization)
            default: isRepeated = false
            }
            if isRepeated { hasDuplicate = true }
        }
    }

    /// - Returns: whether the field was there before.
    private static func keep(_ value: String, in field: inout String?) -> Bool {
        defer { field = value }
        return field != nil
    }
}

/// All values of `apns-push-type` (ref T5).
private let pushTypes: Set<String> = [
    "alert", "background", "complication", "controls", "fileprovider", "liveactivity", "location", "mdm", "pushtotalk",
    "voip", "widgets",
]

extension GatewayModel {
    /// G4 to G6 and G8.
    func checkHeaders(_ fields: RequestFields) throws(GatewayRefusal) {
        guard let topic = fields.topic, !topic.isEmpty else { throw GatewayRefusal(.missingTopic) }
        let hasSuffix = topic.hasSuffix(liveActivitySuffix)
        if let pushType = fields.pushType, pushTypes.contains(pushType), hasSuffix != (pushType == "liveactivity") {
            throw GatewayRefusal(options.topicMismatchReason)
        }
        if let collapseID = fields.collapseID, !(1...64).contains(collapseID.utf8.count) {
            throw GatewayRefusal(.badCollapseID)
        }
        if let expiration = fields.expiration, !isWholeNumber(expiration) { throw GatewayRefusal(.badExpirationDate) }
        switch fields.priority {
        case nil, "10", "5": break
        case "1" where !(options.refusesLowPriority && hasSuffix): break
        default: throw GatewayRefusal(.badPriority)
        }
        if let pushType = fields.pushType {
            guard pushTypes.contains(pushType) else { throw GatewayRefusal(.invalidPushType) }
        } else if hasSuffix, options.refusesMissingPushType {
            throw GatewayRefusal(.invalidPushType)
        }
    }

    /// G2 and the first half of G3.
    func token(in path: String) throws(GatewayRefusal) -> [UInt8] {
        let text = Array(path.utf8)
        let prefix = Array("/3/device".utf8)
        guard text.starts(with: prefix) else { throw GatewayRefusal(.badPath) }
        let rest = text[prefix.count...]
        if rest.isEmpty || rest.elementsEqual("/".utf8) { throw GatewayRefusal(.missingDeviceToken) }
        guard rest.first == UInt8(ascii: "/") else { throw GatewayRefusal(.badPath) }
        let hex = rest.dropFirst()
        guard !hex.contains(UInt8(ascii: "/")) else { throw GatewayRefusal(.badPath) }
        guard let token = bytesFrom(hex: hex) else { throw GatewayRefusal(.badDeviceToken) }
        return token
    }

    /// G3 and G13.
    /// - Returns: the bundle id of the topic.
    func checkToken(
        _ token: [UInt8], topic: String, standing: (_ token: [UInt8]) -> TokenStanding, at now: WallTime
    ) throws(GatewayRefusal) -> String {
        let bundleID = Simulation.bundleID(ofTopic: topic)
        switch standing(token) {
        case .unknown:
            throw GatewayRefusal(.badDeviceToken)
        case .live(let owner):
            guard owner == bundleID else { throw GatewayRefusal(.deviceTokenNotForTopic) }
        case .dead(let owner, let since, let kind):
            guard owner == bundleID else { throw GatewayRefusal(.deviceTokenNotForTopic) }
            let isAdmitted =
                switch kind == .update ? options.deadUpdate : options.deadPushToStart {
                case .never: true
                case .seconds(let seconds): now.seconds(since: since) >= seconds
                case .forever: false
                }
            if isAdmitted { throw GatewayRefusal(kind == .update ? .expiredToken : .unregistered, deadSince: since) }
        }
        return bundleID
    }

    /// G9 and G10.
    func checkPayload(_ body: [UInt8]) throws(GatewayRefusal) {
        if body.isEmpty { throw GatewayRefusal(.payloadEmpty) }
        if body.count > options.payloadLimit { throw GatewayRefusal(.payloadTooLarge) }
        if let reason = options.malformedJSONReason, JSONSlices(body) == nil { throw GatewayRefusal(reason) }
    }
}

private func isWholeNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        && Int64(text) != nil
}

/// 8-4-4-4-12 lower-case hex digits (ref 1.2).
func isCanonicalUUID(_ text: String) -> Bool {
    let bytes = text.utf8
    guard bytes.count == 36 else { return false }
    for (place, byte) in bytes.enumerated() {
        switch place {
        case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
        default:
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
            default: return false
            }
        }
    }
    return true
}

/// - Returns: `nil` for an odd count or a byte that is no hex digit. Either case is taken: Apple asks for lower, and
///   refuses nothing for it that is known.
func bytesFrom(hex text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 2) else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 2)
    var at = text.startIndex
    while at < text.endIndex {
        guard let high = digit(text[at]), let low = digit(text[at + 1]) else { return nil }
        result.append(high << 4 | low)
        at += 2
    }
    return result
}

private func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
