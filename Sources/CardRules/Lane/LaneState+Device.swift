extension LaneState {
    /// `PUT /v1/devices/{device}`: a field left out keeps its value.
    mutating func register(_ patch: DevicePatch, _ turn: inout Turn) {
        if kept.isRemoved { beginAnew() }
        signOfLife(turn.tuning)
        turn.saveFirst()
        selectionRevision &+= 1
        kept.isRemoved = false
        let user = kept.settings.user
        switch patch.user {
        case .absent: break
        case .null: kept.settings.user = nil
        case .value(let name): kept.settings.user = name
        }
        if let user, user != kept.settings.user {
            // Another person's card must not go on: it ends even if the new one follows the same games.
            for card in kept.cards { owe(card.key, .s1, "the user changed", &turn) }
            dropProbe(.s1, "the user changed", &turn)
            for index in kept.sessions.indices where kept.settings.user != nil { kept.sessions[index].pending = nil }
        }
        if let version = patch.osVersion { kept.settings.osVersion = version }
        if let version = patch.appVersion { kept.settings.appVersion = version }
        if let spoilerFree = patch.spoilerFree { kept.settings.spoilerFree = spoilerFree }
        if let sound = patch.sound { kept.settings.sound = sound }
        if let frequent = patch.frequentUpdates { kept.settings.frequentUpdates = frequent }
        if let personalisation = patch.personalisation { kept.settings.personalisation = personalisation }
        switch patch.quietHours {
        case .absent: break
        case .null: kept.settings.quietHours = nil
        case .value(let hours): kept.settings.quietHours = hours
        }
        // Also a zone of the same name whose rules were not known before, or are others now.
        if let zone = patch.zone, zone.name != kept.settings.timeZone || zone != self.zone { move(to: zone, &turn) }
        quiet = nil
        plans = []
        forgetWatch()
        report(patch.pushToStart, &turn)
        turn.note(.sync, nil, nil, "the app reported the device")
    }

    /// A removed device that comes back is a new one, but for what it still owes and has spent tonight.
    private mutating func beginAnew() {
        kept.isRemoved = false
        let zone = kept.settings.timeZone
        kept.settings = DeviceSettings()
        kept.settings.timeZone = zone
        kept.selection = nil
        if case .superseded(_, owed: .some) = kept.pushToStart?.ownership { return }
        kept.pushToStart = nil
    }

    /// The phone is in another zone: tonight ends when the next day's night begins there. Nights are counted by the days
    /// of the wall clock, so that none begins twice for a phone that crosses zones back and forth.
    private mutating func move(to zone: Zone, _ turn: inout Turn) {
        let minute = turn.tuning.night.rollsAtMinute
        let next = NightSpan.day(ofBegin: kept.ledger.to, in: self.zone, rollsAtMinute: minute)
        self.zone = zone
        kept.settings.timeZone = zone.name
        kept.ledger.to = NightSpan.begin(ofDay: next, in: zone, rollsAtMinute: minute)
        rollNight(&turn)
    }

    /// G1: token and gateway in one write; "iOS has none" never erases the token held.
    private mutating func report(_ address: Patched<PushAddress>, _ turn: inout Turn) {
        switch address {
        case .absent: break
        case .null:
            if kept.pushToStart == nil {
                kept.pushToStart = PushToStart(address: nil, reportedAt: turn.now, ownership: .owner)
            }
            kept.pushToStart?.noneReportedAt = turn.now
        case .value(let address):
            kept.ledger.awaitsToken = false
            let held = kept.pushToStart
            let isOwned = held?.ownership == .owner && held?.address?.token == address.token
            kept.pushToStart = PushToStart(
                address: address, reportedAt: turn.now, noneReportedAt: held?.noneReportedAt,
                ownership: isOwned ? .owner : .claiming)
            if held?.address != address, kept.deferred?.isGatewayHold == true { kept.deferred?.until = nil }
            if held?.address != address {
                for index in kept.sessions.indices where kept.sessions[index].pending?.isGatewayHold == true {
                    kept.sessions[index].pending?.until = nil
                }
            }
            if !isOwned { turn.afterSaving(.claimPhone(token: address.token)) }
            turn.note(.token, nil, .g1, "push-to-start token reported, \(address.gateway.rawValue)")
        }
    }

    /// `PUT .../selection`: the app's own choice, unless a later one is held (A4).
    mutating func select(
        games: [GameID], pinned: GameID?, muted: [GameID], syncedAt: WallTime, _ turn: inout Turn
    ) {
        signOfLife(turn.tuning)
        let syncedAt = min(syncedAt, turn.now)
        if let held = kept.selection, syncedAt < held.syncedAt {
            turn.saveLater()
            turn.answer(.refuseSelection(held: held.syncedAt))
            return
        }
        kept.selection = Selection(
            games: games, pinned: pinned, muted: muted, syncedAt: syncedAt, arrivedAt: turn.now)
        selectionRevision &+= 1
        discardUnseenTakeover(games)
        forgetWatch()
        turn.saveFirst()
        turn.note(.sync, .slate, .a1, "the app chose \(games.count) games")
    }

    /// A4: a takeover decided before this selection, and not yet on the card, is discarded: the card keeps the front that
    /// it shows, if the app still lists it.
    mutating func discardUnseenTakeover(_ games: [GameID]) {
        guard let index = cardIndex(.slate), let front = kept.cards[index].front else { return }
        let sending = self[sendingFor: .slate]
        guard let shown = sending.inFlight?.shown.front ?? sending.accepted?.front, shown != front.game,
            games.contains(shown)
        else { return }
        kept.cards[index].front?.game = shown
        kept.cards[index].front?.bench.removeAll { $0.game == shown }
    }

    /// `DELETE /v1/devices/{device}`: its cards are ended first.
    mutating func remove(_ turn: inout Turn) {
        kept.isRemoved = true
        selectionRevision &+= 1
        kept.members = []
        forgetWatch()
        for index in kept.sessions.indices {
            kept.sessions[index].isOver = true
            kept.sessions[index].pending = nil
        }
        for card in kept.cards { owe(card.key, .e1, "the device was removed", &turn) }
        kept.probes = []
        turn.saveFirst()
    }

    mutating func eraseIfDone(_ turn: inout Turn) {
        guard kept.isRemoved, kept.cards.isEmpty, kept.owedEnds.isEmpty else { return }
        if case .superseded(_, owed: .some) = kept.pushToStart?.ownership { return }
        turn.answer(.erase)
    }

    /// S14: any call of the app. What it is to do is not done by that: a token is still asked for.
    mutating func signOfLife(_ tuning: Tuning) {
        if kept.ledger.unprovenNights >= tuning.starts.unprovenNights { kept.ledger.awaitsToken = true }
        kept.ledger.unprovenNights = 0
        kept.ledger.hasSignOfLife = true
    }
}
