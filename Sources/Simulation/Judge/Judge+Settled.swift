public import CardRules

/// I6: what stands on reachable phones is what the slate says, within a minute.
extension Judge {
    /// Looks at every phone. To be called every few seconds of the night; a fault counts once while it lasts.
    public mutating func check(at now: WallTime) {
        guard let quietSince, now.seconds(since: quietSince) > options.settleSeconds else { return }
        let stopped = stoppedSessions(at: now)
        for number in phones.indices where phones[number].isSettled(for: options.settleSeconds, at: now) {
            var phone = take(number)
            defer { put(phone, number) }
            for place in phone.cards.indices where isReachable(phone.cards[place], at: now) {
                let found = faults(of: phone.cards[place], phone, at: now)
                if found.isEmpty, phone.cards[place].faults.isEmpty { continue }
                for fault in found.subtracting(phone.cards[place].faults).sorted() { add(.i6, number, fault, at: now) }
                phone.cards[place].faults = found
            }
            let missing = missingCard(of: phone, at: now)
            if let missing, !phone.isMissingCard {
                add(.i6, number, "no card was started for \(missing), in the window and chosen", at: now)
            }
            phone.isMissingCard = missing != nil
            if !stopped.isEmpty { checkStoppedSessions(stopped, of: &phone, number, at: now) }
        }
    }

    /// The server can push to it, and could for long enough.
    private func isReachable(_ card: CardView, at now: WallTime) -> Bool {
        guard card.isAlive, !card.isLost, card.key == .slate, let reported = card.tokenReportedAt else { return false }
        return now.seconds(since: reported) > options.settleSeconds
    }

    private func faults(of card: CardView, _ phone: PhoneView, at now: WallTime) -> Set<String> {
        var faults: Set<String> = []
        let settle = options.settleSeconds
        let isSpoilerFree = phone.settings?.spoilerFree ?? false
        let isSettled = phone.selectedAt.map { now.seconds(since: $0) > settle } ?? false
        let selection = isSettled ? phone.selection : nil
        for game in card.content.games {
            if slate.isOut(game.id, for: settle, at: now) {
                faults.insert("\(game.id) is shown and has left the window")
            } else if !isShownRight(game, isSpoilerFree: isSpoilerFree, at: now) {
                faults.insert("\(game.id) is not shown as it was at any time in the last minute")
            }
            guard let selection else { continue }
            if selection.muted.contains(game.id) { faults.insert("\(game.id) is shown and muted") }
            if phone.everListed.contains(game.id), !selection.games.contains(game.id) {
                faults.insert("\(game.id) is shown and off the app's list")
            }
        }
        if let selection, card.content.games.count < mostGames(phone), hasFreshSelection(phone, at: now) {
            let shown = Set(card.content.games.map(\.id))
            for id in selection.games where !shown.contains(id) && !selection.muted.contains(id) {
                if slate.isIn(id, for: settle, at: now) {
                    faults.insert("\(id) is chosen, in the window and not shown")
                }
            }
        }
        return faults
    }

    private func isShownRight(_ shown: SlateContent.Game, isSpoilerFree: Bool, at now: WallTime) -> Bool {
        slate.looked(
            like: { face in
                guard face.phase == shown.phase else { return false }
                return isSpoilerFree || face.home == shown.homeScore ?? 0 && face.away == shown.awayScore ?? 0
            }, shown.id, within: options.settleSeconds, at: now)
    }

    private func mostGames(_ phone: PhoneView) -> Int {
        guard case .readable(let taste) = phone.settings?.personalisation else { return tuning.card.maxGames }
        return min(taste.maxGames, tuning.card.maxGames)
    }

    private func hasFreshSelection(_ phone: PhoneView, at now: WallTime) -> Bool {
        phone.selectedAt.map { now.seconds(since: $0) < tuning.authority.selectionHours * 3600 - options.settleSeconds }
            ?? false
    }

    /// A phone that may have a start, has had neither start nor card tonight, and whose chosen game is on.
    private func missingCard(of phone: PhoneView, at now: WallTime) -> GameID? {
        let settle = options.settleSeconds + tuning.authority.syncHoldSeconds
        guard let settings = phone.settings, settings.user != nil, settings.quietHours == nil,
            settings.osVersion >= .withPushToStart, let tokenAt = phone.tokenReportedAt,
            now.seconds(since: tokenAt) > settle, let selection = phone.selection, let selectedAt = phone.selectedAt,
            now.seconds(since: selectedAt) > settle, hasFreshSelection(phone, at: now), !phone.hasHadCard,
            // L10: of a lane that died a start may be spent that never left.
            phone.startsInAll == 0, phone.restarts.isEmpty,
            phone.night.map({
                $0 == nightNumber(at: now, zone: settings.timeZone, rollsAtMinute: tuning.night.rollsAtMinute)
            }) ?? true
        else { return nil }
        return selection.games.first {
            !selection.muted.contains($0) && slate.isIn($0, for: options.settleSeconds, at: now)
        }
    }
}

extension PhoneView {
    /// The server knows all that its app has said, and could have pushed for long enough.
    func isSettled(for seconds: Double, at now: WallTime) -> Bool {
        guard underWay == 0, !isOffline else { return false }
        return answeredAt.map { now.seconds(since: $0) > seconds } ?? true
    }
}
