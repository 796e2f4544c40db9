extension LaneState {
    /// Another record of the same phone reported the token later: it gets everything of tonight (S7).
    mutating func supersede(by newer: DeviceID, token: [UInt8], _ turn: inout Turn) {
        guard newer != kept.device else { return }
        guard kept.pushToStart?.address?.token == token else {
            // Its token is another one by now: it has nothing of the newer record's phone.
            turn.afterSaving(.handOver(nil, of: kept.device, token: token, to: newer))
            return
        }
        if case .superseded(newer, let owed) = kept.pushToStart?.ownership {
            // Asked again, after a lost answer or a restart.
            turn.afterSaving(.handOver(owed, of: kept.device, token: token, to: newer))
            return
        }
        // What waited for its start counts as added when it joins there (S4).
        let waiting = kept.deferred?.games ?? []
        var ledger = kept.ledger
        ledger.joined.removeAll { waiting.contains($0) }
        let handover = Handover(
            ledger: ledger, cards: kept.cards.map(\.withoutPendingStart),
            members: kept.members.filter { !waiting.contains($0) }, endedActivities: kept.endedActivities,
            marks: kept.cards.map { mark(of: $0.key) }, sessions: kept.sessions.map { $0.named(as: kept.device) },
            successors: kept.successors.map(\.withoutPendingStart))
        // While this record is still asking, what it is to be given comes first, and goes on with its own.
        let isAsking = isBeingHandedOver
        // The spend moves: this record may own the phone again tonight, and gets it back then. Ordinals stay.
        kept.ledger.keys = []
        kept.ledger.handedOver.removeAll { $0 == newer }
        kept.pushToStart?.ownership = .superseded(by: newer, owed: handover)
        kept.cards = []
        kept.members = []
        forgetWatch()
        kept.deferred = nil
        kept.sessions = []
        kept.successors = []
        sessions = []
        sending = []
        turn.saveFirst()
        if !isAsking { turn.afterSaving(.handOver(handover, of: kept.device, token: token, to: newer)) }
        turn.note(
            .withheld, .slate, .s7, "another record owns the phone now",
            changesWhen: "the app reports its token here again")
    }

    /// P5: where no push has left since a restart, no timestamp of this lane exceeds its floor.
    private func mark(of key: CardKey) -> SentMark {
        let mark = sending.first { $0.key == key }?.mark
        return SentMark(
            key: key, fingerprint: mark?.fingerprint, front: mark?.front,
            timestamp: max(mark?.timestamp ?? 0, timestampFloor))
    }

    /// This record owns the phone: what the older one handed over is this one's, once.
    mutating func own(token: [UInt8], from older: DeviceID?, handover: Handover?, _ turn: inout Turn) {
        if case .superseded(let newer, .some(var owed)) = kept.pushToStart?.ownership {
            // A third record came in between: it is the one that must know, of both at once.
            if let older, let handover, !kept.ledger.handedOver.contains(older) {
                kept.ledger.handedOver.append(older)
                owed.add(handover, at: turn.now)
                kept.pushToStart?.ownership = .superseded(by: newer, owed: owed)
                turn.afterSaving(.confirmHandover(to: older))
            }
            turn.afterSaving(.handOver(owed, of: kept.device, token: token, to: newer))
            return
        }
        if case .superseded(let newer, _) = kept.pushToStart?.ownership {
            if let older, let handover {
                turn.afterSaving(.handOver(handover, of: older, token: token, to: newer))
            }
            return
        }
        guard kept.pushToStart?.address?.token == token else { return }
        kept.pushToStart?.ownership = .owner
        turn.saveFirst()
        guard let older, let handover else { return }
        turn.afterSaving(.confirmHandover(to: older))
        guard !kept.ledger.handedOver.contains(older) else { return }
        kept.ledger.handedOver.append(older)
        if handover.ledger.to > turn.now { kept.ledger.add(handover.ledger) }
        for activity in handover.endedActivities { rememberEnded(activity) }
        for card in handover.cards {
            receive(card, handover.marks.first { $0.key == card.key }, &turn)
        }
        for card in handover.cards where card.state == .replacing {
            // Where this record's own card stands instead, what was to follow the other has no place.
            let isTaken = kept.cards.contains { $0.key == card.key && $0.state == .replacing }
            kept.successors += handover.successors.filter { isTaken && $0.key == card.key }
        }
        // L5: the app may have told this record already what became of a card that the older one still had.
        for card in kept.cards where card.activity.map({ kept.endedActivities.contains($0) }) == true {
            lose(card.key, .l5, "the app has reported the card over", &turn)
        }
        receive(handover.sessions, &turn)
        kept.members += handover.members.filter { !kept.members.contains($0) }
        if let chosen = kept.selection,
            turn.now.seconds(since: chosen.arrivedAt) < turn.tuning.authority.syncHoldSeconds
        {
            // A4, A2: what the older record decided and did not show yet is older than this choice.
            discardUnseenTakeover(chosen.games)
        }
        forgetWatch()
        turn.note(.sync, nil, .s7, "this record owns the phone now")
    }

    /// The sessions whose cards came along; their content is asked for.
    private mutating func receive(_ members: [SessionMember], _ turn: inout Turn) {
        for member in members {
            if let index = memberIndex(member.key) {
                kept.sessions[index].names += member.names.filter { !kept.sessions[index].names.contains($0) }
            } else {
                kept.sessions.append(member)
            }
        }
        let unknown = kept.sessions.map(\.key).filter { session($0) == nil }
        if !unknown.isEmpty { turn.afterSaving(.askSessions(unknown)) }
    }

    /// Of two cards under one key the newer stands, the older is ended (L3).
    private mutating func receive(_ card: Card, _ mark: SentMark?, _ turn: inout Turn) {
        guard let index = cardIndex(card.key) else {
            kept.cards.append(card)
            if let mark { sending.append(Sending(mark)) }
            return
        }
        let own = kept.cards[index]
        if let activity = card.activity, activity == own.activity {
            // The app has reported the card under this record already: one card, with what the older record knew of it.
            kept.cards[index].startedBy = card.startedBy
            kept.cards[index].claimedAt = card.claimedAt
            kept.cards[index].ageBegan = [own.ageBegan, card.ageBegan].compactMap { $0 }.min()
            kept.cards[index].front = card.front ?? own.front
            if card.state == .ending {
                kept.cards[index].state = .ending
                kept.cards[index].finalGames = card.finalGames
            }
            if let mark { take(mark) }
            return
        }
        let isNewer = (card.ageBegan ?? card.claimedAt ?? turn.now) > (own.ageBegan ?? own.claimedAt ?? turn.now)
        let older = isNewer ? own : card
        if let activity = older.activity, let address = older.updateAddress {
            oweOldEnd(activity, address, key: card.key, ageBegan: older.ageBegan ?? turn.now, of: older, &turn)
        }
        if isNewer {
            sending.removeAll { $0.key == card.key }
            kept.cards[index] = card
            if let mark { sending.append(Sending(mark)) }
        }
    }

    /// What the older record told the card. What this one has told it since, before it was known that both are of one
    /// phone, is newer; timestamps go on from both (P5).
    private mutating func take(_ mark: SentMark) {
        let own = self[sendingFor: mark.key]
        if own.lastSentAt == nil { self[sendingFor: mark.key] = Sending(mark) }
        self[sendingFor: mark.key].lastTimestamp = max(own.lastTimestamp, mark.timestamp)
    }

    mutating func forgetHandover(to newer: DeviceID, _ turn: inout Turn) {
        guard case .superseded(newer, owed: .some) = kept.pushToStart?.ownership else { return }
        kept.pushToStart?.ownership = .superseded(by: newer, owed: nil)
        turn.saveLater()
    }

    /// What a lane has to ask again after a restart: who owns the phone, or whether the newer record has the handover.
    public var pendingOwnership: [LaneEffect] {
        guard let held = kept.pushToStart, let token = held.address?.token else { return [] }
        switch held.ownership {
        case .owner: return []
        case .claiming: return [.claimPhone(token: token)]
        case .superseded(let newer, let owed):
            return owed.map { [.handOver($0, of: kept.device, token: token, to: newer)] } ?? []
        }
    }
}

