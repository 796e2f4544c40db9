public import CardRules
internal import PushWire

/// The simulated APNs gateway of one environment: decides what Apple would answer. Source: ref 8.2, G1 to G24, G27, G31 and
/// G32.
///
/// Pure: no clock, no socket, no phone. Checks go in the order id, method, topic, collapse id, priority, push type,
/// path and token, authentication, payload (ref R9: Apple's own order is unknown).
public struct GatewayModel: Sendable {
    public let gateway: Gateway
    /// May be changed between requests.
    public var options: GatewayOptions
    public internal(set) var counters = GatewayCounters()
    private var record: RequestRecord
    private var ids: SeededGenerator
    private var connections: UInt64 = 0
    /// Provider tokens whose signature was judged, so that a shared token is verified once. At the bound all are
    /// forgotten and judged anew.
    private var judged: [String: JudgedToken] = [:]
    private static let judgedKept = 256
    /// G23: when connections were opened in the last minute.
    var opens: [WallTime] = []
    var turnsAwayUntil = WallTime.distantPast
    /// G24: pushes of each token in the second that began then.
    var tokenSeconds: [[UInt8]: (began: WallTime, count: Int)] = [:]
    var faultDraws: SeededGenerator

    enum JudgedToken: Sendable {
        case invalid
        case valid(ProviderToken, ProviderKey?)
    }

    /// - Parameter seed: of the ids that the gateway makes.
    public init(gateway: Gateway, options: GatewayOptions = GatewayOptions(), seed: UInt64) {
        self.gateway = gateway
        self.options = options
        record = RequestRecord(kept: options.requestsKept)
        ids = SeededGenerator(seed: seed)
        faultDraws = SeededGenerator(seed: ~seed)
    }

    /// The requests kept, oldest first; `authorization` is redacted.
    public var requests: [RecordedRequest] { record.all }

    public mutating func openConnection() -> GatewayConnection {
        connections += 1
        return GatewayConnection(number: connections, options: options)
    }

    /// Decides one request.
    /// - Parameter standing: what is known of a token in this environment; asked at most once.
    /// - Returns: the answer; where it has a delivery, that must happen before the answer is written.
    public mutating func answer(
        _ request: GatewayRequest, on connection: inout GatewayConnection, at now: WallTime,
        standing: (_ token: [UInt8]) -> TokenStanding
    ) -> GatewayAnswer {
        let fields = RequestFields(request.headers)
        let id = fields.id.flatMap { isCanonicalUUID($0) ? $0 : nil } ?? ids.uuidText()
        var effect = GatewayAnswer.Effect.none
        let fault = takeFault(for: request)
        let outcome: Result<GatewayDelivery?, GatewayRefusal>
        if let reason = connection.wedged, options.wedge != .never {
            outcome = .failure(GatewayRefusal(reason))
            if options.wedge == .silence { effect = .silence }
        } else if let refusal = fault?.refusal {
            outcome = .failure(refusal)
        } else if let early = fault?.effectBefore {
            outcome = .failure(GatewayRefusal(.internalServerError))
            effect = early
        } else {
            outcome = Result { () throws(GatewayRefusal) in
                try decide(request, fields, id: id, on: &connection, at: now, standing: standing)
            }
        }
        var answer: GatewayAnswer
        switch outcome {
        case .success(let delivery):
            connection.streamLimit = options.streamsAfter
            let isLost = fault?.kind == .lose
            answer = GatewayAnswer(
                status: 200, reason: nil, timestamp: nil, apnsID: id,
                uniqueID: gateway == .sandbox ? ids.uuidText() : nil, delivery: isLost ? nil : delivery,
                effect: fault?.effectAfter ?? .none)
            answer.copies = fault?.kind == .duplicate ? 2 : 1
        case .failure(let refusal):
            if effect == .none { effect = punish(refusal, on: &connection) }
            answer = GatewayAnswer(
                status: refusal.status, reason: refusal.word, timestamp: refusal.deadSince?.milliseconds, apnsID: id,
                uniqueID: nil, delivery: nil, effect: effect)
            if refusal.status == 429 || refusal.status == 503 { answer.retryAfterSeconds = options.retryAfterSeconds }
        }
        answer.delaySeconds = options.answerSeconds + (fault?.delaySeconds ?? 0)
        if let offset = options.dateOffsetSeconds {
            answer.date = HTTPDate.text(unixSeconds: max(0, now.unixSeconds + offset))
        }
        for field in request.indexedFields { counters.indexed[field, default: 0] += 1 }
        note(request, answer, on: connection, at: now)
        return answer
    }

    private mutating func note(
        _ request: GatewayRequest, _ answer: GatewayAnswer, on connection: GatewayConnection, at now: WallTime
    ) {
        let isSilent = answer.effect.losesAnswer
        if isSilent {
            counters.unanswered += 1
        } else if let reason = answer.reason {
            counters.refused[reason, default: 0] += 1
        } else {
            counters.accepted += 1
        }
        guard !record.isOff else { return }
        record.append(
            RecordedRequest(
                at: now, connection: connection.number, request: request.redacted,
                status: isSilent ? nil : answer.status, reason: isSilent ? nil : answer.reason))
    }

