public import CardRules

/// What phones report and what happens on them.
extension Judge {
    /// A report left a phone.
    mutating func leaves(_ report: PhoneReport) {
        guard options.hearsReportsOnArrival else { return sees(report) }
        var phone = take(report.phone)
        defer { put(phone, report.phone) }
        phone.underWay += 1
        // What the server may know from now on is in its favour.
        if let key = report.acknowledges { phone.starts[key, default: PhoneView.Starts()].isAcknowledged = true }
    }

    /// A report reached the server, which may have taken it.
    mutating func arrives(_ report: PhoneReport, at now: WallTime) {
        var phone = take(report.phone)
        phone.arrivedAt = phone.arrivedAt ?? now
        put(phone, report.phone)
    }

    /// The server has said that it has the report.
    mutating func isAnswered(_ report: PhoneReport, at now: WallTime) {
        var phone = take(report.phone)
        phone.underWay -= 1
        phone.answeredAt = now
        let at = phone.arrivedAt ?? now
        phone.arrivedAt = nil
        put(phone, report.phone)
        sees(PhoneReport(phone: report.phone, at: at, device: report.device, body: report.body))
    }

    /// A phone loses its network, or has it back.
    mutating func phone(_ number: Int, isOffline: Bool, at now: WallTime) {
        var phone = take(number)
        phone.isOffline = isOffline
        phone.answeredAt = now
        put(phone, number)
    }

    /// A report left a phone and is taken to have arrived.
    public mutating func sees(_ report: PhoneReport) {
        var phone = take(report.phone)
        defer { put(phone, report.phone) }
        let isOtherRecord = phone.record.map { $0 != report.device } ?? false
        phone.record = report.device
        if isOtherRecord {
            // What became of the last push the record before it may hear too late to hand it over (U6).
            phone.recordSince = report.at
            for place in phone.cards.indices {
                let isAnswered = phone.cards[place].lastPushAt.map {
                    report.at.seconds(since: $0) > options.answerSeconds
                }
                if isAnswered == false { phone.cards[place].isDirty = true }
            }
        }
        switch report.body {
        case .registered(let registration):
            phone.settings = registration
            phone.registeredAt = phone.registeredAt ?? report.at
            phone.lastRegisteredAt = report.at
            if case .token(let address) = registration.pushToStart {
                phone.tokenReportedAt = phone.tokenReportedAt ?? report.at
                refusals[address.token] = nil
                if phone.isTwoUntil == .distantFuture {
                    phone.isTwoUntil = report.at.advanced(bySeconds: options.answerSeconds)
                }
            } else if isOtherRecord {
                phone.isTwoUntil = .distantFuture
            }
        case .selection(let games, let pinned, let muted, _):
            phone.selection = PhoneProfile.Choice(games: games, pinned: pinned, muted: muted)
            phone.selectedAt = report.at
            phone.everListed.formUnion(games)
        case .cardToken(let key, let activity, let address, _, _):
            turnNight(of: &phone, at: report.at)
            phone.starts[key, default: PhoneView.Starts()].isAcknowledged = true
            refusals[address.token] = nil
            if let place = phone.place(of: activity) {
                phone.cards[place].tokenReportedAt = phone.cards[place].tokenReportedAt ?? report.at
            }
        case .card(let key, let word, let activity, _):
            turnNight(of: &phone, at: report.at)
            phone.starts[key, default: PhoneView.Starts()].isAcknowledged = true
            guard word == .ended || word == .dismissed, let place = phone.place(of: activity) else { break }
            if word == .dismissed { phone.dismissedAt[key] = report.at }
            phone.cards[place].overReportedAt = phone.cards[place].overReportedAt ?? report.at
        }
    }

    /// Something happened on a phone.
    public mutating func sees(_ event: PhoneEvent, on number: Int, at now: WallTime) {
        var phone = take(number)
        defer { put(phone, number) }
        switch event {
        case .appeared(let card, let timestamp, _):
            appeared(card, timestamp: timestamp, on: &phone, number, at: now)
        case .updated(let activity, let content, _):
            tally.updates += 1
            guard let place = phone.place(of: activity) else { break }
            let before = phone.cards[place].content
            phone.cards[place].isLost = false
            phone.cards[place].content = content
            if before.front != content.front {
                tally.frontChanges += 1
                fronts.loses(before.front, at: now)
                fronts.gains(content.front, at: now)
                judgeTakeover(from: before, to: content, card: &phone.cards[place], phone, number, at: now)
            }
        case .ended(let activity, let ending):
            tally.ended[ending, default: 0] += 1
            guard let place = phone.place(of: activity) else { break }
            phone.cards[place].isAlive = false
            judgeSuccession(of: phone.cards[place], by: ending, phone, number, at: now)
            fronts.loses(phone.cards[place].content.front, at: now)
        case .removed, .becameStale: break
        case .dropped(let drop, _, _, _): tally.dropped[drop, default: 0] += 1
        }
    }

