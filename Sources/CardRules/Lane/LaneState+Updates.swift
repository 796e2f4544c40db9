extension LaneState {
    /// Sends what the card should show, if that differs from what it was last told and nothing holds it back (U1-U6).
    mutating func sendUpdate(_ key: CardKey, _ turn: inout Turn) {
        guard let card = card(key), card.takesUpdates, let address = card.updateAddress else { return }
        guard !isBeingHandedOver, !isExpired(card, turn), let plan = updatePlan(card, turn), plan.at <= turn.now else {
            return
        }
        if plan.isUrgent { self[sendingFor: key].urgentAt.append(turn.now) }
        let stale =
            plan.shown.games.contains { turn.slate.game($0.id)?.phase.isUnderWay ?? false }
            ? turn.now.advanced(bySeconds: turn.tuning.updates.staleSeconds).unixSeconds : nil
        send(
            .update(staleDate: stale), key, to: address, priority: plan.isUrgent ? .immediate : .conserving, &turn)
        if plan.isUrgent {
            let why = key == .slate ? "the front changed, a moment began or a game ended" : "the caller asked"
            turn.note(.update, key, .p6, why, push: lastNumber)
        }
    }

    /// When the next update of a card may go.
    func updateLook(_ key: CardKey, _ turn: Turn) -> WallTime? {
        guard let card = card(key), card.takesUpdates, card.updateAddress != nil, !isExpired(card, turn),
            let plan = updatePlan(card, turn), plan.at > turn.now
        else { return nil }
        return plan.at
    }

    private struct UpdatePlan {
        let shown: Shown
        let isUrgent: Bool
        let at: WallTime
    }

    /// `nil` when the card shows what it should (U1), or a push of it is under way (U2).
    private func updatePlan(_ card: Card, _ turn: Turn) -> UpdatePlan? {
        let sending = self[sendingFor: card.key]
        guard sending.inFlight == nil, let shown = shown(by: card, turn) else { return nil }
        guard shown.fingerprint != sending.accepted?.fingerprint else { return nil }
        var isUrgent = sending.accepted.map { urges(card.key, shown, after: $0) } ?? false
        let allowance =
            kept.settings.frequentUpdates
            ? turn.tuning.updates.urgentPerHourFrequent : turn.tuning.updates.urgentPerHour
        if sending.urgentAt.count(where: { turn.now.seconds(since: $0) < 3600 }) >= allowance { isUrgent = false }
        let gap = isUrgent ? turn.tuning.updates.urgentGapSeconds : turn.tuning.updates.gapSeconds
        let at = max(
            sending.lastSentAt?.advanced(bySeconds: gap) ?? .distantPast, sending.holdUntil ?? .distantPast)
        return UpdatePlan(shown: shown, isUrgent: isUrgent, at: at)
    }

    /// P6.
    private func urges(_ key: CardKey, _ shown: Shown, after accepted: Shown) -> Bool {
        if key == .slate { return shown.isUrgent(after: accepted) }
        return session(key).map { $0.urgentVersion > accepted.version } ?? false
    }

    /// What the card should show now, as far as U1 and P6 ask.
    func shown(by card: Card, _ turn: Turn) -> Shown? {
        guard card.key == .slate else { return session(card.key).map(Shown.init) }
        return arrangement(of: card, turn.tuning).flatMap { Shown($0, in: turn.slate) }
    }

    /// What an end of a card shows last.
    /// - Parameter games: of a slate card.
    func finalContent(_ key: CardKey, _ games: [GameID]) -> CardContent {
        if key == .slate { return .slate(SlateArrangement(games: games, spoilerFree: kept.settings.spoilerFree)) }
        return session(key).map { .session(SessionShow(session: $0)) } ?? .nothing
    }

    /// What any other push of a card carries; `nil` where there is nothing to show.
    private func content(of card: Card, _ kind: PushOrder.Kind, isReissue: Bool, _ turn: Turn) -> CardContent? {
        if case .end = kind { return finalContent(card.key, card.finalGames) }
        if card.key == .slate { return arrangement(of: card, turn.tuning).map { .slate($0) } }
        guard let session = session(card.key) else { return nil }
        guard case .start = kind else { return .session(SessionShow(session: session)) }
        return .session(SessionShow(session: session, since: since(session), isSuccessor: isReissue))
    }

    // MARK: - Sending

    /// Builds and sends one push of a card.
    /// - Parameter isReissue: a start that only the hard cap counts (S6).
    mutating func send(
        _ kind: PushOrder.Kind, _ key: CardKey, to address: PushAddress, priority: PushPriority,
        isReissue: Bool = false, _ turn: inout Turn
    ) {
        guard let card = card(key), let content = content(of: card, kind, isReissue: isReissue, turn) else { return }
        var relevance: Double?
        if key == .slate, card.front != nil, kind.isStartOrUpdate {
            relevance = self.relevance(of: card, turn)
        }
        let number = nextNumber()
        let isConfirmed = address == confirmedStart || address == self[sendingFor: key].confirmed
        let timestamp = nextTimestamp(after: self[sendingFor: key].lastTimestamp, turn)
        let order = PushOrder(
            number: number, key: key, address: address, priority: priority, timestamp: timestamp,
            expiration: expiration(of: kind, card, turn), relevance: relevance, content: content, kind: kind,
            selectionRevision: selectionRevision, isConfirmed: isConfirmed, isReissue: isReissue)
        var sending = self[sendingFor: key]
        sending.lastTimestamp = timestamp
        sending.lastSentAt = turn.now
        sending.urgentAt.removeAll { turn.now.seconds(since: $0) >= 3600 }
        sending.inFlight = Sending.InFlight(
            number: number, event: order.event, address: address, queuedAt: turn.now,
            shown: Shown(content, in: turn.slate), isReissue: isReissue, order: order)
        self[sendingFor: key] = sending
        turn.send(order)
    }

    /// P7. A score for how close a game is tells of the game: a spoiler-free card has the same one always (P2).
    private func relevance(of card: Card, _ turn: Turn) -> Double? {
        if kept.settings.spoilerFree { return Self.spoilerFreeRelevance }
        return contenders(turn).first { $0.game == card.front?.game }?.effective
    }

    /// Points: in the middle of what a worth can be.
    static let spoilerFreeRelevance = 50.0

    mutating func nextNumber() -> PushNumber {
        lastNumber = PushNumber(lastNumber.value &+ 1)
        return lastNumber
    }

    /// P5: strictly rising per card, whatever the clock does and whatever an earlier incarnation gave out.
    func nextTimestamp(after last: Int64, _ turn: Turn) -> Int64 {
        max(turn.now.unixSeconds, last + 1, timestampFloor + 1)
    }

    /// P10, Unix seconds.
    private func expiration(of kind: PushOrder.Kind, _ card: Card, _ turn: Turn) -> Int64 {
        switch kind {
        case .start: turn.now.advanced(bySeconds: turn.tuning.starts.expirationSeconds).unixSeconds
        case .update(let stale): stale ?? turn.now.advanced(bySeconds: 600).unixSeconds
        case .end: limit(of: card, turn.tuning, else: turn.now).advanced(bySeconds: 4 * 3600).unixSeconds
        }
    }
}

