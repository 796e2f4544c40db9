/// Basketball: four quarters, then overtimes as long as it takes.
struct Basketball: SportModel {
    let tuning: MomentTuning.Basketball
    let swing: WorthTuning.Swing

    var closeMargin: Int { tuning.closeMargin }
    var comebackMargin: Int { tuning.comebackMargin }

    func stages(of game: GameState) -> [Stage] {
        CountdownPeriods(
            regulationPeriods: tuning.regulationPeriods, periodSeconds: tuning.periodSeconds,
            overtimeSeconds: tuning.overtimeSeconds, closeSeconds: tuning.closeSeconds
        ).stages(period: game.period, clock: game.clock)
    }
}
