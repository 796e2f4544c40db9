@testable import CardRules

/// What must hold, always (rules.md, section 11), judged from outside the lane.
extension Journey {
    // MARK: - In every turn

    mutating func judgeTurn(_ effects: [LaneEffect], before: Card?) {
        books.settleFlip(effects.starts.filter { start in !effects.hasClaim(of: start.key) })
        judgeFront(effects, before: before)
        judgeTokens(effects)
        for entry in effects.notes {
            if entry.kind == .withheld { seen.withheld += 1 }
            if entry.kind == .reissue { seen.reissues += 1 }
        }
        if let look = bench.lane.nextLook, look <= bench.now { fail("R7: the next look is not ahead") }
        let record = bench.lane.kept
        if Set(record.cards.map(\.key)).count != record.cards.count { fail("I1: two cards under one key") }
        for order in effects.orders where order.content.games.isEmpty == false {
            if order.content.spoilerFree != record.settings.spoilerFree { fail("I3: a push of the wrong kind") }
        }
    }

    /// The claims of a turn, each with its start. A start without one goes on with an earlier claim, at the other gateway.
    mutating func claims(in effects: [LaneEffect]) -> [Claim] {
        var starts = effects.starts
        var claims: [Claim] = []
        for (place, effect) in effects.enumerated() {
            guard case .claim(let night, let ordinal, let key) = effect else { continue }
            let save = effects.firstIndex(of: .save) ?? .max
            let send =
                effects.firstIndex { if case .send(let order) = $0 { order.event == .start } else { false } } ?? -1
            if !(place < save && save < send) { fail("L1: claim, save and send of \(key) are out of order") }
            guard let index = starts.firstIndex(where: { $0.key == key }) else {
                fail("L1: a claim without its start")
                continue
            }
            let order = starts.remove(at: index)
            let isReissue = bench.lane.card(key)?.state == .replacing || order.isSuccessor
            if isReissue { books.reissues.insert(Books.Flight(order)) }
            claims.append(
                Claim(night: night, ordinal: ordinal, key: key, number: order.number, isReissue: isReissue))
        }
        return claims
    }

    /// L1, I2: a claim that has landed is the only one of its ordinal, and within what the ledger allows.
    mutating func judgeClaim(_ claim: Claim) {
        if !books.ordinals.insert("\(claim.night.milliseconds)/\(claim.ordinal)").inserted {
            fail("L1: an ordinal used twice")
        }
        if books.nights.insert(claim.night).inserted { seen.nights += 1 }
        books.open[claim.number] = claim
        books.spend(claim)
        judgeSpend(claim.night, claim.key, isReissue: claim.isReissue)
    }

    /// I2, by the journey's own count.
    private mutating func judgeSpend(_ night: WallTime, _ key: CardKey, isReissue: Bool) {
        let tuning = bench.tuning.starts
        if books.spent[night, default: 0] > tuning.hardCap { fail("I2: more than \(tuning.hardCap) starts in a night") }
        guard !isReissue else { return }
        let sent = books.sent[night]?[key] ?? 0
        if sent > tuning.acknowledged { fail("I2: \(sent) starts of \(key) in a night") }
        if sent > tuning.unacknowledged, bench.lane.kept.ledger[key].acknowledged == 0 {
            fail("I2: start \(sent) of \(key), and none acknowledged")
        }
    }

    /// I9: A2 and T8.
    private mutating func judgeFront(_ effects: [LaneEffect], before: Card?) {
        guard let card = bench.lane.card(.slate), let front = card.front?.game else {
            books.changes = []
            return
        }
        let selection = bench.lane.kept.selection
        if selection?.muted.contains(front) == true, bench.lane.kept.members.contains(front) {
            fail("I9: a muted game is in front")
        }
        for entry in effects.notes where entry.kind == .takeover && entry.key == .slate {
            seen.takeovers += 1
            guard let was = before?.front?.game, was != front, let rule = entry.rule, rule != .t6 else { continue }
            books.changes.append(bench.now)
            guard rule == .t3 || rule == .t11 else { continue }
            if let arrived = selection?.arrivedAt, bench.now.seconds(since: arrived) < 30 {
                fail("I9: \(rule) within 30 s of a selection")
            }
            if let pinned = selection?.pinned, was == pinned, front != pinned,
                bench.lane.kept.members.contains(pinned), bench.games.first(where: { $0.id == pinned })?.phase != .final
            {
                fail("I9: \(rule) over a pinned game")
            }
            if case .unreadable = bench.lane.kept.settings.personalisation { fail("I9: \(rule) with a taste unread") }
        }
        let minute = books.changes.count { bench.now.milliseconds - $0.milliseconds < 60_000 }
        if minute > bench.tuning.takeover.changesPerMinute { fail("I9: \(minute) changes of the front in a minute") }
    }