extension PushOrder.Kind {
    fileprivate var isStartOrUpdate: Bool { if case .end = self { false } else { true } }
}

extension Card {
    /// It stands, and what it shows can be changed.
    var takesUpdates: Bool { state == .confirmed || state == .replacing }
}

extension Shown {
    init(_ session: Session) { self.init(fingerprint: session.fingerprint, version: session.version) }

    init(_ content: CardContent, in slate: SlateSnapshot) {
        switch content {
        case .slate(let arrangement): self = Shown(arrangement, in: slate) ?? Shown(fingerprint: 0)
        case .session(let show): self.init(show.session)
        case .nothing: self.init(fingerprint: 0)
        }
    }

    /// `nil` when the slate has none of the games.
    init?(_ arrangement: SlateArrangement, in slate: SlateSnapshot) {
        var hash = ContentHash()
        hash.add(arrangement.spoilerFree ? 1 : 0)
        var games: [Game] = []
        games.reserveCapacity(arrangement.games.count)
        for id in arrangement.games {
            guard let slot = slate.slots[id] else { continue }
            let (face, begun, phase) = (
                arrangement.spoilerFree ? slate.games[slot].spoilerFreeFace : slate.games[slot].face,
                slate.games[slot].momentsBegun, slate.games[slot].phase
            )
            hash.add(face)
            games.append(Game(id: id, momentsBegun: begun, isFinal: phase == .final))
        }
        guard !games.isEmpty else { return nil }
        self.init(fingerprint: hash.value, games: games)
    }

    /// P6: another front, a moment that began, or a game that went final.
    func isUrgent(after other: Shown) -> Bool {
        if front != other.front { return true }
        return games.contains { game in
            guard let before = other.games.first(where: { $0.id == game.id }) else { return false }
            return game.momentsBegun > before.momentsBegun || game.isFinal && !before.isFinal
        }
    }
}

/// FNV-1a, 64 bits: the same on every machine and in every process.
struct ContentHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ text: String) {
        for byte in text.utf8 { mix(byte) }
        mix(0xff)  // no UTF-8 byte: ends the text
    }

    mutating func add(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { mix(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    private mutating func mix(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
}
