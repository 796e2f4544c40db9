@testable import CardRules

/// What a caller does with sessions, and what becomes of their cards.
extension Bench {
    /// Opens a session, or changes the one that runs.
    @discardableResult
    mutating func put(
        _ id: CardKey = "nap", devices: [DeviceID] = [Bench.device], count: Int64 = 0, urgent: Bool = false,
        startedOn: [DeviceID] = [], startedAt: WallTime? = nil
    ) -> [LaneEffect] {
        let running = book[id].flatMap { $0.isRunning ? $0 : nil }
        let terms = SessionTerms(
            devices: devices, attributesType: "SleepAttributes", attributes: .object(["session": .string(id.text)]),
            content: .object(["count": .integer(count)]), title: "Sleep",
            startedAt: running?.terms.startedAt ?? startedAt ?? now, isUrgent: urgent, startedOn: startedOn)
        let session = running.map { $0.changed(to: terms) } ?? Session.opened(id, terms, after: book[id])
        book[id] = session
        return apply(.session(session, as: nil))
    }

    @discardableResult
    mutating func stop(_ id: CardKey = "nap", count: Int64? = nil) -> [LaneEffect] {
        guard let running = book[id] else { return [] }
        let session = running.stopped(at: now, content: count.map { .object(["count": .integer($0)]) })
        book[id] = session
        return apply(.session(session, as: nil))
    }

    /// The verdict of the push ordered last under this key.
    @discardableResult
    mutating func answer(_ key: CardKey, _ verdict: Verdict) -> [LaneEffect] {
        apply(.verdict(sent.last { $0.key == key }?.number ?? PushNumber(0), verdict))
    }

    /// A session whose card has its update token, a minute after its start.
    mutating func stand(_ id: CardKey, activity: ActivityID? = nil, token: UInt8? = nil) {
        put(id)
        answer(id, .accepted)
        acknowledge(id, activity: activity, token: token)
        pass(60)
    }

    /// The phone reports the token of a card.
    @discardableResult
    mutating func acknowledge(_ id: CardKey, activity: ActivityID? = nil, token: UInt8? = nil) -> [LaneEffect] {
        let sum = id.text.utf8.reduce(UInt8(0)) { $0 &+ $1 }
        return cardToken(
            activity ?? ActivityID(unchecked: "\(id)-1"), token: token ?? sum, startedBy: .push, key: id)
    }

    /// A phone whose sessions all stand confirmed.
    static func showing(
        _ ids: CardKey..., at now: WallTime = Bench.evening, tuning: Tuning = Tuning(),
        register: (inout DevicePatch) -> Void = { _ in }
    ) -> Bench {
        var bench = Bench.registered(at: now, tuning: tuning)
        bench.patch(register)
        for id in ids { bench.stand(id) }
        return bench
    }

    /// When a card is reissued, ended by L8 and by iOS.
    func plan(_ id: CardKey) -> LifePlan? { lane.plans.first { $0.key == id } }

    /// Time passes until the card is due for reissue.
    @discardableResult
    mutating func passToReissue(of id: CardKey) -> [LaneEffect] {
        guard let at = plan(id)?.reissueAt else { return [] }
        return pass(at.seconds(since: now))
    }

    func state(_ id: CardKey) -> Card.State? { lane.card(id)?.state }
}

extension [LaneEffect] {
    /// Of pushes: key and event, in order.
    var pushes: [String] { orders.map { "\($0.key) \($0.event.rawValue)" } }

    /// The rule and key of each decision of a kind.
    func decided(_ kind: TimelineEntry.Kind) -> [String] {
        notes.filter { $0.kind == kind }.map { "\($0.rule?.rawValue ?? "-") \($0.key?.text ?? "-")" }
    }
}

extension PushOrder {
    /// What a session's push shows.
    var count: Int64? {
        if case .integer(let value) = content.session?.terms.content["count"] { value } else { nil }
    }

    var since: String? { if case .session(let show) = content { show.since } else { nil } }

    var isSuccessor: Bool { if case .session(let show) = content { show.isSuccessor } else { false } }

    var makesSound: Bool { if case .start(withSound: true) = kind { true } else { false } }

    /// An end that leaves the Lock Screen at once.
    func isImmediateEnd(at now: WallTime) -> Bool { kind == .end(dismissalDate: now.unixSeconds) }
}