    /// I7: no valid token is cleared.
    private mutating func judgeTokens(_ effects: [LaneEffect]) {
        for entry in effects.notes {
            if entry.kind == .token, entry.rule == .g2 || entry.rule == .g3, entry.detail.contains("dead"),
                clearedToken == phone.pushToStart
            {
                fail("I7: the push-to-start token lives and was cleared")
            }
        }
        clearedToken = bench.lane.kept.pushToStart?.address?.token ?? clearedToken
    }

    // MARK: - Whenever a push leaves

    mutating func judgeLeaving(_ order: PushOrder) {
        let token = order.address.token
        guard order.event != .start else { return }
        if let last = books.timestamps[token], order.timestamp <= last {
            fail("I10: \(order.event.rawValue) of \(order.key) carries \(order.timestamp) after \(last)")
        }
        books.timestamps[token] = order.timestamp
        if books.isRepetition(order) {
            fail("I10: an update of \(order.key) says what the card is known to show")
        }
        guard let place = phone.place(of: token) else { return }
        let activity = phone.activities[place]
        let age = now.seconds(since: activity.began)
        // A start is believed from its acceptance on, and the phone may have got it ten minutes later.
        if activity.isAgeKnown, age > 28_800 + skewSum + 1 {
            fail("I5: \(order.event.rawValue) to a card of \(Int(age)) s")
        }
        if let over = books.over[activity.id], now.seconds(since: over) > 5 {
            fail("I5: \(order.event.rawValue) to a card that the app had reported over")
        }
    }

    // MARK: - On the phone

    /// I1: a server's start beside another one, save the overlap of a reissue.
    mutating func judgeArrivingStart(_ order: PushOrder) {
        let others = phone.alive(order.key).filter { $0.startedBy == .push }
        guard !others.isEmpty else { return }
        if books.reissues.contains(Books.Flight(order)) {
            if others.count > 1, !plan.faults { fail("I1: a third card of \(order.key)") }
            return
        }
        // What the server takes for expired by its acceptance may stand for as long as the phone got it later.
        let limit = 28_800 - 660 - skewSum
        if others.allSatisfy({ now.seconds(since: $0.began) >= limit }) { return }
        fail("I1: a second card of \(order.key) beside one of \(Int(now.seconds(since: others[0].began))) s")
    }

    /// I6 and I8, when nothing is on its way any more.
    mutating func judgeRest() {
        for (key, since) in books.stopped where now.seconds(since: since) > 120 {
            if !phone.alive(key).isEmpty { fail("I8: \(key) was stopped and stands") }
        }
        for key in Set(phone.activities.map(\.key)) {
            let standing = phone.alive(key)
            if standing.count > 1 { fail("I1: \(standing.count) cards of \(key) at rest") }
            guard let card = bench.lane.card(key), card.state == .confirmed, let activity = standing.first else {
                continue
            }
            guard card.activity == activity.id else {
                fail("L3: the card of \(key) is not the one that stands")
                continue
            }
            guard key == .slate else {
                if let session = bench.book[key], activity.shown != .session(session.fingerprint) {
                    fail("I6: \(key) shows what is over")
                }
                continue
            }
            guard let arrangement = bench.lane.arrangement(of: card, bench.tuning) else { continue }
            if activity.shown != ShownContent(.slate(arrangement), bench.surroundings.slate) {
                fail("I6: the slate card shows \(activity.shown as Any)")
            }
        }
        // A card that the server has given up for ever is not left standing.
        for activity in phone.activities where activity.isAlive && bench.lane.card(activity.key) == nil {
            if activity.isReported, bench.lane.kept.owedEnds.contains(where: { $0.activity == activity.id }) == false {
                fail("I6: \(activity.key) stands, and the server knows nothing of it")
            }
        }
    }
}

extension [LaneEffect] {
    func hasClaim(of key: CardKey) -> Bool {
        contains { if case .claim(_, _, key) = $0 { true } else { false } }
    }
}

extension Journey {
    static func words(of event: LaneEvent) -> String { String("\(event)".prefix(140)) }

    static func words(of effects: [LaneEffect]) -> String {
        effects.map { effect in
            switch effect {
            case .claim(_, let ordinal, let key): "claim \(key) \(ordinal)"
            case .save: "save"
            case .send(let order): "send \(order.key) \(order.event.rawValue) #\(order.number.value)"
            case .note(let entry): "[\(entry.kind.rawValue) \(entry.rule?.rawValue ?? "-") \(entry.detail)]"
            default: "\(effect)".prefix(40).description
            }
        }.joined(separator: ", ")
    }
}
