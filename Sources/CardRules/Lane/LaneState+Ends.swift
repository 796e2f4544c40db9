extension LaneState {
    /// E1, U5: a slate card for which nothing qualifies any more is ended. L8: so is a card about to reach its limit.
    mutating func owePassedEnds(_ turn: inout Turn) {
        for card in kept.cards where card.state != .ending {
            if card.key == .slate, kept.members.isEmpty, !isBeingHandedOver {
                owe(card.key, .e1, "nothing qualifies any more", &turn)
            } else if let plan = plans.first(where: { $0.key == card.key }), turn.now >= plan.endAt {
                endAtLimit(card, plan, &turn)
            }
        }
    }

    /// An end is owed from now on: durable, whatever happens to its push (L1).
    mutating func owe(_ key: CardKey, _ rule: Rule, _ why: String, _ turn: inout Turn) {
        if card(key)?.state == .replacing { makeWay(key, rule, "the card before it is ended too", &turn) }
        guard let index = cardIndex(key), kept.cards[index].state != .ending else { return }
        let shown = self[sendingFor: key].inFlight?.shown ?? self[sendingFor: key].accepted
        let games = shown?.games.map(\.id) ?? []
        kept.cards[index].finalGames = games.isEmpty ? kept.cards[index].front.map { [$0.game] } ?? [] : games
        kept.cards[index].state = .ending
        self[sendingFor: key].endRetryAt = nil
        turn.saveFirst()
        turn.note(.end, key, rule, why)
    }

    /// Sends an owed end as soon as there is an address for it (E2), again every minute until it is accepted.
    mutating func sendEnd(_ key: CardKey, _ turn: inout Turn) {
        guard let card = card(key), card.state == .ending, let address = card.updateAddress else { return }
        let sending = self[sendingFor: key]
        guard !isBeingHandedOver, !isExpired(card, turn), sending.inFlight == nil,
            (sending.endRetryAt ?? turn.now) <= turn.now
        else {
            return
        }
        send(endKind(turn), key, to: address, priority: .immediate, &turn)
    }

    /// Of an activity that another has replaced: at once, however long other ends linger (L3, R2).
    private func oldEndKind(_ turn: Turn) -> PushOrder.Kind { .end(dismissalDate: turn.now.unixSeconds) }

    private func endKind(_ turn: Turn) -> PushOrder.Kind {
        .end(dismissalDate: turn.now.advanced(bySeconds: turn.tuning.ends.lingerSeconds).unixSeconds)
    }

    /// When the end of a card may be tried again, or the card's life asks for a look.
    func considerLife(of card: Card, _ turn: Turn, _ consider: (WallTime?) -> Void) {
        guard let age = card.ageBegan else {
            // Claimed, not answered: the pool answers every push; the limit is the last resort.
            consider(card.claimedAt?.advanced(bySeconds: turn.tuning.life.limitSeconds))
            return
        }
        let life = turn.tuning.life
        consider(age.advanced(bySeconds: life.limitSeconds))
        let endAt = plans.first { $0.key == card.key }?.endAt
        switch card.state {
        case .starting: break
        case .believed:
            if card.awaitsAcknowledgement { consider(age.advanced(bySeconds: life.acknowledgeSeconds)) }
        case .confirmed: consider(endAt)
        case .replacing:
            // While its successor's start is under way the verdict is what comes next.
            if let place = successorIndex(card.key), kept.successors[place].state != .starting { consider(endAt) }
        case .ending:
            if card.updateAddress != nil, self[sendingFor: card.key].inFlight == nil {
                consider(self[sendingFor: card.key].endRetryAt)
            }
        }
    }

    // MARK: - Life

    /// When iOS ends the card by itself (L7).
    func limit(of card: Card, _ tuning: Tuning, else fallback: WallTime) -> WallTime {
        (card.ageBegan ?? card.claimedAt ?? fallback).advanced(bySeconds: tuning.life.limitSeconds)
    }

    /// L7: nothing is ever sent to an expired card.
    func isExpired(_ card: Card, _ turn: Turn) -> Bool {
        turn.now >= limit(of: card, turn.tuning, else: turn.now)
    }

    /// L7: expired cards are absent, also those whose end is still owed (E2). L9: says which were never adopted.
    mutating func expireCards(_ turn: inout Turn) {
        for card in kept.cards {
            if isExpired(card, turn) {
                lose(card.key, .l7, "the card reached its limit", &turn)
                turn.saveLater()
                turn.note(.end, card.key, .l7, "the card reached its limit")
            } else if card.awaitsAcknowledgement, let age = card.ageBegan,
                turn.now.seconds(since: age) >= turn.tuning.life.acknowledgeSeconds,
                let index = cardIndex(card.key)
            {
                kept.cards[index].isNeverAdopted = true
                turn.saveLater()
                if wasAccepted(card) {
                    turn.note(.start, card.key, .l9, "accepted, never adopted")
                } else {
                    turn.note(.start, card.key, .l2, "its verdict is unknown, and the app has not reported the card")
                }
            }
        }
        let expired = kept.owedEnds.filter { turn.now >= $0.limit }
        if !expired.isEmpty {
            kept.owedEnds.removeAll { turn.now >= $0.limit }
            oldEnds.removeAll { old in expired.contains { $0.activity == old.activity } }
            // What the app tells of them later is not about the card that stands.
            for owed in expired { rememberEnded(owed.activity) }
            turn.saveLater()
        }
    }

    /// APNs took the start of this card.
    private func wasAccepted(_ card: Card) -> Bool {
        guard let accepted = kept.ledger[card.key].lastAcceptedAt, let claimed = card.claimedAt else { return false }
        return accepted >= claimed
    }

    // MARK: - Older activities under a key (L3)

    mutating func oweOldEnd(
        _ activity: ActivityID, _ address: PushAddress, key: CardKey, ageBegan: WallTime, of card: Card,
        rule: Rule = .l3, _ turn: inout Turn
    ) {
        let shown = self[sendingFor: key].accepted?.games.map(\.id)
        let games = key == .slate ? shown ?? card.front.map { [$0.game] } ?? kept.members : []
        kept.owedEnds.removeAll { $0.activity == activity }
        oldEnds.removeAll { $0.activity == activity }
        // P5: above whatever this activity was sent, also within the same second.
        oldEnds.append(
            OldEnd(activity: activity, address: address, lastTimestamp: self[sendingFor: key].lastTimestamp))
        kept.owedEnds.append(
            OwedEnd(
                key: key, activity: activity, address: address,
                limit: ageBegan.advanced(bySeconds: turn.tuning.life.limitSeconds),
                games: games))
        kept.owedEnds.removeFirst(max(0, kept.owedEnds.count - LaneRecord.owedEndsKept))
        turn.saveFirst()
        turn.note(rule == .l3 ? .end : .reissue, key, rule, "a newer activity stands under this key")
    }

    /// A later token of an older activity: its end goes there, at once.
    mutating func moveOldEnd(of activity: ActivityID, to address: PushAddress) {
        guard let place = kept.owedEnds.firstIndex(where: { $0.activity == activity }) else { return }
        let owed = kept.owedEnds[place]
        guard owed.address != address else { return }
        kept.owedEnds[place] = OwedEnd(
            key: owed.key, activity: activity, address: address, limit: owed.limit, games: owed.games)
        guard let index = oldEnds.firstIndex(where: { $0.activity == activity }) else { return }
        oldEnds[index].address = address
        oldEnds[index].triedOtherGateway = false
        oldEnds[index].retryAt = nil
    }

    /// Sends every end owed to an older activity, again every minute until it is accepted.
    mutating func sendOldEnds(_ turn: inout Turn) {
        oldEnds.removeAll { old in !kept.owedEnds.contains { $0.activity == old.activity } }
        for owed in kept.owedEnds where !oldEnds.contains(where: { $0.activity == owed.activity }) {
            oldEnds.append(OldEnd(activity: owed.activity, address: owed.address))
        }
        for index in oldEnds.indices {
            var end = oldEnds[index]
            guard end.inFlight == nil, (end.retryAt ?? turn.now) <= turn.now,
                let owed = kept.owedEnds.first(where: { $0.activity == end.activity })
            else { continue }
            let number = nextNumber()
            end.lastTimestamp = nextTimestamp(after: end.lastTimestamp, turn)
            end.inFlight = number
            end.sentTo = end.address
            oldEnds[index] = end
            turn.send(
                PushOrder(
                    number: number, key: owed.key, address: end.address, priority: .immediate,
                    timestamp: end.lastTimestamp, expiration: owed.limit.advanced(bySeconds: 4 * 3600).unixSeconds,
                    relevance: nil,
                    content: finalContent(owed.key, owed.games), kind: oldEndKind(turn),
                    selectionRevision: selectionRevision))
        }
    }
}
