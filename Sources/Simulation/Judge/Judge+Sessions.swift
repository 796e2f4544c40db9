public import CardRules

/// A session as its caller has it.
struct SessionView: Sendable {
    let phones: Set<Int>
    var stoppedAt: WallTime?
}

/// I4 and I8: a session that runs is seen, one that was stopped is not.
extension Judge {
    /// The server has answered that it keeps a session.
    public mutating func sessionOpens(_ key: CardKey, phones: [Int], at now: WallTime) {
        sessions[key] = SessionView(phones: Set(phones), stoppedAt: nil)
    }

    /// The server has answered that a session is stopped.
    public mutating func sessionStops(_ key: CardKey, at now: WallTime) {
        sessions[key, default: SessionView(phones: [])].stoppedAt = now
    }

    /// Those that were stopped long enough ago for their cards to be gone, and when.
    func stoppedSessions(at now: WallTime) -> [CardKey: WallTime] {
        sessions.compactMapValues { session in
            session.stoppedAt.flatMap { now.seconds(since: $0) > options.settleSeconds ? $0 : nil }
        }
    }

    /// I8.
    mutating func checkStoppedSessions(
        _ stopped: [CardKey: WallTime], of phone: inout PhoneView, _ number: Int, at now: WallTime
    ) {
        for place in phone.cards.indices where phone.cards[place].key != .slate && phone.cards[place].isAlive {
            let card = phone.cards[place]
            guard let since = stopped[card.key], !card.isLost, !card.faults.contains(SessionView.stands),
                let reported = card.tokenReportedAt, now.seconds(since: reported) > options.settleSeconds
            else { continue }
            phone.cards[place].faults.insert(SessionView.stands)
            let age = Int(now.seconds(since: since))
            add(.i8, number, "the card of \(card.key) stands \(age) s after the session was stopped", at: now)
        }
    }

    /// I4: a card of a running session ends, at its limit or just before, and none has followed it.
    mutating func judgeSuccession(
        of card: CardView, by ending: PhoneEvent.Ending, _ phone: PhoneView, _ number: Int, at now: WallTime
    ) {
        guard card.key != .slate, ending == .limit || ending == .push, card.tokenReportedAt != nil, !card.isLost,
            let session = sessions[card.key], session.stoppedAt == nil, session.phones.contains(number),
            let quietSince, now.seconds(since: quietSince) > tuning.life.limitSeconds - tuning.reissue.afterSeconds,
            now.seconds(since: card.began) > tuning.reissue.afterSeconds,
            phone.isSettled(for: options.settleSeconds, at: now),
            let settings = phone.settings, settings.user != nil, settings.quietHours == nil,
            case .token = settings.pushToStart, phone.startsInAll < tuning.starts.hardCap
        else { return }
        let hasSuccessor = phone.cards.contains { $0.isAlive && $0.key == card.key && $0.activity != card.activity }
        guard !hasSuccessor else { return }
        add(.i4, number, "the card of running \(card.key) ended and none had followed it", at: now)
    }
}

extension SessionView {
    static let stands = "its session is stopped"
}
