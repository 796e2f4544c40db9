extension LaneState {
    // MARK: - When

    /// Makes the plans of cards whose age has come or changed. Nothing is calculated while they stand.
    mutating func refreshPlans(_ turn: Turn) {
        plans.removeAll { plan in !kept.cards.contains { $0.key == plan.key && $0.ageBegan == plan.age } }
        for card in kept.cards {
            guard let age = card.ageBegan, !plans.contains(where: { $0.key == card.key }) else { continue }
            plans.append(
                LifePlan(
                    key: card.key, device: kept.device, age: age, hours: kept.settings.quietHours, zone: zone,
                    tuning: turn.tuning))
        }
    }

    /// R7: the nearest limit of the cards whose reissue is overdue, and how many starts they need; `nil`: none is.
    public mutating func overdueReissues(at now: WallTime, in surroundings: Surroundings) -> (
        limit: WallTime, starts: Int
    )? {
        refreshPlans(Turn(now: now, surroundings: surroundings))
        let overdue = plans.filter { plan in
            guard let card = card(plan.key), mayBeReissued(card), let at = plan.reissueAt else { return false }
            return at <= now
        }
        return overdue.map(\.limitAt).min().map { ($0, overdue.count) }
    }

    /// R7: no reissue begins before then.
    public mutating func holdReissues(until time: WallTime) { reissueNotBefore = time }

    /// R1, R6: a card that has sent its token, while its session runs, or while something qualifies for the slate.
    private func mayBeReissued(_ card: Card) -> Bool {
        guard card.state == .confirmed, card.updateAddress != nil else { return false }
        return card.key == .slate ? !kept.members.isEmpty : isRunning(card.key) && session(card.key) != nil
    }

    // MARK: - Rounds and portions

    /// R1-R3, R6: begins what is due, in portions that fit beside what stands (S13), and ends the cards of a portion
    /// that APNs has accepted.
    mutating func considerReissues(_ turn: inout Turn) {
        reissueLook = nil
        guard !kept.cards.isEmpty, !isBeingHandedOver else { return }
        finishPortions(&turn)
        repeatRefused(&turn)
        let due = dueCards(turn)
        guard !due.isEmpty else { return }
        if let obstacle = reissueObstacle(turn) {
            withholdReissue(due, obstacle, &turn)
            return
        }
        let room = turn.tuning.starts.cardsPerApp - standing
        guard room > 0 else {
            makeRoom(for: due, &turn)
            return
        }
        let portion = kept.ledger.claims
        for key in due.prefix(room) {
            if let obstacle = reissueObstacle(turn) {
                withholdReissue([key], obstacle, &turn)
                continue
            }
            guard let index = cardIndex(key) else { continue }
            kept.cards[index].state = .replacing
            kept.successors.append(Successor(key: key, portion: portion, claimedAt: turn.now, state: .starting))
            sendSuccessor(key, "due before iOS ends it", &turn)
        }
    }

    /// The cards of a round, the nearest limit first: those due now and those due within the spread (R2). A card with a
    /// push under way waits for its verdict (U2).
    private mutating func dueCards(_ turn: Turn) -> [CardKey] {
        let ready = plans.filter { plan in
            guard plan.reissueAt != nil, let card = card(plan.key) else { return false }
            return mayBeReissued(card)
        }
        let first = ready.compactMap(\.reissueAt).min().map { max($0, reissueNotBefore) }
        guard let first, first <= turn.now else {
            if let first { reissueLook = min(reissueLook ?? first, first) }
            return []
        }
        let until = turn.now.advanced(bySeconds: turn.tuning.reissue.spreadSeconds)
        return ready.filter { $0.reissueAt.map { $0 <= until } == true && self[sendingFor: $0.key].inFlight == nil }
            .sorted { ($0.limitAt, $0.key) < ($1.limitAt, $1.key) }.map(\.key)
    }

    /// Section 2: S1, S2, S7 and the hard cap of S6. S5 is in the plan (R5), a card that was dismissed is gone (S9).
    private func reissueObstacle(_ turn: Turn) -> Obstacle? {
        if let obstacle = phoneObstacle() { return obstacle }
        if let detail = hardCapObstacle(turn.tuning) {
            return .givenUp(.s6, detail, changesWhen: atTime(kept.ledger.to, "the next night has begun"))
        }
        return claimObstacle(turn)
    }

    private mutating func withholdReissue(_ keys: [CardKey], _ obstacle: Obstacle, _ turn: inout Turn) {
        if let until = obstacle.until { reissueLook = min(reissueLook ?? until, until) }
        for index in plans.indices where keys.contains(plans[index].key) && plans[index].withheld != obstacle.rule {
            plans[index].withheld = obstacle.rule
            guard obstacle.rule != .l10 else { continue }
            kept.ledger.countWithheld(obstacle.rule)
            turn.saveLater()
            turn.note(
                .withheld, plans[index].key, obstacle.rule, "a reissue: \(obstacle.detail)",
                changesWhen: obstacle.changesWhen)
        }
    }

    /// R2: with as many cards as iOS allows there is no room for a successor. The slate is ended first, and comes back
    /// as an ordinary start when there is room again (S13). Without a slate the card with the nearest limit gives up its
    /// place, and follows when the others of the round have theirs.
    private mutating func makeRoom(for due: [CardKey], _ turn: inout Turn) {
        // One end at a time: what is on its way makes room soon.
        guard kept.successors.isEmpty, kept.owedEnds.isEmpty, !kept.cards.contains(where: { $0.state == .ending })
        else {
            return
        }
        if let slate = card(.slate) {
            owe(slate.key, .r2, "it makes room for the reissue of other cards", &turn)
            guard !kept.members.isEmpty else { return }
            kept.deferred = DeferredStart(games: kept.members, rule: .s13)
        } else if let key = due.first, let index = memberIndex(key) {
            owe(key, .r2, "it makes room for the reissue of the others, and follows them", &turn)
            kept.sessions[index].pending = PendingStart(rule: .s13, isSuccessor: true)
        }
    }

    /// Claims the start of a successor and sends it: the same content, no sound (R2, P1).
    private mutating func sendSuccessor(_ key: CardKey, _ why: String, _ turn: inout Turn) {
        guard let address = kept.pushToStart?.address else { return }
        claim(key, isReissue: true, &turn)
        send(.start(withSound: false), key, to: address, priority: .immediate, isReissue: true, &turn)
        turn.note(.reissue, key, .r1, why, push: lastNumber)
    }

    /// R3: what was refused or not sent goes again, whatever the reason, until the limit.
    private mutating func repeatRefused(_ turn: inout Turn) {
        for index in kept.successors.indices {
            guard case .refused(let retryAt) = kept.successors[index].state else { continue }
            let key = kept.successors[index].key
            guard retryAt <= turn.now, self[sendingFor: key].inFlight == nil else {
                if retryAt > turn.now { reissueLook = min(reissueLook ?? retryAt, retryAt) }
                continue
            }
            if let obstacle = reissueObstacle(turn) {
                let next = obstacle.until ?? turn.now.advanced(bySeconds: turn.tuning.reissue.retrySeconds)
                kept.successors[index].state = .refused(retryAt: next)
                reissueLook = min(reissueLook ?? next, next)
                withholdReissue([key], obstacle, &turn)
                continue
            }
            kept.successors[index].state = .starting
            kept.successors[index].claimedAt = turn.now
            sendSuccessor(key, "tried again", &turn)
        }
    }

    /// R2: only when every start of a portion is accepted do its old cards make way.
    private mutating func finishPortions(_ turn: inout Turn) {
        for portion in Set(kept.successors.map(\.portion)).sorted() {
            let mates = kept.successors.filter { $0.portion == portion }
            guard mates.allSatisfy({ $0.state == .accepted }) else { continue }
            for mate in mates { makeWay(mate.key, .r2, "its successor is accepted", &turn) }
        }
    }

    // MARK: - Making way

    /// The successor is the card from now on, and the old one is ended at once, its token forgotten. Where the successor
    /// stands nowhere the card is an ordinary one again.
    /// - Parameter isGone: the old one is over already.
    mutating func makeWay(
        _ key: CardKey, _ rule: Rule, _ why: String, isGone: Bool = false, _ turn: inout Turn
    ) {
        guard let index = cardIndex(key), let place = successorIndex(key) else { return }
        let next = kept.successors.remove(at: place)
        turn.saveFirst()
        guard next.mayStand else {
            kept.cards[index].state = .confirmed
            return
        }
        let old = kept.cards[index]
        var card = Card(key: key, state: .believed, startedBy: .push)
        if next.state == .starting { card.state = .starting }
        if next.updateAddress != nil { card.state = .confirmed }
        card.claimedAt = next.claimedAt
        card.ageBegan = next.ageBegan
        card.activity = next.activity
        card.updateAddress = next.updateAddress
        card.tokenReportedAt = next.tokenReportedAt
        card.front = old.front
        if let activity = old.activity {
            if let address = old.updateAddress, !isGone, !isExpired(old, turn) {
                oweOldEnd(
                    activity, address, key: key, ageBegan: old.ageBegan ?? turn.now, of: old, rule: rule, &turn)
            } else {
                rememberEnded(activity)
            }
        }
        kept.cards[index] = card
        plans.removeAll { $0.key == key }
        var sending = self[sendingFor: key]
        sending.accepted = sending.successorShown
        sending.successorShown = nil
        sending.urgentAt = []
        sending.holdUntil = nil
        sending.slowSeconds = nil
        sending.endRetryAt = nil
        // A push to the old card says nothing about the new one.
        if sending.inFlight?.event != .start { sending.inFlight = nil }
        self[sendingFor: key] = sending
        turn.note(.reissue, key, rule, why)
    }

    /// The card is gone. Its successor, if one may stand, is the card now.
    mutating func lose(_ key: CardKey, _ rule: Rule, _ why: String, _ turn: inout Turn) {
        if card(key)?.state == .replacing, let place = successorIndex(key), kept.successors[place].mayStand {
            makeWay(key, rule, why, isGone: true, &turn)
        } else {
            drop(key)
        }
    }

    // MARK: - The limit

    /// L8: one minute before the limit a card without a successor is ended, R3: one with a successor of which nothing
    /// certain is known makes way.
    mutating func endAtLimit(_ card: Card, _ plan: LifePlan, _ turn: inout Turn) {
        switch card.state {
        // One that never sent its token has nowhere to send an end to; a token that comes yet is decided upon then.
        case .starting, .believed, .ending: return
        case .confirmed:
            let follows = mayBeReissued(card)
            owe(card.key, .l8, "it would reach its limit without a successor", &turn)
            if follows { deferSuccessor(card.key, plan, nil, &turn) }
        case .replacing:
            guard let place = successorIndex(card.key) else { return }
            switch kept.successors[place].state {
            case .starting: return
            case .accepted, .unknown: makeWay(card.key, .r3, "its limit has come", &turn)
            case .refused(let retryAt):
                owe(card.key, .l8, "it would reach its limit without a successor", &turn)
                deferSuccessor(card.key, plan, retryAt, &turn)
            }
        }
    }

    /// Section 2: a start withheld by what may pass is decided again when that is over, if the session still runs. R5:
    /// so is the successor of a card that ended in quiet hours. For a slate the games eligible then count as added.
    private mutating func deferSuccessor(
        _ key: CardKey, _ plan: LifePlan, _ retryAt: WallTime?, _ turn: inout Turn
    ) {
        let rule: Rule
        var until: WallTime?
        if plan.reissueAt == nil {
            rule = .s5
            until = isQuiet(turn) ? quiet?.to : nil
        } else if let retryAt {
            guard retryAt != .distantFuture else { return }
            (rule, until) = (.r3, retryAt)
        } else {
            rule = plan.withheld ?? .r1
        }
        guard rule != .s6, rule != .s7 else { return }
        if key == .slate {
            kept.deferred = DeferredStart(games: kept.members, rule: rule, until: until)
        } else if let index = memberIndex(key) {
            kept.sessions[index].pending = PendingStart(rule: rule, until: until, isSuccessor: true)
        }
        turn.saveLater()
        turn.note(
            .withheld, key, rule, "the successor of a card that ended at its limit",
            changesWhen: rule == .s5 ? "quiet hours are over" : "what withheld it is over")
    }

    // MARK: - Verdicts

    /// L2, R3: what became of a successor's start.
    mutating func settleSuccessor(
        _ place: Int, _ push: Sending.InFlight, _ verdict: Verdict, _ turn: inout Turn
    ) {
        let key = kept.successors[place].key
        turn.saveLater()
        switch verdict {
        case .accepted:
            kept.ledger[key].accepted += 1
            kept.ledger[key].lastAcceptedAt = turn.now
            startSlowSeconds = nil
            if kept.successors[place].activity == nil { kept.ledger.hasSignOfLife = false }
            kept.successors[place].ageBegan = min(kept.successors[place].ageBegan ?? turn.now, turn.now)
            kept.successors[place].state = .accepted
            self[sendingFor: key].successorShown = push.shown
            recordGateway(of: push)
        case .unknown:
            guard kept.successors[place].state == .starting else { return }  // acknowledged before
            kept.successors[place].state = .unknown
            kept.successors[place].ageBegan = kept.successors[place].claimedAt
        case .notSent, .refused:
            guard kept.successors[place].state == .starting else { return }
            if case .refused(let refusal) = verdict {
                if refusal.nextStep == .tryOtherGateway, !push.triedOtherGateway, isHeld(push.address) {
                    tryOtherGateway(key, push, &turn)
                    return
                }
                _ = holdOfRefusedStart(push, refusal, &turn)
            }
            giveBackSpend(key, isReissue: true)
            let retryAt = turn.now.advanced(bySeconds: turn.tuning.reissue.retrySeconds)
            kept.successors[place].state = .refused(retryAt: retryAt)
            turn.note(
                .withheld, key, .r3, "the reissue failed: \(verdict.words)",
                changesWhen: "it is tried again in a minute")
        }
    }

    // MARK: - What the phone says

    /// An update token while a card is being replaced: of its successor, unless it is of the card itself.
    /// - Returns: `false` when the token belongs to the card, or to a third activity, which then is the newest (L3).
    mutating func takeSuccessorToken(_ token: CardToken, _ turn: inout Turn) -> Bool {
        guard let card = card(token.key), card.state == .replacing, card.activity != token.activity,
            let place = successorIndex(token.key)
        else { return false }
        var next = kept.successors[place]
        if let known = next.activity, known != token.activity {
            makeWay(token.key, .l3, "a newer activity stands under this key", &turn)
            return false
        }
        if next.activity == nil { acknowledge(token.key, startedBy: token.startedBy) }
        next.state = .accepted
        next.activity = token.activity
        next.updateAddress = token.address
        next.tokenReportedAt = turn.now
        next.ageBegan = next.ageBegan ?? min(token.began ?? turn.now, turn.now)
        kept.successors[place] = next
        turn.note(.token, token.key, .r3, "the successor is acknowledged")
        return true
    }

    /// A report about a card that is being replaced, or about its successor.
    /// - Returns: `false` when it is an ordinary report.
    mutating func takeSuccessorReport(_ report: CardReport, isOlder: Bool, _ turn: inout Turn) -> Bool {
        guard let card = card(report.key), card.state == .replacing, let place = successorIndex(report.key) else {
            return false
        }
        let isOver = report.kind == .ended || report.kind == .dismissed
        if report.activity == card.activity {
            guard isOver else { return true }
            if report.kind == .dismissed { kept.ledger[report.key].isDismissed = true }
            lose(report.key, .l5, "the app reported the old card over", &turn)
            if report.kind == .dismissed { owe(report.key, .s9, "its owner dismissed it", &turn) }
            return true
        }
        guard !isOlder, kept.successors[place].activity ?? report.activity == report.activity else { return false }
        if kept.successors[place].activity == nil {
            acknowledge(report.key, startedBy: .push)
            kept.successors[place].activity = report.activity
            kept.successors[place].state = .accepted
            kept.successors[place].ageBegan = kept.successors[place].ageBegan ?? kept.successors[place].claimedAt
        }
        if isOver {
            // No other follows: the old card stands until its own limit.
            rememberEnded(report.activity)
            kept.successors[place].state = .refused(retryAt: .distantFuture)
            kept.successors[place].activity = nil
            kept.successors[place].updateAddress = nil
            if report.kind == .dismissed { kept.ledger[report.key].isDismissed = true }
        }
        return true
    }
}
