/// What the rules know of one sport. To add a sport: one file beside this one, and its line in `model(of:moments:worth:)`.
protocol SportModel: Sendable {
    /// Where play stands. Several when a missing clock leaves it open: what is asked must then hold for all of them,
    /// and a worth is the least of theirs, so that nothing rises because a field is missing (T10).
    /// Empty when the period is unknown.
    func stages(of game: GameState) -> [Stage]
    /// A margin of at most one score (T9).
    var closeMargin: Int { get }
    /// How late it must be for a close score to be a close finish.
    var closeSeconds: Double { get }
    /// The large margin of T9.
    var comebackMargin: Int { get }
    var swing: WorthTuning.Swing { get }
}

/// A point in the course of a game.
struct Stage: Hashable, Sendable {
    /// Of regulation, 0...1; 1 from its end on.
    var sharePlayed: Double
    /// Left in regulation, or in the overtime that is being played.
    var secondsLeft: Double
    /// Left in the period.
    var periodSecondsLeft: Double
    /// Beyond regulation.
    var isOvertime = false
    /// Takes the place of play: `secondsLeft` means nothing.
    var isShootout = false
    /// The last period of regulation or any later one.
    var isLastPeriod: Bool
}

/// - Returns: `nil` for a sport without a model of its own: it has phase and stakes only, and no moments (T10).
func model(of sport: Sport, moments: MomentTuning, worth: WorthTuning) -> (any SportModel)? {
    switch sport {
    case .basketball: Basketball(tuning: moments.basketball, swing: worth.basketball)
    case .hockey: Hockey(tuning: moments.hockey, swing: worth.hockey)
    case .football, .baseball, .soccer, .other: nil
    }
}

/// Whether play has gone beyond regulation, a shootout included (P2).
///
/// A sport whose regulation is not known counts as beyond it as soon as there is a period: a fifth set tells as much
/// as an overtime does.
func isBeyondRegulation(_ game: GameState, tuning: MomentTuning) -> Bool {
    let regulation: Int? =
        switch game.sport {
        case .basketball: tuning.basketball.regulationPeriods
        case .hockey: tuning.hockey.regulationPeriods
        case .football: tuning.football.regulationPeriods
        case .soccer: tuning.soccer.regulationPeriods
        case .baseball: game.detail?["innings"]?.wholeNumber ?? tuning.baseball.regulationPeriods
        case .other: nil
        }
    guard let period = game.period else { return false }
    return period > (regulation ?? 0)
}

/// A sport of equal periods whose clock counts down.
struct CountdownPeriods: Sendable {
    var regulationPeriods: Int
    var periodSeconds: Double
    var overtimeSeconds: Double

    func stages(period: Int?, clock: String?) -> [Stage] {
        guard let period, period >= 1, regulationPeriods >= 1 else { return [] }
        let isOvertime = period > regulationPeriods
        let length = isOvertime ? overtimeSeconds : periodSeconds
        let total = Double(regulationPeriods) * periodSeconds
        let possible: [Double] =
            if let clock, let left = clockSeconds(clock) { [isOvertime ? left : min(left, length)] } else {
                [length, 0]
            }
        return possible.map { left in
            let secondsLeft = isOvertime ? left : Double(regulationPeriods - period) * periodSeconds + left
            return Stage(
                sharePlayed: isOvertime || total <= 0 ? 1 : 1 - secondsLeft / total, secondsLeft: secondsLeft,
                periodSecondsLeft: left, isOvertime: isOvertime, isLastPeriod: period >= regulationPeriods)
        }
    }
}
