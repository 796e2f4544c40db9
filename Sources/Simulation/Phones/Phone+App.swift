internal import CardRules

/// What the app does, well or badly made (ref P28).
extension Phone {
    /// The owner opens the app; the first time it is installed and launched.
    mutating func open(_ number: Int, at now: WallTime, into output: inout PhoneOutput) {
        let opening = profile.openings[number]
        let isLaunch = app != .suspended && app != .running
        if app == .notInstalled, hasPushToStart { issuePushToStart(into: &output) }
        app = .running
        if let second = profile.secondRecord, number >= second.fromOpening { device = second.device }
        let readsNone = isLaunch && profile.pushToStart == .noneAtLaunch || profile.app == .reportsNone
        register(at: now, readingNone: readsNone, into: &output)
        if readsNone { schedule(.reread, at: now.advanced(bySeconds: 3)) }
        if let changed = opening.choice { choice = changed }
        if let choice {
            report(
                .selection(games: choice.games, pinned: choice.pinned, muted: choice.muted, syncedAt: now), at: now,
                into: &output)
        }
        endDuplicates(at: now, into: &output)
        if let content = opening.ownCard, !cards.contains(where: \.isAlive) {
            show(
                key: .slate, startedBy: .app, content: content, timestamp: nil, staleDate: nil, getsToken: true,
                apnsID: nil, at: now, into: &output)
        }
        reportCards(at: now, into: &output)
        if profile.app == .reportsEndedCards { reportEndedCards(at: now, into: &output) }
        for card in cards where card.isAlive {
            report(.card(key: card.key, report: .opened, activity: card.activity, at: now), at: now, into: &output)
            if card.getsToken, card.updateToken == nil, !isTokenUnderWay(card.activity) {
                scheduleToken(of: card.activity, at: now)
            }
        }
        schedule(.close, at: now.advanced(bySeconds: opening.seconds))
        if number + 1 < profile.openings.count {
            schedule(.open(number + 1), at: max(profile.openings[number + 1].at, now.advanced(bySeconds: 1)))
        }
    }

    private func isTokenUnderWay(_ id: ActivityID) -> Bool {
        agenda.contains { if case .token(let other) = $0.action { other == id } else { false } }
    }

    mutating func issuePushToStart(into output: inout PhoneOutput) {
        let token = random.bytes(options.tokenBytes)
        pushToStart = token
        output.tokens.append(
            TokenChange(token: token, gateway: profile.gateway, change: .issued(.pushToStart, activity: nil)))
    }

    /// P3: after its first start iOS takes a new push-to-start token.
    mutating func changeToken(at now: WallTime, into output: inout PhoneOutput) {
        hasChangedToken = true
        guard profile.pushToStart == .changesAfterFirstStart || profile.pushToStart == .changesInSilence else { return }
        if let pushToStart {
            output.tokens.append(TokenChange(token: pushToStart, gateway: profile.gateway, change: .died))
        }
        issuePushToStart(into: &output)
        // The start has woken the app, so it learns of the change now unless the sequence is silent.
        if profile.pushToStart == .changesAfterFirstStart, app != .forceQuit { register(at: now, into: &output) }
    }

    /// S14: the server has asked in its answer to a call, so app code runs.
    mutating func isAskedForToken(at now: WallTime, into output: inout PhoneOutput) {
        guard app == .running || app == .suspended else { return }
        register(at: now, into: &output)
    }

    mutating func register(at now: WallTime, readingNone: Bool = false, into output: inout PhoneOutput) {
        let reading: PhoneReport.PushToStartReading =
            if let pushToStart, !readingNone {
                .token(PushAddress(token: pushToStart, gateway: profile.gateway))
            } else {
                .none
            }
        let registration = PhoneReport.Registration(
            user: profile.user, pushToStart: reading, gateway: profile.gateway, osVersion: profile.osVersion,
            appVersion: profile.appVersion, timeZone: profile.timeZone, quietHours: profile.quietHours,
            spoilerFree: profile.spoilerFree, sound: profile.sound, frequentUpdates: profile.frequentUpdates,
            personalisation: profile.personalisation)
        report(.registered(registration), at: now, into: &output)
    }

    /// Tells what the server does not know yet: tokens of cards that stand, and what became of others.
    /// Called whenever app code runs.
    mutating func reportCards(at now: WallTime, into output: inout PhoneOutput) {
        guard app == .running || app == .suspended && profile.app != .lateObservers else { return }
        for place in cards.indices {
            let card = cards[place]
            if card.isAlive {
                if let token = card.updateToken, card.tokenReportedAs != device {
                    cards[place].tokenReportedAs = device
                    report(
                        .cardToken(
                            key: card.key, activity: card.activity,
                            token: PushAddress(token: token, gateway: profile.gateway), startedBy: card.startedBy,
                            began: card.began), at: now, into: &output)
                }
                if card.state == .stale, !card.isStaleReported {
                    cards[place].isStaleReported = true
                    report(
                        .card(key: card.key, report: .stale, activity: card.activity, at: now), at: now, into: &output)
                }
            } else if !card.isEndReported {
                cards[place].isEndReported = true
                let word = card.endedBy == .swipe ? PhoneReport.CardReport.dismissed : .ended
                report(.card(key: card.key, report: word, activity: card.activity, at: now), at: now, into: &output)
            }
        }
    }

    /// C2: of duplicates under one key the newest is kept, and only the app in front ends the others.
    private mutating func endDuplicates(at now: WallTime, into output: inout PhoneOutput) {
        var seen: Set<CardKey> = []
        for card in cards.reversed() where card.isAlive {
            if !seen.insert(card.key).inserted {
                end(card.activity, by: .app, at: now, removeAt: now, into: &output)
            }
        }
    }

    /// Ref I21: the token stream of an ended activity yields again.
    private mutating func reportEndedCards(at now: WallTime, into output: inout PhoneOutput) {
        for card in cards where !card.isAlive {
            guard let token = card.updateToken else { continue }
            report(
                .cardToken(
                    key: card.key, activity: card.activity,
                    token: PushAddress(token: token, gateway: profile.gateway), startedBy: card.startedBy,
                    began: card.began), at: now, into: &output)
        }
    }

    /// Ref I29: iOS has woken the app, which takes what it does not know for rubbish.
    mutating func killUnfitCards(but fresh: ActivityID?, at now: WallTime, into output: inout PhoneOutput) {
        guard profile.app == .killsUnfitCards, app != .forceQuit else { return }
        for card in cards where card.isAlive && card.activity != fresh {
            if card.updateToken == nil || card.state == .stale {
                end(card.activity, by: .app, at: now, removeAt: now, into: &output)
            }
        }
    }

    private func report(_ body: PhoneReport.Body, at now: WallTime, into output: inout PhoneOutput) {
        output.reports.append(PhoneReport(phone: number, at: now, device: device, body: body))
    }
}
