internal import CardRules
internal import Lanes
internal import PushWire

/// A push between the server and its verdict.
struct PendingPush {
    let push: OutgoingPush
    let queuedAt: WallTime
    /// The gateway has seen it.
    var hasArrived = false
    /// It waits with the server's pool: paused, or held by G3.
    var isWaiting = false
    /// Its process has died: nobody waits for the answer.
    var isOrphan = false
    var verdict: Verdict?
}

/// One gateway, with what the pool of a server does about its state: pause, and the hold of G3.
final class SimulatedGateway {
    var model: GatewayModel
    var connection: GatewayConnection
    var troubles: [FaultKind] = []
    var isPaused = false
    var isToBePaused = false
    /// Operator's faults in a row (G3).
    var faultsInARow = 0
    var isHeld = false
    var waiting: [Int] = []
    private var token: (signed: PushWire.ProviderToken, at: WallTime)?

    init(_ gateway: Gateway, seed: UInt64, at now: WallTime) {
        model = GatewayModel(gateway: gateway, options: GatewayOptions(), seed: seed)
        connection = model.openConnection()
    }

    func end(_ trouble: FaultKind) {
        if let place = troubles.firstIndex(of: trouble) { troubles.remove(at: place) }
    }

    /// Another process, with connections of its own.
    func forgetClient() {
        isPaused = false
        faultsInARow = 0
        isHeld = false
        waiting = []
        connection = model.openConnection()
    }

    /// One that the gateway takes, made anew every forty minutes (G4).
    func providerToken(at now: WallTime) -> PushWire.ProviderToken? {
        if let token, now.seconds(since: token.at) < 2400 { return token.signed }
        let claims = ProviderTokenClaims(keyID: "KEY1234567", teamID: "TEAM123456", issuedAt: now.unixSeconds)
        guard let fresh = try? claims.signed(by: { _ in [UInt8](repeating: 7, count: 64) }) else { return nil }
        token = (fresh, now)
        connection = model.openConnection()
        return fresh
    }
}

extension World {
    func take(_ push: OutgoingPush) {
        counted += 1
        tally.pushes += 1
        pushes[counted] = PendingPush(push: push, queuedAt: now)
        trace.add(Int64(bitPattern: push.request.id.high), Int64(bitPattern: push.request.id.low))
        mayDie(push.ticket.device)
        if push.request.event != .update { mayDieSuddenly() }
        dispatch(counted)
    }

    private func dispatch(_ number: Int) {
        guard let push = pushes[number]?.push, let gateway = gateways[push.request.address.gateway] else { return }
        if gateway.isPaused || gateway.isHeld {
            gateway.waiting.append(number)
            pushes[number]?.isWaiting = true
            return
        }
        pushes[number]?.isWaiting = false
        // The pool keeps pushes to one token in their order (G7).
        let earliest = lastArrivals[push.request.address] ?? now
        let at = max(earliest.advanced(bySeconds: 0.001), soon(&random.gateway))
        lastArrivals[push.request.address] = at
        events.add(.arrive(number), at: at)
    }

    func pause(_ gateway: Gateway, _ isPaused: Bool) {
        gateways[gateway]?.isPaused = isPaused
        if !isPaused { release(gateway) }
    }

    private func release(_ gateway: Gateway) {
        guard let state = gateways[gateway], !state.isPaused, !state.isHeld else { return }
        let waiting = state.waiting
        state.waiting = []
        for number in waiting { dispatch(number) }
    }

    /// G3: one of those that wait tries.
    func probe(_ gateway: Gateway) {
        guard let state = gateways[gateway], state.isHeld else { return }
        if !state.isPaused, let first = state.waiting.first {
            state.waiting.removeFirst()
            pushes[first]?.isWaiting = false
            events.add(.arrive(first), at: soon(&random.gateway))
        }
        events.add(.probe(gateway), at: now.advanced(bySeconds: tuning.gateway.probeSeconds))
    }

