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
                    .slate, deferred.rule, "the start before it came to nothing", atTime(until, "it is tried again"),
                    &turn)
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
    struct Obstacle {
        let rule: Rule
        let until: WallTime?
        /// Decided again when it is over; otherwise given up for this addition.
        let isDeferrable: Bool
        let detail: String
        /// For people.
        let changesWhen: String

        static func deferred(
            _ rule: Rule, _ detail: String, until: WallTime? = nil, changesWhen: String
        ) -> Obstacle {
            Obstacle(rule: rule, until: until, isDeferrable: true, detail: detail, changesWhen: changesWhen)
        }

        static func givenUp(_ rule: Rule, _ detail: String, changesWhen: String) -> Obstacle {
            Obstacle(rule: rule, until: nil, isDeferrable: false, detail: detail, changesWhen: changesWhen)
        }
    }

    /// The first rule that forbids a start now (section 2). S7 is judged first.
    /// - Parameter isSuccessor: it follows a card that stood before (R5): S6 counts by the hard cap alone, and S10, S14
    ///   do not hold it.
    mutating func obstacle(to key: CardKey, isSuccessor: Bool = false, _ turn: Turn) -> Obstacle? {
        let (now, tuning, ledger) = (turn.now, turn.tuning, kept.ledger)
        if let obstacle = phoneObstacle() { return obstacle }
        if let card = card(key) {
            guard card.state == .ending else {
                return .givenUp(
                    .s3, "a card stands under this key",
                    changesWhen: key == .slate ? "it has ended and another game is added" : "it has ended")
            }
            return .deferred(.s3, "the card before it is still ending", changesWhen: "that card has ended")
        }
        if isQuiet(turn) {
            return .deferred(
                .s5, "quiet hours", until: quiet?.to, changesWhen: atTime(quiet?.to, "quiet hours are over"))
        }
        if let detail = isSuccessor ? hardCapObstacle(tuning) : ledgerObstacle(to: key, tuning) {
            return .givenUp(.s6, detail, changesWhen: nextNight(key))
        }
        if key == .slate, let arrived = kept.selection?.arrivedAt {
            let until = arrived.advanced(bySeconds: tuning.authority.syncHoldSeconds)
            if now < until {
                return .deferred(
                    .s8, "the app has just chosen; it starts its own card", until: until,
                    changesWhen: "no selection came for \(Int(tuning.authority.syncHoldSeconds)) s")
            }
        }
        if ledger[key].isDismissed {
            return .givenUp(.s9, "dismissed by its owner tonight", changesWhen: nextNight(key))
        }
        if !isSuccessor, let last = ledger[key].lastAcceptedAt {
            let until = last.advanced(bySeconds: tuning.starts.gapSeconds)
            if now < until {
                return .deferred(
                    .s10, "a start was accepted a short while ago", until: until,
                    changesWhen: atTime(until, "the gap is over"))
            }
        }
        if standing + probesStanding >= tuning.starts.cardsPerApp {
            return .deferred(.s13, "as many cards stand as iOS allows", changesWhen: "one of them has ended")
        }
        if !isSuccessor, ledger.unprovenNights >= tuning.starts.unprovenNights {
            return .deferred(
                .s14, "its last nights' starts never became cards: needs token",
                changesWhen: "the app gives a sign of life")
        }
        return claimObstacle(turn)
    }

    /// S7, S1, S2: what the phone lacks for any start, of whatever cause.
    func phoneObstacle() -> Obstacle? {
        if isSuperseded {
            return .givenUp(.s7, "another record owns this phone", changesWhen: "the app reports its token here again")
        }
        if kept.settings.user == nil || kept.isRemoved {
            return .deferred(.s1, "no user is signed in", changesWhen: "a user signs in")
        }
        guard let pushToStart = kept.pushToStart, pushToStart.address != nil else {
            return .deferred(
                .s2, "no push-to-start token is held", changesWhen: "the app reports a push-to-start token")
        }
        guard let version = kept.settings.osVersion, version >= .withPushToStart else {
            return .deferred(.s2, "push-to-start needs iOS 17.2", changesWhen: "the app reports iOS 17.2 or later")
        }
        if pushToStart.ownership == .claiming {
            return .deferred(
                .s2, "the phone is being handed over to this record", changesWhen: "the older record has handed it over"
            )
        }
        return nil
    }

    func atTime(_ time: WallTime?, _ what: String) -> String {
        time.map { "\(what), at \(zone.hourAndMinute(at: $0))" } ?? what
    }

    /// For people: when the counts of tonight are over.
    func nextNight(_ key: CardKey) -> String {
        atTime(
            kept.ledger.to, key == .slate ? "the next night has begun and a game is added" : "the next night has begun")
    }

    func claimObstacle(_ turn: Turn) -> Obstacle? {
        guard turn.claimsLeft <= 0 else { return nil }
        return .deferred(
            .l10, "as many starts are unanswered as a node may have", until: turn.now.advanced(bySeconds: 0.2),
            changesWhen: "some of them are answered")
    }

    /// S6: what the ledger says against another ordinary start.
    private func ledgerObstacle(to key: CardKey, _ tuning: Tuning) -> String? {
        let counts = kept.ledger[key]
        let allowed = counts.acknowledged > 0 ? tuning.starts.acknowledged : tuning.starts.unacknowledged
        if counts.sent >= allowed { return "\(counts.sent) of \(allowed) starts under this key are spent tonight" }
        // One unit stays for the reissue of each session card, the one to be started included.
        let reserved = kept.cards.count { $0.key != .slate } + (key == .slate ? 0 : 1)
        guard kept.ledger.spent + reserved + unitsOfProbe >= tuning.starts.hardCap else { return nil }
        return "\(kept.ledger.spent) starts of any kind are spent tonight, \(reserved) kept for reissues"
    }

    /// S6: the hard cap, which alone counts reissues and successors.
    func hardCapObstacle(_ tuning: Tuning) -> String? {
        guard kept.ledger.spent >= tuning.starts.hardCap else { return nil }
        return "\(kept.ledger.spent) starts of any kind are spent tonight"
    }

    private mutating func withhold(_ games: [GameID], _ obstacle: Obstacle, isNews: Bool, _ turn: inout Turn) {
        let before = kept.deferred
        if isNews || before?.rule != obstacle.rule {
            recordWithheld(.slate, obstacle.rule, obstacle.detail, obstacle.changesWhen, &turn)
        }
        kept.deferred =
            obstacle.isDeferrable ? DeferredStart(games: games, rule: obstacle.rule, until: obstacle.until) : nil
        if kept.deferred != before { turn.saveLater() }
    }

    /// A start that came to nothing is decided again later, if its games are still eligible, its session still runs
    /// (section 2).
    mutating func deferStart(
        _ key: CardKey, _ rule: Rule, until: WallTime?, isSuccessor: Bool, _ detail: String, _ turn: inout Turn
    ) {
        if key == .slate {
            kept.deferred = DeferredStart(games: kept.members, rule: rule, until: until)
        } else if let index = memberIndex(key), !kept.sessions[index].isOver {
            kept.sessions[index].pending = PendingStart(rule: rule, until: until, isSuccessor: isSuccessor)
        } else {
            return
        }
        let changesWhen =
            until.map { atTime($0, "it is tried again") }
            ?? (rule == .s2 ? "the app reports a push-to-start token" : "it is decided again")
        recordWithheld(key, rule, detail, changesWhen, &turn)
    }

    mutating func recordWithheld(
        _ key: CardKey, _ rule: Rule, _ detail: String, _ changesWhen: String, _ turn: inout Turn
    ) {
        kept.ledger.countWithheld(rule)
        turn.saveLater()
        turn.note(.withheld, key, rule, detail, changesWhen: changesWhen)
    }

    /// Claims a start, and sends it when the claim is durable (L1).
    private mutating func start(_ key: CardKey, _ turn: inout Turn) {
        guard let front = frontChoice(of: nil, turn).front else { return }
        var card = Card(key: key, state: .starting, startedBy: .push)
        card.front = front
        kept.deferred = nil
        start(card, isSuccessor: false, .s4, "a game was added", &turn)
    }

    /// Puts a card up as `starting`.
    mutating func start(_ card: Card, isSuccessor: Bool, _ rule: Rule, _ why: String, _ turn: inout Turn) {
        guard let address = kept.pushToStart?.address else { return }
        var card = card
        card.claimedAt = turn.now
        kept.cards.append(card)
        claim(card.key, isReissue: isSuccessor, &turn)
        send(
            .start(withSound: kept.settings.sound && !isSuccessor), card.key, to: address, priority: .immediate,
            isReissue: isSuccessor, &turn)
        turn.note(isSuccessor ? .reissue : .start, card.key, rule, why, push: lastNumber)
    }

    /// The row that makes a start happen at most once, and its spend (L1, S6).
    mutating func claim(_ key: CardKey, isReissue: Bool, _ turn: inout Turn) {
        let ordinal = kept.ledger.claims
        kept.ledger.claims += 1
        if isReissue { kept.ledger[key].reissued += 1 } else { kept.ledger[key].sent += 1 }
        turn.claim(night: kept.ledger.from, ordinal: ordinal, key: key)
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
