extension NightLedger {
    /// Starts spent tonight, of any key and cause (S6).
    public var spent: Int { keys.reduce(0) { $0 + $1.sent + $1.reissued } }

    /// The counts of one key; zeroes where there are none yet. Setting makes the entry.
    public subscript(key: CardKey) -> KeyLedger {
        get { keys.first { $0.key == key } ?? KeyLedger(key: key) }
        set {
            if let index = keys.firstIndex(where: { $0.key == key }) {
                keys[index] = newValue
            } else {
                keys.append(newValue)
            }
        }
    }

    public mutating func countWithheld(_ rule: Rule) {
        if let index = withheld.firstIndex(where: { $0.rule == rule }) {
            withheld[index].count += 1
        } else {
            withheld.append(Withheld(rule: rule, count: 1))
        }
    }

    mutating func noteGone(_ activity: ActivityID) { gone.remember(activity, atMost: Self.goneKept) }

    /// S14: starts were accepted tonight, none became a card, and the app has been silent since.
    public var isUnproven: Bool {
        keys.contains { $0.accepted > 0 } && !keys.contains { $0.acknowledged > 0 } && !hasSignOfLife
    }

    /// The ledger of the night after this one.
    ///
    /// - Parameter standing: games eligible as the night turns; they do not join anew (A3).
    public func next(from: WallTime, to: WallTime, standing: [GameID]) -> NightLedger {
        var next = NightLedger(from: from, to: to)
        let isQuiet = !keys.contains { $0.accepted > 0 }
        next.unprovenNights = isUnproven ? unprovenNights + 1 : isQuiet ? unprovenNights : 0
        next.awaitsToken = awaitsToken
        next.joined = standing
        // S10 does not turn with the night; what lies a night back is of no use to it.
        for key in keys where key.lastAcceptedAt.map({ $0 >= self.from }) == true {
            next[key.key].lastAcceptedAt = key.lastAcceptedAt
        }
        return next
    }

    /// Adds the counts of an older record of the same phone (S7). Ordinals stay each record's own.
    public mutating func add(_ older: NightLedger) {
        for key in older.keys {
            self[key.key].sent += key.sent
            self[key.key].reissued += key.reissued
            self[key.key].accepted += key.accepted
            self[key.key].acknowledged += key.acknowledged
            self[key.key].isDismissed = self[key.key].isDismissed || key.isDismissed
            let last = [self[key.key].lastAcceptedAt, key.lastAcceptedAt].compactMap { $0 }.max()
            self[key.key].lastAcceptedAt = last
        }
        joined += older.joined.filter { !joined.contains($0) }
        for activity in older.gone { noteGone(activity) }
        unprovenNights = max(unprovenNights, older.unprovenNights)
    }
}
