internal import CardRules
internal import Lanes

/// What one phone's app tells the server: one call after the other, each repeated until it is answered.
struct PhoneLine {
    var reports: [PhoneReport] = []
    /// The call under way, by its number.
    var call: Int?
    var failures = 0
    var isOffline = false
    var namesWrongGateway = false
    /// Pushes kept for a phone without a network: the newest for each token (ref T10).
    var kept: [GatewayDelivery] = []
    /// What happened to it, for people.
    var story: [StoryLine] = []

    var isWaiting: Bool { call == nil && !reports.isEmpty }

    mutating func forgetCall() { call = nil }
}

extension World {
    // MARK: Calls

    /// An app reports.
    func hear(_ report: PhoneReport) {
        phones[report.phone].reports.append(report)
        if phones[report.phone].reports.count == 1 { events.add(.call(report.phone), at: soon(&random.phones)) }
    }

    func call(_ phone: Int) {
        guard phones[phone].isWaiting, !phones[phone].isOffline, let server, server.stage == .up,
            let report = phones[phone].reports.first
        else { return }
        counted += 1
        let number = counted
        phones[phone].call = number
        if random.phones.chance(plan.share(of: .lostCalls, at: now)) {
            events.add(.callFails(phone, call: number), at: soon(&random.phones, upTo: 10))
            // Half of them are lost on the way there, the others on the way back.
            if random.phones.chance(0.5) { return }
            phones[phone].call = -number
        }
        let ports = server.ports
        let isHeard = phones[phone].call == number
        fleet.withJudge { $0.arrives(report, at: now) }
        server.supervisor.submit(
            DeviceCall(event(of: report), for: report.device, app: World.app) { reply in
                if isHeard { ports.add(.reply(phone: phone, call: number, reply)) }
            })
    }

    func hear(_ reply: DeviceReply, phone: Int, call number: Int) {
        guard phones[phone].call == number, let report = phones[phone].reports.first else { return }
        switch reply.answer {
        case .unavailable, .overloaded: return fails(phone)
        case .done, .unknownDevice, .unknownCard, .staleSelection, .otherApp: break
        }
        phones[phone].call = nil
        phones[phone].failures = 0
        phones[phone].reports.removeFirst()
        fleet.withJudge { $0.isAnswered(report, at: now) }
        if reply.needsToken { fleet.serverAsksForToken(after: report, at: now) }
        if phones[phone].isWaiting { events.add(.call(phone), at: soon(&random.phones)) }
    }

    func callFails(_ phone: Int, _ number: Int) {
        guard let call = phones[phone].call, call == number || call == -number else { return }
        fails(phone)
    }

    private func fails(_ phone: Int) {
        phones[phone].call = nil
        phones[phone].failures += 1
        let wait = Double(1 << min(phones[phone].failures, 5))
        events.add(.call(phone), at: now.advanced(bySeconds: wait))
    }

    private func event(of report: PhoneReport) -> LaneEvent {
        report.event(zone: zone) { given in
            guard phones[report.phone].namesWrongGateway, now < plan.ends else { return given }
            return PushAddress(token: given.token, gateway: given.gateway == .production ? .sandbox : .production)
        }
    }

    // MARK: Pushes

    /// A push that a gateway has accepted goes to its phone.
    func send(_ delivery: GatewayDelivery) {
        guard random.phones.chance(plan.share(of: .overtaking, at: now)) else { return deliver(delivery) }
        events.add(.deliver(delivery), at: soon(&random.phones, upTo: 5))
    }

    func deliver(_ delivery: GatewayDelivery) {
        guard let phone = fleet.phone(of: delivery.token, at: delivery.gateway) else { return }
        guard phones[phone].isOffline else { return fleet.deliver(delivery, at: now) }
        phones[phone].kept.removeAll { $0.token == delivery.token && $0.gateway == delivery.gateway }
        phones[phone].kept.append(delivery)
    }

    func setOffline(_ isOffline: Bool, phone: Int) {
        guard phones.indices.contains(phone), phones[phone].isOffline != isOffline else { return }
        phones[phone].isOffline = isOffline
        fleet.withJudge { $0.phone(phone, isOffline: isOffline, at: now) }
        guard !isOffline else { return }
        let kept = phones[phone].kept
        phones[phone].kept = []
        for delivery in kept where delivery.push.expiration.map({ WallTime(seconds: $0) > now }) ?? true {
            fleet.deliver(delivery, at: now)
        }
        events.add(.call(phone), at: soon(&random.phones))
    }
}
