/// American football: four quarters, then an overtime; a game may end level.
struct Football: SportModel {
    let tuning: MomentTuning.Football
    let swing: WorthTuning.Swing
    let possessionPoints: Double

    var closeMargin: Int { tuning.closeMargin }
    var comebackMargin: Int { tuning.comebackMargin }

    func stages(of game: GameState) -> [Stage] {
        CountdownPeriods(
            regulationPeriods: tuning.regulationPeriods, periodSeconds: tuning.periodSeconds,
            overtimeSeconds: tuning.overtimeSeconds, closeSeconds: tuning.closeSeconds
        ).stages(period: game.period, clock: game.clock)
    }

    /// The trailing side has the ball. Where on the field is left out: a yard line names a club's abbreviation, which
    /// nothing in a slate ties to a side.
    func relief(in game: GameState) -> Double {
        guard let trailing = game.leader?.other, game.detail?["possession"]?.text == trailing.rawValue else { return 0 }
        return possessionPoints
    }
}