    func arrive(_ number: Int) {
        guard let pending = pushes[number] else { return }
        pushes[number]?.hasArrived = true
        let side = pending.push.request.address.gateway
        guard let gateway = gateways[side] else { return }
        if gateway.troubles.contains(.outage) {
            return answer(number, .notSent, after: Double.random(in: 0.1...30, using: &random.gateway))
        }
        if random.gateway.chance(plan.share(of: .notSent, at: now)) { return answer(number, .notSent, after: 0.05) }
        guard let token = gateway.providerToken(at: now),
            let request = request(
                pending.push.request, token, topicIsWrong: gateway.troubles.contains(.wrongTopic))
        else { return answer(number, .notSent, after: 0.05) }
        if let refusal = refusal(by: gateway) {
            fleet.refuse(
                request, at: side, status: refusal.status, reason: refusal.reason, queuedAt: pending.queuedAt, now: now)
            let verdict = PushWire.verdict(
                status: refusal.status, body: Array("{\"reason\":\"\(refusal.reason)\"}".utf8))
            return answer(number, verdict, after: latency())
        }
        var wait = latency()
        if random.gateway.chance(plan.share(of: .slowAnswers, at: now)) {
            wait = Double.random(in: 1...35, using: &random.gateway)
        }
        let isLost = random.gateway.chance(plan.share(of: .lostAnswers, at: now)) || wait > World.answerSeconds
        let losesPush = random.gateway.chance(plan.share(of: .lostPushes, at: now))
        gateway.model.options.faults = losesPush ? [GatewayFault(.lose)] : []
        let (given, deliveries) = fleet.answer(
            request, by: &gateway.model, on: &gateway.connection, at: now, answerArrives: !isLost && !pending.isOrphan,
            queuedAt: pending.queuedAt)
        for delivery in deliveries { send(delivery) }
        if pending.push.request.event != .update { mayDieSuddenly() }
        // At the other gateway nobody knows whose the token is.
        if given.reason == "BadDeviceToken" { fleet.isUnsent(to: pending.push.request.address.flipped) }
        gateway.faultsInARow = isOperatorFault(given) ? gateway.faultsInARow + 1 : 0
        if given.status == 200, gateway.isHeld {
            gateway.isHeld = false
            release(side)
        } else if gateway.faultsInARow >= tuning.gateway.faultsInARow, !gateway.isHeld {
            gateway.isHeld = true
            events.add(.probe(side), at: now.advanced(bySeconds: tuning.gateway.probeSeconds))
        }
        tell(
            phoneOf[pending.push.ticket.device],
            "\(side.rawValue) gets \(pending.push.request.event.rawValue) \(pending.push.ticket.number.value) of generation "
                + "\(pending.push.ticket.generation.value) at \(pending.push.request.priority.rawValue): \(given.status) "
                + "\(given.reason ?? "")\(isLost ? ", answer lost" : "")\(losesPush ? ", push lost" : ""): "
                + String(decoding: pending.push.request.payload, as: UTF8.self))
        if isLost { return answer(number, .unknown, after: World.answerSeconds) }
        answer(number, PushWire.verdict(status: given.status, body: given.body), after: wait)
    }

    /// G6: how long the server waits for an answer.
    static let answerSeconds = 30.0

    private func latency() -> Double { Double.random(in: 0.02...0.3, using: &random.gateway) }

    private func isOperatorFault(_ answer: GatewayAnswer) -> Bool {
        answer.status == 400
            && ["DeviceTokenNotForTopic", "BadTopic", "TopicDisallowed"].contains(answer.reason ?? "")
    }

    /// Some answer that says nothing against the token.
    private func refusal(by gateway: SimulatedGateway) -> (status: Int, reason: String)? {
        if gateway.troubles.contains(.serverErrors) { return (503, "ServiceUnavailable") }
        if gateway.troubles.contains(.throttling) { return (429, "TooManyRequests") }
        guard random.gateway.chance(plan.share(of: .refusals, at: now)) else { return nil }
        return World.refusals.randomElement(using: &random.gateway)
    }

    private static let refusals: [(status: Int, reason: String)] = [
        (400, "BadPriority"), (400, "BadExpirationDate"), (400, "BadTopic"), (400, "IdleTimeout"), (403, "Forbidden"),
        (403, "InvalidProviderToken"), (405, "MethodNotAllowed"), (413, "PayloadTooLarge"), (429, "TooManyRequests"),
        (500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown"), (418, "Teapot"),
    ]

    private func request(
        _ push: PushRequest, _ token: PushWire.ProviderToken, topicIsWrong: Bool
    ) -> GatewayRequest? {
        var path = ""
        var fields: [GatewayHeader] = []
        for field in PushWire.headers(of: push, providerToken: token, authority: []) {
            let name = "\(field.name)"
            let value = String(decoding: field.value, as: UTF8.self)
            if name == ":path" { path = value }
            guard !name.hasPrefix(":") else { continue }
            fields.append(GatewayHeader(name, name == "apns-topic" && topicIsWrong ? World.wrongTopic : value))
        }
        return GatewayRequest(method: "POST", path: path, headers: fields, body: push.payload)
    }

    private static let wrongTopic = "com.example.other.push-type.liveactivity"

    private func answer(_ number: Int, _ verdict: Verdict, after seconds: Double) {
        guard let pending = pushes[number], !pending.isOrphan else {
            if let push = pushes.removeValue(forKey: number)?.push, push.request.event == .start, verdict.isFailure {
                spends(push.ticket.device)
            }
            return
        }
        pushes[number]?.verdict = verdict
        if verdict == .notSent { fleet.isUnsent(to: pending.push.request.address) }
        events.add(.answerPush(number), at: now.advanced(bySeconds: max(0.001, seconds)))
    }

    func answerPush(_ number: Int) {
        guard let pending = pushes.removeValue(forKey: number), let verdict = pending.verdict, !pending.isOrphan else {
            return
        }
        tally.verdicts[word(of: verdict), default: 0] += 1
        if pending.push.request.event == .start, verdict.isFailure {
            unwrittenFailures[pending.push.ticket.device] = counted
        }
        pending.push.sink.take([PushAnswer(ticket: pending.push.ticket, verdict: verdict)])
        mayDie(pending.push.ticket.device)
    }

    private func word(of verdict: Verdict) -> String {
        switch verdict {
        case .accepted: "accepted"
        case .refused(let refusal): refusal.reason.word
        case .notSent: "not sent"
        case .unknown: "unknown"
        }
    }
}

extension Verdict {
    /// Nothing of it is on the phone, and whoever heard that may try again.
    var isFailure: Bool {
        switch self {
        case .refused, .notSent: true
        case .accepted, .unknown: false
        }
    }
}
