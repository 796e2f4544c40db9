extension LaneState {
    /// R7: a wall clock that was set back must not hold anything longer than its rule says. What lies in the future
    /// now, though it has happened, counts as happening now; waits of this process go on for as long as they had left.
    ///
    /// After a restart nobody knows whether it was set back: what is kept is held to the same.
    mutating func followClock(to now: WallTime, tuning: Tuning) {
        defer { lastTurnAt = now }
        guard now < lastTurnAt else { return }
        let step = lastTurnAt == .distantFuture ? 0 : now.seconds(since: lastTurnAt)
        for index in sending.indices { sending[index].follow(step, to: now) }
        for index in oldEnds.indices { oldEnds[index].retryAt = oldEnds[index].retryAt?.advanced(bySeconds: step) }
        for index in kept.cards.indices { kept.cards[index].follow(to: now) }
        for index in kept.ledger.keys.indices { kept.ledger.keys[index].lastAcceptedAt.limit(to: now) }
        kept.selection?.arrivedAt.limit(to: now)
        kept.selection?.syncedAt.limit(to: now)
        kept.pushToStart?.reportedAt.limit(to: now)
        let limit = now.advanced(bySeconds: tuning.life.limitSeconds)
        for index in kept.owedEnds.indices where kept.owedEnds[index].limit > limit {
            kept.owedEnds[index].limit = limit
        }
        if let deferred = kept.deferred, deferred.isGatewayHold {
            let longest = max(tuning.gateway.serverErrorSeconds, tuning.gateway.slowMaxSeconds)
            kept.deferred?.until = deferred.until.map {
                min($0.advanced(bySeconds: step), now.advanced(bySeconds: longest))
            }
        }
        if kept.ledger.from.seconds(since: now) >= 86_400 {
            // The night of a day that has not come: what was spent counts for this one.
            let night = NightSpan(containing: now, in: zone, rollsAtMinute: tuning.night.rollsAtMinute)
            kept.ledger.to = night.to
        }
        if let until = madeUp?.until { madeUp?.until = until.advanced(bySeconds: step) }
        for index in kept.sessions.indices {
            guard let pending = kept.sessions[index].pending, pending.isGatewayHold else { continue }
            kept.sessions[index].pending?.until = pending.until?.advanced(bySeconds: step)
        }
        for index in kept.probes.indices { kept.probes[index].follow(step, to: now) }
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
        tokenReportedAt.limit(to: now)
        guard var front else { return }
        front.since.limit(to: now)
        for index in front.changes.indices { front.changes[index].limit(to: now) }
        front.bench = front.bench.map { Front.Benched(game: $0.game, at: min($0.at, now)) }
        self.front = front
    }
}
