// A probe is exempt from S3-S10 and I3 (rules.md, section 12); S1, S2, S7, S13, S14 and L10 hold for it as for any start.
extension LaneState {
    /// Why no probe of this phone can begin now; `nil`: one can.
    public func probeObstacle(tuning: Tuning) -> ProbeObstacle? {
        if case .superseded(let newer, _) = kept.pushToStart?.ownership { return .superseded(by: newer) }
        if isProbing { return .running }
        if let obstacle = phoneObstacle() {
            return kept.pushToStart?.address == nil && obstacle.rule == .s2
                ? .noToken : .held(obstacle.rule, detail: obstacle.detail)
        }
        if kept.ledger.unprovenNights >= tuning.starts.unprovenNights {
            return .held(.s14, detail: "its last nights' starts never became cards: needs token")
        }
        let left = max(0, tuning.starts.hardCap - kept.ledger.spent)
        guard left >= ProbeVariant.units else { return .unitsSpent(left: left, needed: ProbeVariant.units) }
        return nil
    }

    /// Starts of a probe are still to be sent or answered.
    public var isProbing: Bool { kept.probes.contains { $0.dueAt != nil || $0.isStarting } }

    /// S6: units that a probe will still claim.
    var unitsOfProbe: Int { kept.probes.count { $0.dueAt != nil } }

    /// The first start goes in this turn, the others a minute apart.
    mutating func beginProbe(_ gateway: Gateway?, _ turn: inout Turn) {
        if let obstacle = probeObstacle(tuning: turn.tuning) {
            turn.note(.probe, .probe, obstacle.rule, "no probe: \(obstacle.detail)")
            return
        }
        guard let address = kept.pushToStart?.address else { return }
        for (place, variant) in ProbeVariant.allCases.enumerated() {
            let at = turn.now.advanced(bySeconds: Double(place) * ProbeVariant.gapSeconds)
            kept.probes.append(
                ProbeCard(variant: variant, gateway: gateway ?? address.gateway, state: .waiting(until: at)))
        }
        turn.saveFirst()
    }

    /// Sends what is due, unless something has come in between, and gives up what nobody has seen.
    mutating func considerProbe(_ turn: inout Turn) {
        guard !kept.probes.isEmpty else { return }
        giveUpUnseen(&turn)
        guard let index = kept.probes.firstIndex(where: { $0.dueAt != nil }), let dueAt = kept.probes[index].dueAt,
            !kept.probes.contains(where: \.isStarting), dueAt <= turn.now
        else { return }
        // L10: what a restart found waiting is not sent by a process that did not begin it.
        if dueAt == .distantPast { return dropProbe(.l10, "the probe was cut off by a restart", &turn) }
        if let obstacle = phoneObstacle() { return dropProbe(obstacle.rule, obstacle.detail, &turn) }
        if kept.ledger.spent >= turn.tuning.starts.hardCap {
            return dropProbe(.s6, "\(kept.ledger.spent) starts of any kind are spent tonight", &turn)
        }
        guard turn.claimsLeft > 0 else {
            kept.probes[index].state = .waiting(until: turn.now.advanced(bySeconds: 0.2))
            return
        }
        // However late this one is: the next comes a minute after it.
        for later in kept.probes.indices where later > index {
            let at = turn.now.advanced(bySeconds: Double(later - index) * ProbeVariant.gapSeconds)
            if kept.probes[later].dueAt != nil { kept.probes[later].state = .waiting(until: at) }
        }
        if standing + probesStanding >= turn.tuning.starts.cardsPerApp {
            let probe = kept.probes.remove(at: index)
            turn.saveLater()
            turn.note(
                .probe, .probe, .s13, "\(probe.name): not sent, as many cards stand as iOS allows",
                probe: probe.step(.skipped))
            return
        }
        sendProbe(index, &turn)
    }

    /// S13: cards of a probe that may stand, and are not owed an end yet.
    var probesStanding: Int { kept.probes.count { $0.mayStand && $0.activity == nil } }

    private mutating func sendProbe(_ index: Int, _ turn: inout Turn) {
        guard let token = kept.pushToStart?.address?.token else { return }
        let address = PushAddress(token: token, gateway: kept.probes[index].gateway)
        claim(.probe, isReissue: false, &turn)
        let number = nextNumber()
        let timestamp = nextTimestamp(after: lastProbeTimestamp, turn)
        kept.probes[index].state = .starting(claimedAt: turn.now)
        kept.probes[index].number = number
        kept.probes[index].timestamp = timestamp
        var order = PushOrder(
            number: number, key: .probe, address: address, priority: .immediate, timestamp: timestamp,
            expiration: turn.now.advanced(bySeconds: turn.tuning.starts.expirationSeconds).unixSeconds,
            relevance: Self.spoilerFreeRelevance, content: .slate(probeArrangement(turn)),
            kind: .start(withSound: kept.settings.sound), selectionRevision: selectionRevision,
            isConfirmed: address == confirmedStart)
        order.probe = ProbePush(
            variant: kept.probes[index].variant,
            staleDate: turn.now.advanced(bySeconds: turn.tuning.updates.staleSeconds).unixSeconds)
        turn.send(order)
        turn.note(
            .probe, .probe, .p1, "\(kept.probes[index].name): sent", push: number,
            probe: kept.probes[index].step(.sent))
    }