extension Handover {
    /// What an older record of the same phone gave, on its way through this one.
    fileprivate mutating func add(_ older: Handover, at now: WallTime) {
        if older.ledger.to > now { ledger.add(older.ledger) }
        cards += older.cards
        members += older.members.filter { !members.contains($0) }
        endedActivities += older.endedActivities.filter { !endedActivities.contains($0) }
        marks += older.marks.filter { mark in !marks.contains { $0.key == mark.key } }
        sessions += older.sessions.filter { member in !sessions.contains { $0.key == member.key } }
        successors += older.successors.filter { next in !successors.contains { $0.key == next.key } }
    }
}

extension Sending {
    /// What the next owner must know. With a push under way, what the phone shows is not known.
    fileprivate var mark: SentMark {
        let shown = inFlight == nil ? accepted : nil
        return SentMark(key: key, fingerprint: shown?.fingerprint, front: shown?.front, timestamp: lastTimestamp)
    }

    /// Goes on from a mark: the same content is no news, and nothing in it counts as begun since (P6).
    fileprivate init(_ mark: SentMark) {
        self.init(key: mark.key)
        lastTimestamp = mark.timestamp
        guard let fingerprint = mark.fingerprint else { return }
        accepted = Shown(
            fingerprint: fingerprint,
            games: mark.front.map { [Shown.Game(id: $0, momentsBegun: .max, isFinal: true)] } ?? [], version: .max)
    }
}

extension SessionMember {
    /// For the next owner of the phone, whose record the session does not name.
    fileprivate func named(as device: DeviceID) -> SessionMember {
        var member = self
        if !member.names.contains(device) { member.names.append(device) }
        return member
    }
}

extension Successor {
    /// L2: unknown.
    fileprivate var withoutPendingStart: Successor {
        guard state == .starting else { return self }
        var next = self
        next.state = .unknown
        next.ageBegan = next.ageBegan ?? claimedAt
        return next
    }
}

extension Card {
    /// A start whose verdict will not reach the next owner: taken for alive (L2: unknown).
    fileprivate var withoutPendingStart: Card {
        guard state == .starting else { return self }
        var card = self
        card.state = .believed
        card.ageBegan = card.ageBegan ?? card.claimedAt
        return card
    }
}
