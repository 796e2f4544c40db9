extension LaneState {
    /// S4: a start is considered for what was added now, and for what was added before and could not be started yet.
    mutating func considerStart(added: [GameID], _ turn: inout Turn) {
        var games = (kept.deferred?.games ?? []).filter { kept.members.contains($0) }
        games += added.filter { !games.contains($0) }
        if kept.deferred?.rule == .s5, !isQuiet(turn) {
            // S5: the games eligible when quiet hours are over count as just added.
            games = kept.members
        }
        guard !games.isEmpty else {
            if kept.deferred != nil {
                kept.deferred = nil
                turn.saveLater()
            }
            return
        }
        if let deferred = kept.deferred, deferred.isGatewayHold, let until = deferred.until, until > turn.now {
            if deferred.games != games {
                kept.deferred?.games = games
                turn.saveLater()
            }
            if !added.isEmpty {
                recordWithheld(
                    deferred.rule, "the start before it came to nothing", atTime(until, "it is tried again"), &turn)
            }
            return
        }
        guard let obstacle = obstacle(to: .slate, turn) else {
            start(.slate, &turn)
            return
        }
        withhold(games, obstacle, isNews: !added.isEmpty, &turn)
    }

    /// Why a start is withheld, and until when, where time alone ends it.
    private struct Obstacle {
        let rule: Rule
        let until: WallTime?
        /// Decided again when it is over; otherwise given up for this addition.
        let isDeferrable: Bool
        let detail: String
        let changesWhen: String
    }

    /// The first rule that forbids a start now (section 2). S7 is judged first.
    private mutating func obstacle(to key: CardKey, _ turn: Turn) -> Obstacle? {
        func deferred(_ rule: Rule, _ detail: String, _ changesWhen: String, until: WallTime? = nil) -> Obstacle {
            Obstacle(rule: rule, until: until, isDeferrable: true, detail: detail, changesWhen: changesWhen)
        }
        func givenUp(_ rule: Rule, _ detail: String, _ changesWhen: String) -> Obstacle {
            Obstacle(rule: rule, until: nil, isDeferrable: false, detail: detail, changesWhen: changesWhen)
        }
        let (now, tuning, ledger) = (turn.now, turn.tuning, kept.ledger)

        if isSuperseded {
            return givenUp(.s7, "another record owns this phone", "the app reports its token here again")
        }
        if kept.settings.user == nil || kept.isRemoved {
            return deferred(.s1, "no user is signed in", "a user signs in")
        }
        guard let pushToStart = kept.pushToStart, pushToStart.address != nil else {
            return deferred(.s2, "no push-to-start token is held", "the app reports a push-to-start token")
        }
        guard let version = kept.settings.osVersion, version >= .withPushToStart else {
            return deferred(.s2, "push-to-start needs iOS 17.2", "the app reports iOS 17.2 or later")
        }
        if pushToStart.ownership == .claiming {
            return deferred(
                .s2, "the phone is being handed over to this record", "the older record has handed it over")
        }
        if let card = card(key) {
            return card.state == .ending
                ? deferred(.s3, "the card before it is still ending", "that card has ended")
                : givenUp(.s3, "a card stands under this key", "it has ended and another game is added")
        }
        if isQuiet(turn) {
            return deferred(.s5, "quiet hours", atTime(quiet?.to, "quiet hours are over"), until: quiet?.to)
        }
        if let obstacle = ledgerObstacle(to: key, tuning) { return givenUp(.s6, obstacle, nextNight) }
        if let arrived = kept.selection?.arrivedAt {
            let until = arrived.advanced(bySeconds: tuning.authority.syncHoldSeconds)
            if now < until {
                let words = "no selection came for \(Int(tuning.authority.syncHoldSeconds)) s"
                return deferred(.s8, "the app has just chosen; it starts its own card", words, until: until)
            }
        }
        if ledger[key].isDismissed { return givenUp(.s9, "dismissed by its owner tonight", nextNight) }
        if let last = ledger[key].lastAcceptedAt {
            let until = last.advanced(bySeconds: tuning.starts.gapSeconds)
            if now < until {
                return deferred(
                    .s10, "a start was accepted a short while ago", atTime(until, "the gap is over"), until: until)
            }
        }
        if kept.cards.count + kept.owedEnds.count >= tuning.starts.cardsPerApp {
            return deferred(.s13, "as many cards stand as iOS allows", "one of them has ended")
        }
        if ledger.unprovenNights >= tuning.starts.unprovenNights {
            return deferred(
                .s14, "its last nights' starts never became cards: needs token", "the app gives a sign of life")
        }
        if !turn.mayClaim {
            return deferred(
                .l10, "as many starts are unanswered as a node may have", "some of them are answered",
                until: now.advanced(bySeconds: 0.2))
        }
        return nil
    }

    private func atTime(_ time: WallTime?, _ what: String) -> String {
        time.map { "\(what), at \(zone.hourAndMinute(at: $0))" } ?? what
    }

    var nextNight: String { atTime(kept.ledger.to, "the next night has begun and a game is added") }

    /// S6: what the ledger says against another start.
    private func ledgerObstacle(to key: CardKey, _ tuning: Tuning) -> String? {
        let counts = kept.ledger[key]
        let allowed = counts.acknowledged > 0 ? tuning.starts.acknowledged : tuning.starts.unacknowledged
        if counts.sent >= allowed { return "\(counts.sent) of \(allowed) starts under this key are spent tonight" }
        let reserved = kept.cards.filter { $0.key != .slate }.count
        if kept.ledger.spent + reserved >= tuning.starts.hardCap {
            return "\(kept.ledger.spent) starts of any kind are spent tonight"
        }
        return nil
    }

    private mutating func withhold(_ games: [GameID], _ obstacle: Obstacle, isNews: Bool, _ turn: inout Turn) {
        let before = kept.deferred
        if isNews || before?.rule != obstacle.rule {
            recordWithheld(obstacle.rule, obstacle.detail, obstacle.changesWhen, &turn)
        }
        kept.deferred =
            obstacle.isDeferrable ? DeferredStart(games: games, rule: obstacle.rule, until: obstacle.until) : nil
        if kept.deferred != before { turn.saveLater() }
    }

    /// A start that came to nothing is decided again later, if its games are still eligible (section 2).
    mutating func deferStart(_ rule: Rule, until: WallTime?, _ detail: String, _ turn: inout Turn) {
        kept.deferred = DeferredStart(games: kept.members, rule: rule, until: until)
        let changesWhen =
            until.map { atTime($0, "it is tried again") }
            ?? (rule == .s2 ? "the app reports a push-to-start token" : "it is decided again")
        recordWithheld(rule, detail, changesWhen, &turn)
    }

    private mutating func recordWithheld(_ rule: Rule, _ detail: String, _ changesWhen: String, _ turn: inout Turn) {
        kept.ledger.countWithheld(rule)
        turn.saveLater()
        turn.note(.withheld, .slate, rule, detail, changesWhen: changesWhen)
    }

    /// Claims a start, and sends it when the claim is durable (L1).
    private mutating func start(_ key: CardKey, _ turn: inout Turn) {
        guard let address = kept.pushToStart?.address else { return }
        var card = Card(key: key, state: .starting, startedBy: .push)
        card.claimedAt = turn.now
        card.front = frontChoice(of: nil, turn).front
        guard card.front != nil else { return }
        kept.cards.append(card)
        kept.deferred = nil
        let ordinal = kept.ledger.claims
        kept.ledger.claims += 1
        kept.ledger[key].sent += 1
        turn.claim(night: kept.ledger.from, ordinal: ordinal, key: key)
        send(.start(withSound: kept.settings.sound), key, to: address, priority: .immediate, &turn)
        turn.note(.start, key, .s4, "a game was added", push: lastNumber)
    }

    /// When a deferred start may be decided again by time alone.
    func deferralLook(_ turn: Turn) -> WallTime? {
        guard let deferred = kept.deferred, let until = deferred.until, until > turn.now else { return nil }
        return until
    }

    // MARK: - Night and quiet hours

    /// S5. The span is looked up once and again when it is over, never per tick.
    mutating func isQuiet(_ turn: Turn) -> Bool {
        guard let hours = kept.settings.quietHours else { return false }
        if quiet == nil || quiet.map({ turn.now >= $0.to }) == true { quiet = hours.span(at: turn.now, in: zone) }
        guard let quiet else { return false }
        return quiet.from <= turn.now && turn.now < quiet.to
    }

    /// Begins the next night when this one is over. Nothing waits for it: it is found again after a restart.
    mutating func rollNight(_ turn: inout Turn) {
        guard turn.now >= kept.ledger.to else { return }
        let night = NightSpan(containing: turn.now, in: zone, rollsAtMinute: turn.tuning.night.rollsAtMinute)
        // A claim is unique by its night: no two nights of a record begin at one instant, whatever zones and clocks do.
        let from = max(night.from, kept.ledger.from.advanced(bySeconds: 0.001))
        kept.ledger = kept.ledger.next(from: from, to: night.to, standing: kept.members)
        turn.saveLater()
    }
}