    private var lastProbeTimestamp: Int64 { kept.probes.map(\.timestamp).max() ?? 0 }

    /// One game, the one that a card would have in front; of a phone that follows none the best of the slate; none when
    /// the slate has none.
    private func probeArrangement(_ turn: Turn) -> SlateArrangement {
        let own =
            card(.slate).flatMap { arrangement(of: $0, turn.tuning)?.games.first }
            ?? frontChoice(of: nil, turn).front?.game
        let best = turn.slate.games.max { ($0.worth, $1.id) < ($1.worth, $0.id) }?.id
        return SlateArrangement(games: [own ?? best].compactMap(\.self), spoilerFree: kept.settings.spoilerFree)
    }

    /// What is still waiting is not sent.
    mutating func dropProbe(_ rule: Rule, _ why: String, _ turn: inout Turn) {
        let waiting = unitsOfProbe
        guard waiting > 0 else { return }
        kept.probes.removeAll { $0.dueAt != nil }
        turn.saveLater()
        turn.note(
            .probe, .probe, rule, "\(waiting) of \(ProbeVariant.units) variants dropped: \(why)",
            probe: ProbeStep(variant: nil, event: .dropped))
    }

    /// L9: nobody has told of its card in time.
    private mutating func giveUpUnseen(_ turn: inout Turn) {
        let seconds = turn.tuning.life.acknowledgeSeconds
        let late = kept.probes.filter { probe in
            !probe.isStarting && probe.since.map { turn.now.seconds(since: $0) >= seconds } ?? false
        }
        guard !late.isEmpty else { return }
        kept.probes.removeAll { late.contains($0) }
        turn.saveLater()
        for probe in late {
            let detail =
                switch (probe.state, probe.activity) {
                case (_, .some): "its card has not reported a token"
                case (.accepted, nil): "accepted, never adopted"
                default: "its verdict is unknown, and the app has not reported its card"
                }
            turn.note(.probe, .probe, .l9, "\(probe.name): \(detail)", probe: probe.step(.unseen))
        }
    }

    // MARK: - Verdicts

    /// - Returns: `false` when the push is none of a probe's.
    mutating func settleProbe(_ number: PushNumber, _ verdict: Verdict, _ turn: inout Turn) -> Bool {
        guard let index = kept.probes.firstIndex(where: { $0.number == number }) else { return false }
        var probe = kept.probes[index]
        let claimedAt = probe.since ?? turn.now
        probe.number = nil
        turn.saveLater()
        turn.note(
            .probe, .probe, verdict.rule, "\(probe.name): \(verdict.words)", push: number,
            probe: probe.step(ProbeStep.Event(verdict)))
        switch verdict {
        case .accepted:
            kept.ledger[.probe].accepted += 1
            kept.ledger[.probe].lastAcceptedAt = turn.now
            if probe.activity == nil { kept.ledger.hasSignOfLife = false }  // S14: silent since this start
            probe.state = .accepted(at: turn.now)
        case .unknown: probe.state = .unknown(since: claimedAt)
        // G2, G3: it says something about this start, and nothing is done to the token or tried elsewhere for it.
        case .refused, .notSent:
            giveBackSpend(.probe, isReissue: false)
            kept.probes.remove(at: index)
            return true
        }
        kept.probes[index] = probe
        if probe.activity.map(isOwedOrOver) == true { kept.probes.remove(at: index) }
        return true
    }

    private func isOwedOrOver(_ activity: ActivityID) -> Bool {
        kept.endedActivities.contains(activity) || kept.owedEnds.contains { $0.activity == activity }
    }

    // MARK: - What the phone says

