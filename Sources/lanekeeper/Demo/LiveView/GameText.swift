import CardRules

extension GameFace {
    /// A game as the slate has it.
    init(_ game: RankedGame) {
        let tellsScore = game.phase != .pre && game.phase != .postponed
        self.init(
            away: game.away, home: game.home, awayScore: tellsScore ? game.awayScore : nil,
            homeScore: tellsScore ? game.homeScore : nil,
            time: timeText(
                game.phase, sport: game.sport, period: game.period, clock: game.clock, startsAt: game.startsAt),
            moments: game.moments.map(\.words))
    }

    /// A game as a card on a phone shows it: of a spoiler-free card teams and phase only.
    init(_ game: SlateContent.Game, spoilerFree: Bool) {
        let time =
            spoilerFree
            ? phaseText(game.phase)
            : timeText(game.phase, sport: Sport(game.sport), period: game.period, clock: game.clock, startsAt: nil)
        let tellsScore = game.phase != .pre && !spoilerFree
        self.init(
            away: game.away, home: game.home, awayScore: tellsScore ? game.awayScore : nil,
            homeScore: tellsScore ? game.homeScore : nil, time: time,
            moments: spoilerFree ? [] : [game.moment].compactMap { $0?.words })
    }
}

/// `Q4 02:31`, `P3`, `inning 9`, `live`; of a game that is not under way its phase, or when it begins.
private func timeText(_ phase: Phase, sport: Sport, period: Int?, clock: String?, startsAt: WallTime?) -> String {
    guard phase == .live else {
        if phase == .pre, let startsAt { return String(clockText(startsAt).prefix(5)) }
        return phaseText(phase)
    }
    guard let period else { return clock ?? phaseText(phase) }
    let name =
        switch sport {
        case .basketball, .football: period > 4 ? "OT" : "Q\(period)"
        case .hockey: period > 3 ? "OT" : "P\(period)"
        case .baseball: "inning \(period)"
        case .soccer: period > 2 ? "ET" : "half \(period)"
        case .other: "period \(period)"
        }
    return [name, clock].compactMap { $0 }.joined(separator: " ")
}

private func phaseText(_ phase: Phase) -> String {
    switch phase {
    case .pre: "to come"
    case .live: "live"
    case .break: "break"
    case .final: "final"
    case .postponed: "postponed"
    }
}

extension MomentKind {
    /// For people.
    var words: String {
        switch self {
        case .overtime: "overtime"
        case .shootout: "shootout"
        case .walkOffChance: "walk-off chance"
        case .closeFinish: "close finish"
        case .comeback: "comeback"
        case .upset: "upset"
        }
    }
}
