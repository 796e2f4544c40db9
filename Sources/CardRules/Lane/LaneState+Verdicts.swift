extension LaneState {
    /// Settles one push (L2). A verdict of a push that nobody waits for any more changes nothing.
    mutating func takeVerdict(_ number: PushNumber, _ verdict: Verdict, _ turn: inout Turn) {
        if let index = sending.firstIndex(where: { $0.inFlight?.number == number }),
            let push = sending[index].inFlight
        {
            let key = sending[index].key
            sending[index].inFlight = nil
            if verdict == .accepted { noteConfirmed(push, at: index) }
            if push.event != .update || verdict != .accepted {
                turn.note(.verdict, key, verdict.rule, verdict.words, push: number)
            }
            switch push.event {
            case .start: settleStart(key, push, verdict, &turn)
            case .update: settleUpdate(key, push, verdict, &turn)
            case .end: settleEnd(key, push, verdict, &turn)
            }
        } else if let index = oldEnds.firstIndex(where: { $0.inFlight == number }) {
            settleOldEnd(index, verdict, &turn)
        } else if let index = orphans.firstIndex(where: { $0.number == number }) {
            settleOrphan(orphans.remove(at: index), verdict, &turn)
        } else {
            _ = settleProbe(number, verdict, &turn)
        }
    }

    /// G8: from now on pushes to this address may share a connection with confirmed ones.
    private mutating func noteConfirmed(_ push: Sending.InFlight, at index: Int) {
        if push.event == .start { confirmedStart = push.address } else { sending[index].confirmed = push.address }
    }

    // MARK: - Starts

    private mutating func settleStart(
        _ key: CardKey, _ push: Sending.InFlight, _ verdict: Verdict, _ turn: inout Turn
    ) {
        guard let index = cardIndex(key) else { return }
        if push.isReissue, kept.cards[index].state == .replacing, let place = successorIndex(key) {
            settleSuccessor(place, push, verdict, &turn)
            return
        }
        turn.saveLater()
        let isAppStarted = kept.cards[index].startedBy == .app
        switch verdict {
        case .accepted:
            kept.ledger[key].accepted += 1
            startSlowSeconds = nil
            kept.ledger[key].lastAcceptedAt = turn.now
            if kept.cards[index].activity == nil { kept.ledger.hasSignOfLife = false }  // S14: silent since this start
            kept.cards[index].ageBegan = min(kept.cards[index].ageBegan ?? turn.now, turn.now)
            if kept.cards[index].state == .starting { kept.cards[index].state = .believed }
            if !isAppStarted { self[sendingFor: key].accepted = push.shown }
            recordGateway(of: push)
        case .unknown:
            // It may be on the phone: believed, spent, not repeated. No earlier evidence than the claim.
            if kept.cards[index].state == .starting { kept.cards[index].state = .believed }
            kept.cards[index].ageBegan = kept.cards[index].ageBegan ?? kept.cards[index].claimedAt
        case .notSent, .refused:
            if kept.cards[index].activity != nil {
                // The app says that a card stands: its own, if not this start's.
                if isAppStarted {
                    giveBackSpend(key, isReissue: push.isReissue)
                    kept.cards[index].claimedAt = nil  // nothing of it stands
                }
                return
            }
            if case .refused(let refusal) = verdict {
                refuseStart(key, push, refusal, &turn)
                return
            }
            let wasWanted = kept.cards[index].state == .starting
            giveBack(key, isReissue: push.isReissue)
            guard wasWanted else { return }
            // A4: one discarded for a newer selection is decided again by that.
            let isStale = !isCurrent(push.order)
            let until = turn.now.advanced(bySeconds: turn.tuning.updates.dirtySeconds)
            deferStart(key, .l2, until: isStale ? nil : until, isSuccessor: push.isReissue, "not sent", &turn)
        }
    }

    /// L2, S10: its card is gone, but what became of it counts.
    private mutating func settleOrphan(_ start: OrphanStart, _ verdict: Verdict, _ turn: inout Turn) {
        turn.note(.verdict, start.key, verdict.rule, verdict.words, push: start.number)
        turn.saveLater()
        switch verdict {
        case .accepted:
            kept.ledger[start.key].accepted += 1
            kept.ledger[start.key].lastAcceptedAt = turn.now
        case .refused, .notSent:
            if start.night == kept.ledger.from { giveBackSpend(start.key, isReissue: start.isReissue) }
        case .unknown: break
        }
    }

    private mutating func refuseStart(
        _ key: CardKey, _ push: Sending.InFlight, _ refusal: Refusal, _ turn: inout Turn
    ) {
        let wasWanted = card(key)?.state == .starting
        // A refusal says nothing about a token that the app has reported since.
        if refusal.reason.nextStep == .tryOtherGateway, !push.triedOtherGateway, wasWanted, isHeld(push.address) {
            tryOtherGateway(key, push, &turn)
            return
        }
        giveBack(key, isReissue: push.isReissue)
        guard let hold = holdOfRefusedStart(push, refusal, &turn), wasWanted else { return }
        deferStart(
            key, hold.rule, until: hold.seconds.map { turn.now.advanced(bySeconds: $0) }, isSuccessor: push.isReissue,
            "refused: \(refusal.reason.word)", &turn)
    }

    /// The push-to-start token held is the one that a push went to.
    func isHeld(_ address: PushAddress) -> Bool { kept.pushToStart?.address?.token == address.token }

    /// What a refused start means for the token, and how long starts wait for it: `seconds` is `nil` where only a fresh
    /// token helps. `nil`: nothing is known to be wrong.
    mutating func holdOfRefusedStart(
        _ push: Sending.InFlight, _ refusal: Refusal, _ turn: inout Turn
    ) -> (rule: Rule, seconds: Double?)? {
        let isSameToken = isHeld(push.address)
        let gateway = turn.tuning.gateway
        switch refusal.reason.nextStep {
        case .tryOtherGateway where !isSameToken, .forgetAddress where !isSameToken, .holdToken where !isSameToken:
            return (.s2, nil)
        case .tryOtherGateway where !push.triedOtherGateway: return nil  // not wanted any more, and not known to be dead
        case .tryOtherGateway:
            forgetPushToStart(push.address, .g2, &turn)
            return (.s2, nil)
        case .forgetAddress where isDead(kept.pushToStart?.reportedAt, refusal, push):
            forgetPushToStart(push.address, .g3, &turn)
            return (.s2, nil)
        case .forgetAddress: return (.g3, turn.tuning.updates.dirtySeconds)
        case .holdToken:
            startSlowSeconds = min(startSlowSeconds.map { $0 * 2 } ?? gateway.slowSeconds, gateway.slowMaxSeconds)
            return (.g5, startSlowSeconds)
        case .holdGateway: return (.g5, gateway.serverErrorSeconds)
        case .reconnect: return (.g4, turn.tuning.updates.dirtySeconds)
        case .reportToOperator: return (.g3, gateway.probeSeconds)
        }
    }

    /// L2: the spend is given back, the card is absent. The ordinal is not used again.
    private mutating func giveBack(_ key: CardKey, isReissue: Bool) {
        giveBackSpend(key, isReissue: isReissue)
        drop(key)
    }

    mutating func giveBackSpend(_ key: CardKey, isReissue: Bool) {
        if isReissue {
            kept.ledger[key].reissued = max(0, kept.ledger[key].reissued - 1)
        } else {
            kept.ledger[key].sent = max(0, kept.ledger[key].sent - 1)
        }
    }

    /// G2: once, at the other gateway, on the same claim.
    mutating func tryOtherGateway(_ key: CardKey, _ push: Sending.InFlight, _ turn: inout Turn) {
        guard let card = card(key), !isExpired(card, turn) else { return }  // L7
        send(
            push.order.kind, key, to: push.address.flipped, priority: push.order.priority, isReissue: push.isReissue,
            &turn)
        self[sendingFor: key].inFlight?.triedOtherGateway = true
    }

    /// G2: what accepted a flipped address is its gateway, recorded with the token in one write.
    mutating func recordGateway(of push: Sending.InFlight) {
        guard push.triedOtherGateway else { return }
        if kept.pushToStart?.address?.token == push.address.token { kept.pushToStart?.address = push.address }
        for index in kept.cards.indices where kept.cards[index].updateAddress?.token == push.address.token {
            kept.cards[index].updateAddress = push.address
        }
    }

    /// G3: exactly the token that was refused, and no other.
    private mutating func forgetPushToStart(_ address: PushAddress, _ rule: Rule, _ turn: inout Turn) {
        guard kept.pushToStart?.address?.token == address.token else { return }
        kept.pushToStart?.address = nil
        turn.note(.token, nil, rule, "the push-to-start token is dead")
    }

    /// G3, ref R2: dead, unless the app reported the same token later than APNs knew.
    private func isDead(_ reportedAt: WallTime?, _ refusal: Refusal, _ push: Sending.InFlight) -> Bool {
        guard let reportedAt else { return true }
        return refusal.deadSince.map { $0 > reportedAt } ?? (reportedAt <= push.queuedAt)
    }

    // MARK: - Updates

    private mutating func settleUpdate(
        _ key: CardKey, _ push: Sending.InFlight, _ verdict: Verdict, _ turn: inout Turn
    ) {
        guard let card = card(key) else { return }
        switch verdict {
        case .accepted:
            // Where the app has replaced the token meanwhile, nobody knows whether the phone shows it.
            let isCurrent = card.updateAddress?.token == push.address.token
            self[sendingFor: key].accepted = isCurrent ? push.shown : nil
            self[sendingFor: key].holdUntil = nil
            self[sendingFor: key].slowSeconds = nil
            if push.triedOtherGateway {
                recordGateway(of: push)
                turn.saveLater()
            }
        case .unknown:
            self[sendingFor: key].accepted = nil  // the phone shows this or the one before
            hold(key, forSeconds: turn.tuning.updates.dirtySeconds, turn)
        case .notSent:
            // A4: one discarded for a newer selection makes room for what that asks for.
            guard isCurrent(push.order) else { return }
            hold(key, forSeconds: turn.tuning.updates.dirtySeconds, turn)
        case .refused(let refusal):
            guard let seconds = holdSeconds(key, push, refusal, of: card, &turn) else { return }
            hold(key, forSeconds: seconds, turn)
        }
    }

    /// U6: the card stays dirty against what was last accepted; the latest content goes when the hold is over.
    private mutating func hold(_ key: CardKey, forSeconds seconds: Double, _ turn: Turn) {
        self[sendingFor: key].holdUntil = turn.now.advanced(bySeconds: seconds)
    }

    /// How long a card waits after a refusal; `nil` when it is gone, the push is under way again, or nothing holds it.
    private mutating func holdSeconds(
        _ key: CardKey, _ push: Sending.InFlight, _ refusal: Refusal, of card: Card, _ turn: inout Turn
    ) -> Double? {
        let isSameToken = card.updateAddress?.token == push.address.token
        switch refusal.reason.nextStep {
        case .tryOtherGateway where !isSameToken, .forgetAddress where !isSameToken, .holdToken where !isSameToken:
            return nil  // it says nothing about the token that the app has reported since
        case .tryOtherGateway where !push.triedOtherGateway:
            tryOtherGateway(key, push, &turn)
            return nil
        case .tryOtherGateway, .forgetAddress:
            let isGone = refusal.reason.nextStep == .tryOtherGateway || isDead(card.tokenReportedAt, refusal, push)
            guard isGone else { return turn.tuning.updates.dirtySeconds }
            if card.state != .ending, let activity = card.activity { kept.ledger.noteGone(activity) }
            lose(key, .l6, "the update token of the old card is dead", &turn)
            turn.saveLater()
            turn.note(
                .end, key, .l6, "the update token is dead: the card is gone", changesWhen: "another game is added")
            return nil
        case .holdToken:
            let seconds = self[sendingFor: key].slowSeconds.map { min($0 * 2, turn.tuning.gateway.slowMaxSeconds) }
            self[sendingFor: key].slowSeconds = seconds ?? turn.tuning.gateway.slowSeconds
            return self[sendingFor: key].slowSeconds
        case .holdGateway: return turn.tuning.gateway.serverErrorSeconds
        case .reconnect: return turn.tuning.updates.dirtySeconds
        case .reportToOperator: return max(turn.tuning.updates.dirtySeconds, turn.tuning.gateway.probeSeconds)
        }
    }

    // MARK: - Ends

    private mutating func settleEnd(
        _ key: CardKey, _ push: Sending.InFlight, _ verdict: Verdict, _ turn: inout Turn
    ) {
        guard let card = card(key) else { return }
        switch verdict {
        case .accepted where card.updateAddress?.token != push.address.token:
            // It went to a token that the app has replaced meanwhile, and is owed to the new one.
            self[sendingFor: key].endRetryAt = nil
            return
        case .accepted:
            drop(key)
            turn.saveLater()
            return
        case .refused(let refusal):
            // G5: ends try again every minute whatever the reason, their limit is nearer.
            if holdSeconds(key, push, refusal, of: card, &turn) == nil { return }
        case .notSent, .unknown: break
        }
        self[sendingFor: key].endRetryAt = turn.now.advanced(bySeconds: turn.tuning.reissue.retrySeconds)
    }

    private mutating func settleOldEnd(_ index: Int, _ verdict: Verdict, _ turn: inout Turn) {
        oldEnds[index].inFlight = nil
        let activity = oldEnds[index].activity
        turn.note(.verdict, nil, verdict.rule, verdict.words)
        if let sentTo = oldEnds[index].sentTo, sentTo.token != oldEnds[index].address.token {
            oldEnds[index].retryAt = nil  // it says nothing about the token that the app has reported since
            return
        }
        var isDone = verdict == .accepted
        if case .refused(let refusal) = verdict {
            switch refusal.reason.nextStep {
            case .tryOtherGateway where !oldEnds[index].triedOtherGateway:
                oldEnds[index].triedOtherGateway = true
                oldEnds[index].address = oldEnds[index].address.flipped
                return
            case .tryOtherGateway, .forgetAddress: isDone = true
            case .holdToken, .holdGateway, .reconnect, .reportToOperator: break
            }
        }
        guard isDone else {
            oldEnds[index].retryAt = turn.now.advanced(bySeconds: turn.tuning.reissue.retrySeconds)
            return
        }
        kept.owedEnds.removeAll { $0.activity == activity }
        rememberEnded(activity)
        turn.saveLater()
    }
}

extension Verdict {
    var rule: Rule {
        if case .refused = self { .g3 } else { .l2 }
    }

    /// For the timeline.
    public var words: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let refusal): "refused: \(refusal.reason.word)"
        case .notSent: "not sent"
        case .unknown: "unknown"
        }
    }
}
