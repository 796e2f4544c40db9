/// What the rules know of one sport. To add a sport: one file beside this one, and its line in `model(of:moments:worth:)`.
protocol SportModel: Sendable {
    /// Where play stands. Several when a missing field leaves it open: what is asked must then hold for all of them,
    /// and a worth is the least of theirs, so that nothing rises because a field is missing (T10).
    /// Empty when the period is unknown.
    func stages(of game: GameState) -> [Stage]
    /// A margin of at most one score (T9).
    var closeMargin: Int { get }
    /// The large margin of T9.
    var comebackMargin: Int { get }
    var swing: WorthTuning.Swing { get }
    /// How much nearer the trailing side is than the score says, as far as the game's detail shows it; 0 or more, and 0
    /// where the detail says nothing (T10).
    func relief(in game: GameState) -> Double
    /// T9: one stroke would win it for home, now. What a missing field leaves open is none.
    func isWalkOffChance(_ game: GameState) -> Bool
}

extension SportModel {
    func relief(in game: GameState) -> Double { 0 }
    func isWalkOffChance(_ game: GameState) -> Bool { false }
}

/// A point in the course of a game.
struct Stage: Hashable, Sendable {
    /// Of regulation, 0...1; 1 from its end on.
    var sharePlayed: Double
    /// Left in regulation, or in the overtime that is being played, for the trailing side to make up its margin.
    var secondsLeft: Double
    /// Left in the period.
    var periodSecondsLeft: Double
    /// The last stretch, in which a close score is a close finish (T9).
    var isFinish = false
    /// Beyond regulation.
    var isOvertime = false
    /// Takes the place of play: `secondsLeft` means nothing.
    var isShootout = false

    static let shootout = Stage(
        sharePlayed: 1, secondsLeft: 0, periodSecondsLeft: 0, isOvertime: true, isShootout: true)
}

/// - Returns: `nil` for a sport without a model of its own: it has phase and stakes only, and no moments (T10).
func model(of sport: Sport, moments: MomentTuning, worth: WorthTuning) -> (any SportModel)? {
    switch sport {
    case .basketball: Basketball(tuning: moments.basketball, swing: worth.basketball)
    case .hockey: Hockey(tuning: moments.hockey, swing: worth.hockey)
    case .football:
        Football(tuning: moments.football, swing: worth.football, possessionPoints: worth.possessionPoints)
    case .baseball: Baseball(tuning: moments.baseball, swing: worth.baseball, runnerRuns: worth.runnerRuns)
    case .soccer: Soccer(tuning: moments.soccer, swing: worth.soccer, redCardGoals: worth.redCardGoals)
    case .other: nil
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
        case .baseball: tuning.baseball.scheduledInnings(of: game) ?? tuning.baseball.regulationPeriods
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
    /// The last stretch of the last period, and of an overtime.
    var closeSeconds: Double

    func stages(period: Int?, clock: String?) -> [Stage] {
        guard let period, period >= 1, regulationPeriods >= 1 else { return [] }
        let isOvertime = period > regulationPeriods
        let length = isOvertime ? overtimeSeconds : periodSeconds
        let total = Double(regulationPeriods) * periodSeconds
        let known = clock.flatMap { clockSeconds($0) }
        // An overtime may be longer than the usual one, as in playoffs; a period may not.
        let possible: [Double] = known.map { [isOvertime ? $0 : min($0, length)] } ?? [length, 0]
        return possible.map { left in
            let secondsLeft = isOvertime ? left : Double(regulationPeriods - period) * periodSeconds + left
            return Stage(
                sharePlayed: isOvertime || total <= 0 ? 1 : 1 - secondsLeft / total, secondsLeft: secondsLeft,
                periodSecondsLeft: left,
                isFinish: known != nil && period >= regulationPeriods && left <= closeSeconds,
                isOvertime: isOvertime)
        }
    }
}
