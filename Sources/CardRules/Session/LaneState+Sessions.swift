extension LaneState {
    func memberIndex(_ key: CardKey) -> Int? { kept.sessions.firstIndex { $0.key == key } }

    /// The session of a card; `nil` where this lane does not hold it.
    func session(_ key: CardKey) -> Session? { sessions.first { $0.id == key } }

    /// The session runs, and names this phone.
    func isRunning(_ key: CardKey) -> Bool { kept.sessions.contains { $0.key == key && !$0.isOver } }

    /// A session that names this phone, or named it: opened, changed, stopped, or left by the phone. Whatever comes
    /// twice, or in another order, the newest version counts.
    ///
    /// - Parameter name: the record of this phone that the session names, where that is another one (S7).
    mutating func hear(_ session: Session, as name: DeviceID?, _ turn: inout Turn) {
        if case .superseded(let newer, _) = kept.pushToStart?.ownership {
            turn.answer(.forward(.session(session, as: name ?? kept.device), to: newer))
            return
        }
        guard !kept.isRemoved else { return }
        let index = memberIndex(session.id)
        if let index, session.version < kept.sessions[index].version { return }
        var names = index.map { kept.sessions[$0].names } ?? []
        if let name, !names.contains(name), name != kept.device { names.append(name) }
        let own = [kept.device] + names
        let isOver = !session.isRunning || !session.terms.devices.contains(where: own.contains)
        if let index {
            var member = kept.sessions[index]
            let isOpened = member.isOver && !isOver
            // The version alone needs no commit: after a restart the newest session comes with the lane.
            if member.names != names || member.isOver != isOver { turn.saveFirst() }
            member.version = session.version
            member.names = names
            member.isOver = isOver
            if isOver { member.pending = nil }
            kept.sessions[index] = member
            hold(session)
            if isOpened { open(session, own, &turn) }
        } else if !isOver || card(session.id) != nil {
            kept.sessions.append(
                SessionMember(key: session.id, version: session.version, names: names, isOver: isOver))
            hold(session)
            turn.saveFirst()
            if !isOver { open(session, own, &turn) }
        }
    }

    /// S4: a session was opened for this phone. S15: one that starts its own card gets no start.
    private mutating func open(_ session: Session, _ own: [DeviceID], _ turn: inout Turn) {
        guard let index = memberIndex(session.id) else { return }
        guard session.terms.startedOn.contains(where: own.contains) else {
            kept.sessions[index].pending = PendingStart(rule: .s4)
            return
        }
        kept.ledger.countWithheld(.s15)
        turn.note(
            .withheld, session.id, .s15, "the app starts this card itself", changesWhen: "the app reports its card")
    }

    private mutating func hold(_ session: Session) {
        // Changed and changed back before anything was sent: no news, and no urgency left (U1, P6).
        if let index = sending.firstIndex(where: { $0.key == session.id }),
            sending[index].accepted?.fingerprint == session.fingerprint
        {
            sending[index].accepted?.version = session.version
        }
        if let index = sessions.firstIndex(where: { $0.id == session.id }) {
            sessions[index] = session
        } else {
            sessions.append(session)
        }
    }

    /// E3: a card whose session is over, or that no session of this phone accounts for, is ended. A session that has
    /// nothing on the phone any more is forgotten.
    mutating func settleSessions(_ turn: inout Turn) {
        guard !isBeingHandedOver else { return }
        for card in kept.cards where card.key != .slate && card.state != .ending && !isRunning(card.key) {
            owe(card.key, .e3, "its session is over", &turn)
        }
        guard kept.sessions.contains(where: \.isOver) else { return }
        let left = kept.sessions.filter { member in
            !member.isOver || card(member.key) != nil || kept.owedEnds.contains { $0.key == member.key }
        }
        guard left.count != kept.sessions.count else { return }
        kept.sessions = left
        sessions.removeAll { session in !left.contains { $0.key == session.id } }
        turn.saveLater()
    }

    // MARK: - Starts

    /// Starts what was opened now, or before and could not be started yet (section 2), in that order.
    mutating func considerSessionStarts(_ turn: inout Turn) {
        for index in kept.sessions.indices {
            let member = kept.sessions[index]
            guard let pending = member.pending, !member.isOver, sessions.contains(where: { $0.id == member.key }) else {
                continue
            }
            if pending.isGatewayHold, let until = pending.until, until > turn.now { continue }
            // A successor waits for the end of the card before it, and keeps what it waits for besides.
            if pending.isSuccessor, card(member.key)?.state == .ending { continue }
            if let obstacle = obstacle(to: member.key, isSuccessor: pending.isSuccessor, turn) {
                withhold(index, pending, obstacle, &turn)
            } else {
                kept.sessions[index].pending = nil
                let why = pending.isSuccessor ? "it follows a card that had to end" : "a session was opened"
                start(
                    Card(key: member.key, state: .starting, startedBy: .push), isSuccessor: pending.isSuccessor,
                    pending.isSuccessor ? .r5 : .s4, why, &turn)
            }
        }
    }

    private mutating func withhold(
        _ index: Int, _ pending: PendingStart, _ obstacle: Obstacle, _ turn: inout Turn
    ) {
        if pending.rule != obstacle.rule {
            kept.ledger.countWithheld(obstacle.rule)
            turn.note(
                .withheld, kept.sessions[index].key, obstacle.rule, obstacle.detail,
                changesWhen: obstacle.isDeferrable ? obstacle.changesWhen : "the session is opened anew")
        }
        let next =
            obstacle.isDeferrable
            ? PendingStart(rule: obstacle.rule, until: obstacle.until, isSuccessor: pending.isSuccessor) : nil
        guard next != pending else { return }
        kept.sessions[index].pending = next
        turn.saveLater()
    }

    /// When a session's start may be decided again by time alone.
    func pendingLook(_ member: SessionMember, _ turn: Turn) -> WallTime? {
        guard let until = member.pending?.until, until > turn.now else { return nil }
        return until
    }

    /// The wall clock of the device at the beginning of a session: `22:15` (P3).
    func since(_ session: Session) -> String { zone.hourAndMinute(at: session.terms.startedAt) }
}
