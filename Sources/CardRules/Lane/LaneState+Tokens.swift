extension LaneState {
    /// An update token: confirms the card, replaces its address, adopts one that the server did not start, or ends
    /// the older of two (L3, L4).
    mutating func takeToken(_ token: CardToken, _ turn: inout Turn) {
        if case .superseded(let newer, _) = kept.pushToStart?.ownership {
            turn.answer(.forward(.cardToken(token), to: newer))
            return
        }
        signOfLife(turn.tuning)
        turn.saveFirst()
        guard !kept.endedActivities.contains(token.activity) else {
            turn.note(.token, token.key, .l3, "a token of an activity known to have ended: ignored")
            return
        }
        if kept.owedEnds.contains(where: { $0.activity == token.activity }) {
            moveOldEnd(of: token.activity, to: token.address)
            turn.note(.token, token.key, .l3, "an older activity under this key reported again: its end is owed")
            return
        }
        if takeProbeToken(token, &turn) { return }
        if takeSuccessorToken(token, &turn) { return }
        guard let index = cardIndex(token.key) else {
            adopt(token, &turn)
            return
        }
        var card = kept.cards[index]
        if card.activity == token.activity, let held = card.updateAddress {
            card.updateAddress = token.address
            card.tokenReportedAt = turn.now
            kept.cards[index] = card
            turn.note(.token, token.key, .l4, "a later update token")
            if held != token.address { forgiveAddress(token.key) }
            if held.token != token.address.token { distrustLastPush(token.key, turn) }
            return
        }
        if let activity = card.activity, activity != token.activity {
            let began = token.began ?? turn.now
            if let age = card.ageBegan, began < age {
                oweOldEnd(token.activity, token.address, key: token.key, ageBegan: began, of: card, &turn)
                turn.note(.token, token.key, .l3, "an older activity under this key: to be ended")
                return
            }
            if let address = card.updateAddress {
                oweOldEnd(activity, address, key: token.key, ageBegan: card.ageBegan ?? turn.now, of: card, &turn)
            }
            turn.note(.token, token.key, .l3, "a newer activity under this key: the older one is to be ended")
            kept.cards.remove(at: index)
            adopt(token, &turn)
            return
        }
        if card.activity == nil {
            acknowledge(token.key, startedBy: token.startedBy)
        }
        if token.startedBy == .app, card.startedBy == .push { disown(&card) }
        confirm(&card, with: token, at: turn.now)
        kept.cards[index] = card
        turn.note(.token, token.key, .l4, "the card is confirmed")
    }

    /// The activity is the app's own, not what our start became: what that start carried the phone does not show, its age
    /// is not this activity's (L4), and it proves nothing.
    private mutating func disown(_ card: inout Card) {
        if card.activity != nil { kept.ledger[card.key].acknowledged = max(0, kept.ledger[card.key].acknowledged - 1) }
        card.startedBy = .app
        card.ageBegan = nil
        self[sendingFor: card.key].accepted = nil
    }

    private mutating func confirm(_ card: inout Card, with token: CardToken, at now: WallTime) {
        if card.state != .ending { card.state = .confirmed }
        card.activity = token.activity
        card.updateAddress = token.address
        card.tokenReportedAt = now
        card.ageBegan = card.ageBegan ?? min(token.began ?? now, now)
    }

    /// L3: the app started it, or a start that was given up became a card after all.
    private mutating func adopt(_ token: CardToken, _ turn: inout Turn) {
        var card = Card(key: token.key, state: .confirmed, startedBy: token.startedBy)
        confirm(&card, with: token, at: turn.now)
        kept.cards.append(card)
        forgetSending(token.key)
        acknowledge(token.key, startedBy: token.startedBy)
        turn.note(.token, token.key, .l3, "a card that the server did not start is adopted")
        if kept.isRemoved || kept.settings.user == nil { owe(token.key, .s1, "nobody is signed in", &turn) }
    }

    /// A start became a card (section 0: acknowledgement). A card that the app started proves nothing about starts.
    mutating func acknowledge(_ key: CardKey, startedBy: Card.StartedBy) {
        guard startedBy == .push, kept.ledger[key].acknowledged < kept.ledger[key].sent + kept.ledger[key].reissued
        else { return }
        kept.ledger[key].acknowledged += 1
    }

    /// A fresh address owes nothing to the troubles of the old one.
    private mutating func forgiveAddress(_ key: CardKey) {
        self[sendingFor: key].holdUntil = nil
        self[sendingFor: key].slowSeconds = nil
        self[sendingFor: key].endRetryAt = nil
    }

    /// What went to the old token a short while ago may have come to nothing: APNs accepts pushes to a token that has
    /// been replaced (ref I16). One update carries the latest (U6).
    private mutating func distrustLastPush(_ key: CardKey, _ turn: Turn) {
        guard let sent = self[sendingFor: key].lastSentAt else { return }
        if turn.now.seconds(since: sent) < turn.tuning.updates.dirtySeconds { self[sendingFor: key].accepted = nil }
    }

    /// What the app says became of a card (L5, S9, S14).
    mutating func takeReport(_ report: CardReport, _ turn: inout Turn) {
        if case .superseded(let newer, _) = kept.pushToStart?.ownership {
            turn.answer(.forward(.reported(report), to: newer))
            return
        }
        signOfLife(turn.tuning)
        turn.saveFirst()
        if takeProbeReport(report, &turn) { return }
        let isOver = report.kind == .ended || report.kind == .dismissed
        turn.note(
            .report, report.key, isOver ? .l5 : .s14, "the app reported the card \(report.kind.rawValue)",
            changesWhen: isOver ? (report.kind == .dismissed ? nextNight(report.key) : "another game is added") : nil)
        let card = card(report.key)
        let isOlder =
            kept.endedActivities.contains(report.activity)
            || kept.owedEnds.contains { $0.activity == report.activity }
        if takeSuccessorReport(report, isOlder: isOlder, &turn) { return }
        let concernsCard = card.map { $0.activity == report.activity || $0.activity == nil && !isOlder } ?? false
        if let card, concernsCard, card.activity == nil {
            // The app's own report proves that the start became a card (section 0: acknowledgement).
            acknowledge(report.key, startedBy: card.startedBy)
            if let index = cardIndex(report.key) { kept.cards[index].activity = report.activity }
        }
        guard isOver else { return }
        // An activity that the server ends is dismissed by that, not by its owner.
        let isEnding = card?.state == .ending && card?.updateAddress != nil
        // Of a swipe in an earlier night the app may tell as late as the next evening: that night is over (L5).
        let began = concernsCard ? card.flatMap { $0.ageBegan ?? $0.claimedAt } : nil
        let isTonight = max(min(report.at, turn.now), began ?? .distantPast) >= kept.ledger.from
        // Nobody but its owner can have taken it away before its token was dead (L6).
        let isGone = kept.ledger.gone.contains(report.activity)
        if report.kind == .dismissed, isTonight, concernsCard && !isEnding || (card == nil && !isOlder) || isGone {
            kept.ledger[report.key].isDismissed = true
        }
        kept.ledger.gone.removeAll { $0 == report.activity }
        kept.owedEnds.removeAll { $0.activity == report.activity }
        oldEnds.removeAll { $0.activity == report.activity }
        if concernsCard {
            drop(report.key, activity: report.activity)
        } else {
            rememberEnded(report.activity)
        }
    }

    /// The card is absent from now on.
    mutating func drop(_ key: CardKey, activity: ActivityID? = nil) {
        let unseen = unseenStart(of: key)
        if let activity = activity ?? card(key)?.activity { rememberEnded(activity) }
        kept.cards.removeAll { $0.key == key }
        kept.successors.removeAll { $0.key == key }
        forgetSending(key)
        if let unseen { kept.cards.append(unseen) }
    }

    /// L2: what our start became, where the app's own card stood in its place: it may be on the phone, and is taken to be
    /// until its token comes or its limit.
    private func unseenStart(of key: CardKey) -> Card? {
        guard let own = card(key), own.startedBy == .app, let claimed = own.claimedAt,
            self[sendingFor: key].inFlight?.event != .start
        else { return nil }
        let isWanted = !kept.isRemoved && kept.settings.user != nil
        var card = Card(key: key, state: isWanted ? .believed : .ending, startedBy: .push)
        card.claimedAt = claimed
        card.ageBegan = max(claimed, kept.ledger[key].lastAcceptedAt ?? claimed)
        card.front = own.front
        card.isNeverAdopted = true
        return card
    }

    /// Nobody waits for the card's pushes any more. A start among them still owes its spend (L2); and should its card come
    /// back after all, timestamps go on rising (P5).
    private mutating func forgetSending(_ key: CardKey) {
        guard let index = sending.firstIndex(where: { $0.key == key }) else { return }
        if let push = sending[index].inFlight, push.event == .start {
            orphans.append(
                OrphanStart(number: push.number, key: key, isReissue: push.isReissue, night: kept.ledger.from))
            orphans.removeFirst(max(0, orphans.count - OrphanStart.kept))
        }
        timestampFloor = max(timestampFloor, sending[index].lastTimestamp)
        sending.remove(at: index)
    }

    mutating func rememberEnded(_ activity: ActivityID) {
        kept.endedActivities.remember(activity, atMost: LaneRecord.endedKept)
    }
}
