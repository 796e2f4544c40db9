extension LaneState {
    /// R7: a wall clock that was set back must not hold anything longer than its rule says. What lies in the future
    /// now, though it has happened, counts as happening now; waits of this process go on for as long as they had left.
    mutating func followClock(to now: WallTime) {
        defer { lastTurnAt = now }
        guard now < lastTurnAt else { return }
        let step = now.seconds(since: lastTurnAt)
        for index in sending.indices { sending[index].follow(step, to: now) }
        for index in oldEnds.indices { oldEnds[index].retryAt = oldEnds[index].retryAt?.advanced(bySeconds: step) }
        for index in kept.cards.indices { kept.cards[index].follow(to: now) }
        for index in kept.ledger.keys.indices { kept.ledger.keys[index].lastAcceptedAt.limit(to: now) }
        kept.selection?.arrivedAt.limit(to: now)
        kept.selection?.syncedAt.limit(to: now)
        if let deferred = kept.deferred, deferred.isGatewayHold {
            kept.deferred?.until = deferred.until?.advanced(bySeconds: step)
        }
        if let until = madeUp?.until { madeUp?.until = until.advanced(bySeconds: step) }
        for index in kept.sessions.indices {
            guard let pending = kept.sessions[index].pending, pending.isGatewayHold else { continue }
            kept.sessions[index].pending?.until = pending.until?.advanced(bySeconds: step)
        }
        for index in kept.successors.indices { kept.successors[index].follow(step, to: now) }
        quiet = nil
        plans = []
    }
}

extension WallTime {
    fileprivate mutating func limit(to now: WallTime) { self = min(self, now) }
}

extension WallTime? {
    fileprivate mutating func limit(to now: WallTime) { self = map { min($0, now) } }
}

extension Sending {
    fileprivate mutating func follow(_ step: Double, to now: WallTime) {
        lastSentAt.limit(to: now)
        for index in urgentAt.indices { urgentAt[index].limit(to: now) }
        holdUntil = holdUntil?.advanced(bySeconds: step)
        endRetryAt = endRetryAt?.advanced(bySeconds: step)
    }
}

extension Successor {
    fileprivate mutating func follow(_ step: Double, to now: WallTime) {
        claimedAt.limit(to: now)
        ageBegan.limit(to: now)
        if case .refused(let retryAt) = state { state = .refused(retryAt: retryAt.advanced(bySeconds: step)) }
    }
}

extension Card {
    fileprivate mutating func follow(to now: WallTime) {
        claimedAt.limit(to: now)
        ageBegan.limit(to: now)
        guard var front else { return }
        front.since.limit(to: now)
        for index in front.changes.indices { front.changes[index].limit(to: now) }
        front.bench = front.bench.map { Front.Benched(game: $0.game, at: min($0.at, now)) }
        self.front = front
    }
}
