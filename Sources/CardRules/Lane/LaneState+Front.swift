extension LaneState {
    /// Chooses the front of a card anew (T3-T12, A2). A change is kept, but no push waits for that.
    mutating func updateFront(_ key: CardKey, _ turn: inout Turn) {
        frontLook = nil
        guard let index = cardIndex(key), kept.cards[index].state != .ending, !kept.members.isEmpty else { return }
        let before = kept.cards[index].front
        let choice = before == nil ? firstFront(turn) : frontChoice(of: before, turn)
        guard let front = choice.front else { return }
        frontLook = choice.lookAgain
        kept.cards[index].front = front
        guard let rule = choice.rule, front.game != before?.game else { return }
        turn.saveLater()
        let detail = before.map { "\($0.game) gives way to \(front.game)" } ?? "\(front.game) is the first front"
        turn.note(.takeover, key, rule, detail)
    }

    /// The first front of a card that the app started: the app's own for as long as its selection holds (A2), then T12.
    private func firstFront(_ turn: Turn) -> FrontChoice {
        if let selection = kept.selection,
            turn.now < selection.arrivedAt.advanced(bySeconds: turn.tuning.authority.syncHoldSeconds),
            let own = ([selection.pinned].compactMap { $0 } + selection.games).first(where: kept.members.contains)
        {
            var choice = frontChoice(of: Front(game: own, since: turn.now), turn)
            choice.rule = choice.rule ?? .a2
            return choice
        }
        return frontChoice(of: nil, turn)
    }

    func frontChoice(of front: Front?, _ turn: Turn) -> FrontChoice {
        var hold = TakeoverHold(pinned: kept.selection?.pinned)
        if let arrived = kept.selection?.arrivedAt {
            hold.until = arrived.advanced(bySeconds: turn.tuning.authority.syncHoldSeconds)
        }
        if case .unreadable = kept.settings.personalisation { hold.isUnreadable = true }
        return chooseFront(
            among: contenders(turn), front: front, hold: hold, at: turn.now, tuning: turn.tuning.takeover)
    }

    /// A4: it was computed from the selection that still holds. A session's push does not depend on one, nor does an end:
    /// that goes as long as it is waited for, and not to a card that the app has reported over meanwhile (L5, L7).
    public func isCurrent(_ order: PushOrder) -> Bool {
        guard order.event != .end else {
            return sending.contains { $0.inFlight?.number == order.number }
                || oldEnds.contains { $0.inFlight == order.number }
        }
        return order.key != .slate || order.selectionRevision == selectionRevision
    }

    /// T12: the front first, then the others in the app's order, or in order of joining, up to `maxGames`.
    func arrangement(of card: Card, _ tuning: Tuning) -> SlateArrangement? {
        guard let front = card.front?.game else { return nil }
        let limit = maxGames(tuning)
        var games = [front]
        // The whole selection is looked through only where few of it have joined.
        for game in kept.selection?.games ?? [] {
            guard games.count < limit else { break }
            if kept.members.contains(game), !games.contains(game) { games.append(game) }
        }
        for game in kept.members {
            guard games.count < limit else { break }
            if !games.contains(game) { games.append(game) }
        }
        return SlateArrangement(games: games, spoilerFree: kept.settings.spoilerFree)
    }
}
