extension LaneState {
    /// Applies one event. Pure. Returns work for the shell, in the order in which it must happen.
    ///
    /// Cost of a tick that concerns none of the lane's games: a few array reads, no allocation.
    public mutating func apply(
        _ event: LaneEvent, at now: WallTime, in surroundings: Surroundings
    ) -> [LaneEffect] {
        if case .tick = event, !isConcerned(by: surroundings.slate, at: now) { return [] }
        var turn = Turn(now: now, surroundings: surroundings)
        followClock(to: now, tuning: turn.tuning)
        rollNight(&turn)
        take(event, &turn)
        settle(&turn)
        nextLook = nextLookTime(turn)
        remember(turn.notes)
        return turn.effects()
    }

    /// `false` when neither a game of this lane nor time changed anything since the last turn.
    private func isConcerned(by slate: SlateSnapshot, at now: WallTime) -> Bool {
        if let nextLook, now >= nextLook { return true }
        if now < lastTurnAt { return true }
        guard watch.roster == slate.roster else { return true }
        for entry in watch.entries where slate.games[Int(entry.slot)].changeVersion > watch.seenChange { return true }
        return false
    }

    /// Per card key, what was decided last.
    private mutating func remember(_ notes: [TimelineEntry]) {
        for note in notes where note.isDecision {
            decisions.removeAll { $0.key == note.key }
            decisions.append(note)
        }
        if decisions.count > Self.decisionsKept { decisions.removeFirst(decisions.count - Self.decisionsKept) }
    }

    private mutating func take(_ event: LaneEvent, _ turn: inout Turn) {
        switch event {
        case .tick, .look: break
        case .registered(let patch): register(patch, &turn)
        case .selected(let games, let pinned, let muted, let syncedAt):
            select(games: games, pinned: pinned, muted: muted, syncedAt: syncedAt, &turn)
        case .cardToken(let token): takeToken(token, &turn)
        case .reported(let report): takeReport(report, &turn)
        case .session(let session, let name): hear(session, as: name, &turn)
        case .removed: remove(&turn)
        case .verdict(let number, let verdict): takeVerdict(number, verdict, &turn)
        case .superseded(let newer, let token): supersede(by: newer, token: token, &turn)
        case .owned(let token, let older, let handover): own(token: token, from: older, handover: handover, &turn)
        case .handoverTaken(let newer): forgetHandover(to: newer, &turn)
        case .madeUpMoment(let game, let kind, let until):
            makeUp(MadeUpMoment(game: game, kind: kind, until: until), &turn)
        case .probe(let gateway): beginProbe(gateway, &turn)
        case .retuned: retune()
        }
    }

    /// Decides again from what is known: who is eligible, what ends, what starts, what is in front, what to send.
    private mutating func settle(_ turn: inout Turn) {
        refreshWatch(turn)
        forgetMadeUpMoment(turn)
        expireCards(&turn)
        considerProbe(&turn)
        guard !isSuperseded else {
            sendOldEnds(&turn)
            eraseIfDone(&turn)
            return
        }
        let added = updateMembers(&turn)
        settleSessions(&turn)
        refreshPlans(turn)
        considerReissues(&turn)
        owePassedEnds(&turn)
        considerStart(added: added, &turn)
        considerSessionStarts(&turn)
        updateFront(.slate, &turn)
        for card in kept.cards {
            sendEnd(card.key, &turn)
            sendUpdate(card.key, &turn)
        }
        sendOldEnds(&turn)
        refreshPlans(turn)
        eraseIfDone(&turn)
    }

    /// S7: this record's claim to the phone is not answered yet, and what the older record knew of its cards not here.
    /// A matter of milliseconds, in which nothing is sent to them.
    var isBeingHandedOver: Bool { kept.pushToStart?.ownership == .claiming }

    var isSuperseded: Bool {
        if case .superseded = kept.pushToStart?.ownership { true } else { false }
    }

    /// The earliest time at which something changes by itself.
    private func nextLookTime(_ turn: Turn) -> WallTime? {
        var next = WallTime.distantFuture
        func consider(_ time: WallTime?) {
            if let time, time < next { next = time }
        }
        for card in kept.cards { considerLife(of: card, turn, consider) }
        for end in oldEnds where end.inFlight == nil { consider(end.retryAt) }
        for owed in kept.owedEnds { consider(owed.limit) }
        consider(probeLook(turn))
        if !isSuperseded {
            consider(deferralLook(turn))
            consider(frontLook)
            consider(madeUp?.liftEnds(turn.tuning))
            consider(reissueLook)
            for member in kept.sessions { consider(pendingLook(member, turn)) }
            for card in kept.cards { consider(updateLook(card.key, turn)) }
        }
        consider(selectionAges(turn))
        guard next != .distantFuture else { return nil }
        // Never at once again: whatever could be done now has been done in this turn.
        return max(next, turn.now.advanced(bySeconds: 0.001))
    }
}