    /// The app finds a slate's attributes in a probe's start and reports its card as the slate's. It is a probe's when
    /// one is out that nobody has seen, unless the slate's own start waits for its token: then what began before the
    /// probe is the slate's.
    /// - Returns: the place of the start that it came of; `nil`: of none.
    private func probe(of activity: ActivityID, key: CardKey, began: WallTime?) -> Int? {
        if let known = kept.probes.firstIndex(where: { $0.activity == activity }) { return known }
        guard key == .probe || key == .slate else { return nil }
        let out = kept.probes.indices.filter { place in
            guard kept.probes[place].activity == nil, let since = kept.probes[place].since else { return false }
            // A few seconds for two clocks that differ.
            return began.map { since <= $0.advanced(bySeconds: 5) } ?? true
        }
        guard let newest = out.last else { return nil }
        guard key == .slate, let card = card(.slate) else { return newest }
        if card.activity == activity { return nil }
        let next = successorIndex(.slate).map { kept.successors[$0] }
        if next?.activity == activity { return nil }
        let isAwaited = card.activity == nil || next.map { $0.activity == nil && $0.mayStand } == true
        return isAwaited && began == nil ? nil : newest
    }

    /// An update token of a probe's card: the card is ended at once.
    /// - Returns: `false` when it is none.
    mutating func takeProbeToken(_ token: CardToken, _ turn: inout Turn) -> Bool {
        let place = token.startedBy == .push ? probe(of: token.activity, key: token.key, began: token.began) : nil
        guard place != nil || token.key == .probe else { return false }
        let timestamp = lastProbeTimestamp
        let since = place.flatMap { kept.probes[$0].since } ?? token.began ?? turn.now
        var name = "a card of an earlier probe"
        var step: ProbeStep?
        if let place {
            name = kept.probes[place].name
            step = kept.probes[place].step(.token)
            if kept.probes[place].activity == nil { acknowledge(.probe, startedBy: .push) }
            kept.probes[place].activity = token.activity
            if !kept.probes[place].isStarting { kept.probes.remove(at: place) }
        }
        oldEnds.append(OldEnd(activity: token.activity, address: token.address, lastTimestamp: timestamp))
        kept.owedEnds.append(
            OwedEnd(
                key: .probe, activity: token.activity, address: token.address,
                limit: since.advanced(bySeconds: turn.tuning.life.limitSeconds), games: []))
        kept.owedEnds.removeFirst(max(0, kept.owedEnds.count - LaneRecord.owedEndsKept))
        turn.saveFirst()
        turn.note(
            .probe, .probe, .r3, "\(name): its card stands and has its token; it is ended", probe: step)
        return true
    }

    /// What the app says became of a probe's card.
    /// - Returns: `false` when it is none.
    mutating func takeProbeReport(_ report: CardReport, _ turn: inout Turn) -> Bool {
        guard !isOwedOrOver(report.activity) || report.key == .probe else { return false }
        let isOver = report.kind == .ended || report.kind == .dismissed
        let place = isOwedOrOver(report.activity) ? nil : probe(of: report.activity, key: report.key, began: nil)
        guard place != nil || report.key == .probe else { return false }
        if let place {
            if kept.probes[place].activity == nil { acknowledge(.probe, startedBy: .push) }
            kept.probes[place].activity = report.activity
            turn.note(
                .probe, .probe, .s14, "\(kept.probes[place].name): the app reported its card \(report.kind.rawValue)",
                probe: kept.probes[place].step(ProbeStep.Event(report.kind)))
            if isOver, !kept.probes[place].isStarting { kept.probes.remove(at: place) }
        }
        if isOver {
            kept.owedEnds.removeAll { $0.activity == report.activity }
            oldEnds.removeAll { $0.activity == report.activity }
            rememberEnded(report.activity)
        }
        return true
    }

    // MARK: - Time

    /// When time alone brings a probe on.
    func probeLook(_ turn: Turn) -> WallTime? {
        guard !kept.probes.isEmpty else { return nil }
        let isStarting = kept.probes.contains(where: \.isStarting)
        let due = isStarting ? nil : kept.probes.compactMap(\.dueAt).min()
        let seen = kept.probes.filter { !$0.isStarting }.compactMap(\.since).min()?
            .advanced(bySeconds: turn.tuning.life.acknowledgeSeconds)
        return [due, seen].compactMap(\.self).min()
    }

    /// After a restart: what was claimed is unknown, what waited is dropped at the first turn.
    mutating func restoreProbe() {
        for index in kept.probes.indices {
            switch kept.probes[index].state {
            case .waiting: kept.probes[index].state = .waiting(until: .distantPast)
            case .starting(let claimedAt): kept.probes[index].state = .unknown(since: claimedAt)
            case .accepted, .unknown: break
            }
        }
    }
}

extension ProbeCard {
    /// R7: the wall clock was set back by `step` seconds.
    mutating func follow(_ step: Double, to now: WallTime) {
        switch state {
        case .waiting(let until):
            if until != .distantPast { state = .waiting(until: until.advanced(bySeconds: step)) }
        case .starting(let time): state = .starting(claimedAt: min(time, now))
        case .accepted(let time): state = .accepted(at: min(time, now))
        case .unknown(let time): state = .unknown(since: min(time, now))
        }
    }
}
