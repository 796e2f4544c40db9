internal import CardRules

/// The front of a card as the server last changed it.
struct FrontChange: Sendable {
    let at: WallTime
    /// The game that lost the front.
    let from: GameID
    /// Nothing held it back: it was sent when it was decided.
    let isPrompt: Bool
}

/// I9: T4 and T5, by what passes the gateway. Judged only where nothing but the rules can have set the time between two
/// changes: no push under way or failed before the first, no news of the app, no restart.
extension Judge {
    /// An update has come to a gateway; the card is still as the pushes before it left it.
    mutating func judgeFlicker(
        _ content: SlateContent, _ attempt: PushAttempt, place: Int, of phone: inout PhoneView, _ number: Int
    ) {
        let now = attempt.at
        var card = phone.cards[place]
        defer {
            card.lastPushAt = now
            phone.cards[place] = card
        }
        guard attempt.status == 200, card.key == .slate else { return }
        let isPrompt =
            !card.isDirty && card.lastPushAt.map { now.seconds(since: $0) > options.answerSeconds } ?? false
            && now.seconds(since: attempt.queuedAt ?? now) < options.inFlightSeconds
        let before = card.accepted?.front
        if let before, before != content.front {
            // A3: where taste fills the set, a game that leaves the card may have been displaced, which is T6.
            let stays = content.games.contains { $0.id == before }
            if let change = card.change, change.isPrompt, !card.isDirty, stays, isQuiet(phone, since: change.at) {
                judge(change, next: content.front, after: before, card: card, phone: phone, number, at: now)
            }
            card.change = FrontChange(at: now, from: before, isPrompt: isPrompt)
        }
        var calm: [GameID: WallTime] = [:]
        for game in content.games where game.moment == nil && !content.spoilerFree {
            calm[game.id] = card.calmSince[game.id] ?? now
        }
        card.calmSince = calm
    }

    private mutating func judge(
        _ change: FrontChange, next: GameID, after front: GameID, card: CardView, phone: PhoneView, _ number: Int,
        at now: WallTime
    ) {
        guard phone.selection?.pinned != next, !mustGo(front, phone: phone, at: now) else { return }
        let seconds = now.seconds(since: change.at)
        if seconds < tuning.takeover.settleSeconds - options.inFlightSeconds {
            add(.i9, number, "\(front) stood in front for \(Int(seconds)) s only", at: now)
        }
        // A front that was won by a moment gives way when that is over (T11), a minute after it was last seen.
        let tail = tuning.takeover.tailSeconds + options.inFlightSeconds
        let isCalm = card.calmSince[front].map { change.at.seconds(since: $0) > tail } ?? false
        if next == change.from, isCalm, seconds < tuning.takeover.benchSeconds - options.inFlightSeconds {
            add(.i9, number, "\(next) was back in front after \(Int(seconds)) s on the bench", at: now)
        }
    }

    /// The app has said nothing and no lane has restarted since a little before then.
    private func isQuiet(_ phone: PhoneView, since time: WallTime) -> Bool {
        let since = time.advanced(bySeconds: -options.answerSeconds)
        return phone.underWay == 0
            && ![phone.selectedAt, phone.lastRegisteredAt].contains { $0.map { $0 >= since } ?? false }
            && !hasRestarted(phone, from: since)
    }
}