    /// What a refusal does to its connection (ref T16, T23).
    private func punish(_ refusal: GatewayRefusal, on connection: inout GatewayConnection) -> GatewayAnswer.Effect {
        if refusal.reason == .expiredProviderToken || refusal.reason == .tooManyProviderTokenUpdates {
            connection.wedged = refusal.reason
        }
        guard (400..<500).contains(refusal.status), refusal.status != 410 else { return .none }
        if options.throttlesOnErrors { connection.streamLimit = options.streamsBefore }
        connection.errors += refusal.reason == .badDeviceToken ? 5 : 1
        guard let limit = options.errorsUntilGoAway, connection.errors >= limit else { return .none }
        return .goAway(reason: refusal.word)
    }

    private mutating func decide(
        _ request: GatewayRequest, _ fields: RequestFields, id: String, on connection: inout GatewayConnection,
        at now: WallTime, standing: (_ token: [UInt8]) -> TokenStanding
    ) throws(GatewayRefusal) -> GatewayDelivery? {
        if fields.hasDuplicate { throw GatewayRefusal(.duplicateHeaders) }
        if let id = fields.id, !isCanonicalUUID(id) { throw GatewayRefusal(.badMessageID) }
        guard request.method == "POST" else { throw GatewayRefusal(.methodNotAllowed) }
        try checkHeaders(fields)
        let token = try token(in: request.path)
        let bundleID = try checkToken(token, topic: fields.topic ?? "", standing: standing, at: now)
        try checkProviderToken(fields.authorization, bundleID: bundleID, on: &connection, at: now)
        connection.streamLimit = max(connection.streamLimit, options.streamsAfter)
        try checkPayload(request.body)
        try checkRate(of: token, at: now)
        guard let pushType = fields.pushType else { return nil }
        return GatewayDelivery(
            token: token, gateway: gateway,
            push: ReceivedPush(
                apnsID: id, pushType: pushType, topic: fields.topic ?? "",
                priority: fields.priority.flatMap { Int($0) } ?? 10,
                expiration: fields.expiration.flatMap { Int64($0) }, collapseID: fields.collapseID,
                payload: request.body))
    }

    /// G14 to G16, G18.
    private mutating func checkProviderToken(
        _ authorization: String?, bundleID: String, on connection: inout GatewayConnection, at now: WallTime
    ) throws(GatewayRefusal) {
        guard let authorization, authorization.utf8.count > 7, authorization.utf8.starts(with: "bearer ".utf8) else {
            throw GatewayRefusal(.missingProviderToken)
        }
        let text = String(authorization.utf8.dropFirst(7)) ?? ""
        guard case .valid(let token, let key) = judge(text) else { throw GatewayRefusal(.invalidProviderToken) }
        let age = Double(now.milliseconds) / 1000 - token.issuedAt
        if age > options.providerTokenLife { throw GatewayRefusal(.expiredProviderToken) }
        if age < -options.providerTokenLife { throw GatewayRefusal(options.futureTokenReason) }
        if let key, !key.gateways.contains(gateway) {
            throw GatewayRefusal(
                .badEnvironmentKeyIDInToken,
                word: options.usesOtherEnvironmentSpelling ? "BadEnvironmentKeyInToken" : nil)
        }
        if options.bindsConnections, let bound = connection.bound {
            if bound.teamID != token.teamID { throw GatewayRefusal(.invalidProviderToken) }
            if bound.keyID != token.keyID { throw GatewayRefusal(.unrelatedKeyIDInToken) }
        }
        if let allowed = key?.bundleIDs, !allowed.contains(bundleID) { throw GatewayRefusal(.topicDisallowed) }
        if connection.providerToken != text {
            if let since = connection.providerTokenSince, now.seconds(since: since) < options.providerTokenGap {
                throw GatewayRefusal(.tooManyProviderTokenUpdates)
            }
            connection.providerToken = text
            connection.providerTokenSince = now
        }
        if connection.bound == nil {
            connection.bound = GatewayConnection.Binding(teamID: token.teamID, keyID: token.keyID)
        }
    }

    private mutating func judge(_ text: String) -> JudgedToken {
        if let known = judged[text] { return known }
        let verdict: JudgedToken
        if let token = ProviderToken(text) {
            if options.keys.isEmpty {
                verdict = .valid(token, nil)
            } else if let key = options.keys.first(where: { $0.keyID == token.keyID }), key.teamID == token.teamID,
                key.verifies(token.message, token.signature)
            {
                verdict = .valid(token, key)
            } else {
                verdict = .invalid
            }
        } else {
            verdict = .invalid
        }
        if judged.count >= Self.judgedKept { judged.removeAll() }
        judged[text] = verdict
        return verdict
    }
}