    /// I1.
    private mutating func appeared(
        _ card: PhoneCard, timestamp: Int64?, on phone: inout PhoneView, _ number: Int, at now: WallTime
    ) {
        turnNight(of: &phone, at: now)
        phone.hasHadCard = true
        if card.startedBy == .push {
            tally.startedByPush += 1
            let due = reissueDue
            let others = phone.cards.filter {
                // One whose end was accepted may still stand, or stand on although nobody can know (ref R3).
                $0.isAlive && !$0.isLost && !$0.isEndAccepted && $0.key == card.key && $0.startedBy == .push
            }
            // The server's count begins when the start is accepted (L4), however late the phone has it.
            if let young = others.first(where: { now.seconds(since: $0.decidedAt) < due }) {
                let age = Int(now.seconds(since: young.began))
                add(.i1, number, "a second card under \(card.key) while one of \(age) s stands", at: now)
            }
        } else {
            tally.startedByApp += 1
        }
        fronts.gains(card.content.front, at: now)
        let start = card.startedBy == .push ? timestamp.flatMap { phone.acceptedStarts[$0] } : nil
        var view = CardView(
            activity: card.activity, key: card.key, startedBy: card.startedBy, began: now,
            decidedAt: start?.queuedAt ?? now, content: card.content)
        if card.startedBy == .push {
            view.accepted = card.content.withoutTime
            view.newestTimestamp = timestamp
            // U6: whoever never heard that a start was accepted may say what it carried once more.
            view.isDirty = start?.isHeard == false
        }
        if phone.cards.count >= Phone.cardsKept, let over = phone.cards.firstIndex(where: { !$0.isAlive }) {
            phone.cards.remove(at: over)
        }
        phone.cards.append(view)
    }

    /// I9: A2 and T8, as far as a phone can see them.
    private mutating func judgeTakeover(
        from before: SlateContent, to after: SlateContent, card: inout CardView, _ phone: PhoneView, _ number: Int,
        at now: WallTime
    ) {
        // What an end carries is seen by nobody.
        guard phone.underWay == 0, !card.isEndAccepted else { return }
        let isSelectionSettled =
            phone.selectedAt.map { now.seconds(since: $0) > options.inFlightSeconds } ?? false
        let selection = isSelectionSettled ? phone.selection : nil
        if let muted = selection?.muted, muted.contains(after.front) {
            add(.i9, number, "muted \(after.front) took the front", at: now)
        }
        if phone.selection?.pinned == after.front { return }
        if mustGo(before.front, phone: phone, at: now) { return }
        if let pinned = selection?.pinned, pinned == before.front {
            add(.i9, number, "\(after.front) took the front from pinned \(pinned)", at: now)
        }
        // What was decided before the card had a token comes with its first update (U4), and what a push that failed
        // carried with the next one (U6).
        let isLate =
            card.wasDirty || card.tokenReportedAt.map { now.seconds(since: $0) < options.firstUpdateSeconds } ?? true
        // Another record of the phone does not know what its card has in front.
        let isAdopted = phone.recordSince.map { now.seconds(since: $0) < options.answerSeconds } ?? false
        if isSelectionSettled, !isLate, !isAdopted, let since = phone.selectedAt,
            now.seconds(since: since) < tuning.authority.syncHoldSeconds,
            // What a lane decides when it comes back may wait for the gap of the update before (U3).
            !hasRestarted(phone, from: since.advanced(bySeconds: -options.inFlightSeconds))
        {
            let seconds = Int(now.seconds(since: since))
            add(.i9, number, "\(after.front) took the front \(seconds) s after the app's selection", at: now)
        }
        if case .unreadable = phone.settings?.personalisation, !isLate, !isAdopted {
            add(.i9, number, "\(after.front) took the front though the personalisation cannot be read", at: now)
        }
        // An ordinary update may wait for its gap, which brings two changes closer together on the phone.
        let minute = 60 - tuning.updates.gapSeconds - options.inFlightSeconds
        card.takeovers.removeAll { now.seconds(since: $0) >= minute }
        card.takeovers.append(now)
        if card.takeovers.count > tuning.takeover.changesPerMinute {
            add(.i9, number, "the front changed \(card.takeovers.count) times in \(Int(minute)) s", at: now)
        }
    }

    /// T6: a front that is over or no longer qualifies, also by what was so a moment ago.
    func mustGo(_ front: GameID, phone: PhoneView, at now: WallTime) -> Bool {
        guard let game = slate.games[front] else { return true }
        if game.face.phase == .final || game.face.phase == .postponed { return true }
        if !slate.isInWindow(front, at: now) { return true }
        guard let selection = phone.selection else { return false }
        return selection.muted.contains(front) || !selection.games.contains(front)
    }

    /// Night's turn in the phone's zone: counts begin anew.
    func turnNight(of phone: inout PhoneView, at now: WallTime) {
        let night = nightNumber(
            at: now, zone: phone.settings?.timeZone ?? "UTC", rollsAtMinute: tuning.night.rollsAtMinute)
        guard phone.night != night else { return }
        phone.night = night
        phone.starts = [:]
        phone.startsInAll = 0
    }
}

extension PhoneReport {
    /// The card key of which the app has shown that it has a card.
    var acknowledges: CardKey? {
        switch body {
        case .cardToken(let key, _, _, _, _), .card(let key, _, _, _): key
        case .registered, .selection: nil
        }
    }
}

extension PhoneView {
    func place(of activity: ActivityID) -> Int? { cards.lastIndex { $0.activity == activity } }
}

extension SlateContent {
    /// U1: `asOf` alone is no difference.
    var withoutTime: SlateContent {
        var content = self
        content.asOf = 0
        return content
    }
}
