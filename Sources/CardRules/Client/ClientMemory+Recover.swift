extension ClientMemory {
    /// What the app does with the cards it finds: at launch, also one in the background, on every new activity or
    /// change of one, and when the app comes to the front. Adopt only (C2): nothing that stands is ended because it is
    /// stale (C1), has no token yet (C3), or was not expected; and code in the background ends nothing at all (E4).
    ///
    /// Of several that stand under one key the newest is kept (`began`, or else when it was first seen), and a
    /// foreground app ends the others. Of those that are the newest together, which cannot be told apart, none is
    /// ended here: the server gets their tokens and ends the older (L3).
    ///
    /// One that had ended before the app saw it is reported too: it proves that a start became a card (L9).
    /// An activity that is gone from the list is reported as ended. So is a dismissed one that the app ended, that was
    /// seen ended before, or whose limit has passed: iOS took it away, not its owner (L5).
    ///
    /// - Parameters:
    ///   - activities: every one of `Activity<...>.activities`, all attributes types together, in any order. Do not
    ///     call it with a part of them: what is missing counts as gone.
    ///   - isForeground: the scene is active.
    /// - Returns: empty only when there is nothing and nothing is owed. Calling it again is harmless.
    public mutating func recover(
        _ activities: [ClientActivity], isForeground: Bool, at now: WallTime, tuning: Tuning = Tuning()
    ) -> [ClientAction] {
        var actions: [ClientAction] = []
        for activity in activities where activity.state != .pending {
            let isKnown = self[activity.id] != nil
            if !isKnown { remember(activity, at: now) }
            if activity.state.isAlive { actions.append(isKnown ? .keep(activity.id) : .adopt(activity.id)) }
        }
        let surplus = isForeground ? surplus(of: activities) : []
        for activity in activities where activity.state.isAlive && !surplus.contains(activity.id) {
            actions += reports(of: activity, at: now)
        }
        for activity in activities where activity.state == .ended || activity.state == .dismissed {
            noteEnd(of: activity, at: now, tuning: tuning)
        }
        noteMissing(besides: activities, at: now)
        actions += owedReports()
        for id in surplus {
            change(id) { $0.isEndedByApp = true }
            actions.append(.end(id))
        }
        self.activities.removeAll { known in
            known.isEndReported && !activities.contains { $0.id == known.activity }
        }
        return actions
    }

    /// The older ones of each key, in the order given.
    private func surplus(of activities: [ClientActivity]) -> [ActivityID] {
        let alive = activities.filter(\.state.isAlive)
        return alive.filter { older in
            alive.contains { $0.key == older.key && birth(of: $0) > birth(of: older) }
        }.map(\.id)
    }

    private func birth(of activity: ClientActivity) -> WallTime {
        activity.began ?? self[activity.id]?.firstSeen ?? .distantPast
    }

    private mutating func reports(of activity: ClientActivity, at now: WallTime) -> [ClientAction] {
        guard let known = self[activity.id] else { return [] }
        var actions: [ClientAction] = []
        if let address = activity.updateAddress, known.reportedAddress != addressText(address) {
            actions.append(
                .report(
                    .cardToken(
                        CardToken(
                            key: activity.key, activity: activity.id, address: address, startedBy: known.startedBy,
                            began: activity.began ?? known.firstSeen))))
        }
        if activity.state == .active {
            change(activity.id) { $0.isStaleReported = false }
        } else if !known.isStaleReported {
            actions.append(
                .report(.card(CardReport(key: activity.key, kind: .stale, activity: activity.id, at: now))))
        }
        return actions
    }

    private mutating func noteEnd(of activity: ClientActivity, at now: WallTime, tuning: Tuning) {
        guard let known = self[activity.id], !known.isEndReported else { return }
        let limit = known.firstSeen.advanced(bySeconds: tuning.life.limitSeconds)
        let isOwners =
            activity.state == .dismissed && !known.isEndedByApp && !known.wasSeenEnded && now < limit
        change(activity.id) {
            if activity.state == .ended { $0.wasSeenEnded = true }
            if $0.owedReport == nil { $0.owedReport = OwedReport(kind: isOwners ? .dismissed : .ended, at: now) }
        }
        if isOwners { noteDismissal(of: activity.key, at: now) }
    }

    private mutating func noteMissing(besides activities: [ClientActivity], at now: WallTime) {
        for known in self.activities
        where !known.isEndReported && known.owedReport == nil
            && !activities.contains(where: { $0.id == known.activity })
        {
            change(known.activity) { $0.owedReport = OwedReport(kind: .ended, at: now) }
        }
    }

    private func owedReports() -> [ClientAction] {
        activities.compactMap { known in
            known.owedReport.map {
                .report(
                    .card(CardReport(key: known.key, kind: $0.kind, activity: known.activity, at: $0.at)))
            }
        }
    }
}
