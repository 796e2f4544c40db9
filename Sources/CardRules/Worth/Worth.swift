/// What a game is worth and what that is made of (T10). Points; `total` is within 0...100.
public struct Worth: Hashable, Sendable {
    /// From the phase; of a game under way, what it would be worth if it were decided.
    public var phase: Double
    /// From how open the score is, and how late it is.
    public var tension: Double = 0
    public var leadChanges: Double = 0
    public var stakes: Double = 0

    public var total: Double { min(100, max(0, phase + tension + leadChanges + stakes)) }
}

/// Worth as a pure function of the merged game and its own history (T10): the same on every server and in the app.
///
/// Plain arithmetic and one square root, so that it is the same on every machine. A field that is missing never raises
/// it: without a score or a period a game under way is worth no more than a decided one, without a clock no more than
/// any clock of the period would give (in baseball without half, outs or innings, than any of these), without ranks or
/// spread it has no stakes.
public func worth(of game: GameState, tuning: Tuning) -> Worth {
    let values = tuning.worth
    guard let phase = game.phase else {
        // Only announced: not begun. If there is more than that, its phase has been taken away, and anything may be true.
        let isUntouched = game.homeScore == nil && game.awayScore == nil && game.period == nil && game.clock == nil
        return isUntouched ? Worth(phase: values.prePoints, stakes: stakes(game, values)) : Worth(phase: 0)
    }
    switch phase {
    case .postponed: return Worth(phase: 0)
    case .final: return Worth(phase: values.finalPoints, stakes: stakes(game, values))
    case .pre: return Worth(phase: values.prePoints, stakes: stakes(game, values))
    case .live, .break:
        guard let sport = model(of: game.sport, moments: tuning.moments, worth: values) else {
            let points = phase == .live ? values.unmodelledLivePoints : values.unmodelledBreakPoints
            return Worth(phase: points, stakes: stakes(game, values))
        }
        let decided = Worth(phase: values.decidedPoints)
        guard let lead = game.lead else { return decided }
        let stages = sport.stages(of: game)
        guard !stages.isEmpty else { return decided }
        let margin = max(0, Double(lead.magnitude) - max(0, sport.relief(in: game)))
        return underWay(game, margin: margin, within: stages, swing: sport.swing, isBreak: phase == .break, values)
    }
}

/// Where a missing clock leaves several stages possible, each factor takes its least: a bound below all of them.
private func underWay(
    _ game: GameState, margin: Double, within stages: [Stage], swing: WorthTuning.Swing, isBreak: Bool,
    _ values: WorthTuning
) -> Worth {
    let open = stages.reduce(1.0) { least, stage in
        min(least, stage.isShootout ? 1 : openness(margin: margin, secondsLeft: stage.secondsLeft, swing))
    }
    let level = stages.reduce(Double.infinity) { least, stage in
        return min(least, levelPoints(at: stage, isBreak: isBreak, values))
    }
    let changes = Double(min(game.history.leadChanges, values.leadChangesCounted))
    return Worth(
        phase: values.decidedPoints, tension: open * max(0, level - values.decidedPoints),
        leadChanges: open * changes * values.leadChangePoints, stakes: open * stakes(game, values))
}

/// What a level game is worth at this stage. In the last stretch no pause and no short regulation take it below
/// `levelFinishPoints`.
private func levelPoints(at stage: Stage, isBreak: Bool, _ values: WorthTuning) -> Double {
    if stage.isShootout { return values.shootoutPoints }
    if stage.isOvertime { return values.levelOvertimePoints }
    let share = min(1, max(0, stage.sharePlayed))
    let level = values.levelStartPoints + (values.levelEndPoints - values.levelStartPoints) * share * share
    let paused = isBreak && share < 1 ? level - values.breakPoints : level
    return stage.isFinish ? max(paused, values.levelFinishPoints) : paused
}

/// 1 when level, toward 0 as the margin outgrows what the time left can still turn around.
///
/// Four factors stand in for the bell curve: (1 + z²/6)⁻⁴, with z in usual swings of the margin. Basketball: 3 points
/// with 5 min left 0.75, 6 points 0.35, 10 points 0.09; 8 points with 1 min left 0.03. Football: 8 points with 2 min
/// left 0.20. Baseball: a run with three outs left 0.56, two 0.17. Soccer: a goal with 10 min left 0.52, two 0.11.
func openness(margin: Double, secondsLeft: Double, _ swing: WorthTuning.Swing) -> Double {
    guard margin > 0 else { return 1 }
    let usual = swing.pointsPerRootSecond * max(0, secondsLeft + swing.cushionSeconds).squareRoot()
    guard usual > 0 else { return 0 }
    let z = margin / usual
    let factor = 1 / (1 + z * z / 6)
    return factor * factor * factor * factor
}

/// Two good sides, and two that are well matched.
private func stakes(_ game: GameState, _ values: WorthTuning) -> Double {
    var points = 0.0
    if let home = game.homeRank, let away = game.awayRank, home >= 1, away >= 1, values.rankDepth > 1 {
        let mean = (Double(home) + Double(away)) / 2
        points += values.rankPoints * max(0, 1 - (mean - 1) / (values.rankDepth - 1))
    }
    if let spread = game.spread, values.spreadRange > 0 {
        points += values.spreadPoints * max(0, 1 - abs(spread) / values.spreadRange)
    }
    return points
}
