extension LaneState {
    /// Finds the games that concern this lane, by slot, whenever the roster or the lane's wishes changed.
    mutating func refreshWatch(_ turn: Turn) {
        let slate = turn.slate
        var ranksAll = false
        if case .taste = eligibilitySource(at: turn.now, tuning: turn.tuning) { ranksAll = true }
        if watch.roster != slate.roster || watch.ranksAll != ranksAll {
            let slots = ranksAll ? Array(slate.games.indices) : chosenSlots(slate)
            watch.entries = slots.map { slot in
                Watch.Entry(slot: Int32(slot), taste: taste(for: slate.games[slot], tuning: turn.tuning))
            }
            watch.roster = slate.roster
            watch.ranksAll = ranksAll
            watch.seenChange = 0
        }
        for entry in watch.entries {
            watch.seenChange = max(watch.seenChange, slate.games[Int(entry.slot)].changeVersion)
        }
    }

    /// Look the games up again at the next turn: the wishes of the phone changed.
    mutating func forgetWatch() {
        watch.roster = nil
        watch.judged = nil
    }

    /// Nothing that was worked out by another tuning stands.
    mutating func retune() {
        plans = []
        quiet = nil
        forgetWatch()
    }

    /// The slots of the games that the owner chose or that have joined.
    private func chosenSlots(_ slate: SlateSnapshot) -> [Int] {
        var slots: [Int] = []
        for game in (kept.selection?.games ?? []) + kept.members {
            if let slot = slate.slots[game], !slots.contains(slot) { slots.append(slot) }
        }
        return slots
    }

    private func taste(for game: RankedGame, tuning: Tuning) -> Double {
        guard case .readable(let taste) = kept.settings.personalisation else { return 0 }
        return taste.points(for: game, tuning: tuning.takeover)
    }

    /// A3: what fills this phone's eligible set now.
    func eligibilitySource(at now: WallTime, tuning: Tuning) -> EligibilitySource {
        if let selection = kept.selection,
            now.seconds(since: selection.arrivedAt) < tuning.authority.selectionHours * 3600
        {
            return .selection(selection.games)
        }
        if case .readable(let taste) = kept.settings.personalisation {
            return .taste(minimum: taste.minimumWorth, limit: max(1, taste.maxGames))
        }
        return .nothing
    }

    /// When taste takes the place of a selection that has grown old (A3).
    func selectionAges(_ turn: Turn) -> WallTime? {
        guard case .readable = kept.settings.personalisation, let arrived = kept.selection?.arrivedAt else {
            return nil
        }
        let old = arrived.advanced(bySeconds: turn.tuning.authority.selectionHours * 3600)
        return old > turn.now ? old : nil
    }

    /// T12: how many games a card of this phone shows.
    func maxGames(_ tuning: Tuning) -> Int {
        guard case .readable(let taste) = kept.settings.personalisation else { return max(1, tuning.card.maxGames) }
        return max(1, taste.maxGames)
    }

    /// A3: joins and leaves. A selection that has grown old is replaced by taste at the next turn after that.
    /// - Returns: the games added: joined for the first time this night (S4).
    mutating func updateMembers(_ turn: inout Turn) -> [GameID] {
        guard !kept.isRemoved else {
            if !kept.members.isEmpty {
                kept.members = []
                turn.saveLater()
            }
            return []
        }
        let source = eligibilitySource(at: turn.now, tuning: turn.tuning)
        if let judged = judged(by: source, turn) {
            guard watch.judged != judged else { return [] }
            watch.judged = judged
        } else {
            watch.judged = nil
        }
        let muted = kept.selection?.muted ?? []
        var candidates: [Candidate] = []
        for entry in watch.entries {
            let slot = Int(entry.slot)
            guard turn.slate.games[slot].isInWindow else { continue }
            let game = turn.slate.games[slot].id
            if !muted.contains(game) {
                candidates.append(Candidate(game: game, score: turn.slate.games[slot].worth + entry.taste))
            }
        }
        let members = eligibleSet(
            from: kept.members, candidates: candidates,
            source: source,
            margin: turn.tuning.takeover.marginPoints)
        guard members != kept.members else { return [] }
        let added = members.filter { !kept.ledger.joined.contains($0) }
        kept.members = members
        kept.ledger.joined += added
        turn.saveLater()
        return added
    }

    /// What decides who of the chosen games is in; `nil` for a set ranked by taste, where every worth does.
    private func judged(by source: EligibilitySource, _ turn: Turn) -> Watch.Judged? {
        switch source {
        case .selection: Watch.Judged(windows: turn.slate.windows, hasSelection: true)
        case .nothing: Watch.Judged(windows: turn.slate.windows, hasSelection: false)
        case .taste: nil
        }
    }

    /// The members as T1 scores them.
    func contenders(_ turn: Turn) -> [Contender] {
        var contenders: [Contender] = []
        contenders.reserveCapacity(kept.members.count)
        for entry in watch.entries {
            let slot = Int(entry.slot)
            // Members are in the window: the others need not be looked for. Field by field: a whole game is a dozen
            // references to count.
            guard turn.slate.games[slot].isInWindow else { continue }
            let game = turn.slate.games[slot].id
            guard kept.members.contains(game) else { continue }
            contenders.append(
                Contender(
                    game: game, base: turn.slate.games[slot].worth + entry.taste,
                    lift: max(turn.slate.games[slot].lift, madeUpLift(of: game, turn)),
                    phase: turn.slate.games[slot].phase))
        }
        return contenders
    }
}
