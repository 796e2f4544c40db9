/// Ice hockey: three periods, an overtime, and a shootout, which has no clock. In playoffs overtimes go on, with one.
struct Hockey: SportModel {
    let tuning: MomentTuning.Hockey
    let swing: WorthTuning.Swing

    var closeMargin: Int { tuning.closeMargin }
    var comebackMargin: Int { tuning.comebackMargin }

    func stages(of game: GameState) -> [Stage] {
        guard !isShootout(game) else { return [.shootout] }
        return CountdownPeriods(
            regulationPeriods: tuning.regulationPeriods, periodSeconds: tuning.periodSeconds,
            overtimeSeconds: tuning.overtimeSeconds, closeSeconds: tuning.closeSeconds
        ).stages(period: game.period, clock: game.clock)
    }

    private func isShootout(_ game: GameState) -> Bool {
        guard let period = game.period, period >= tuning.shootoutPeriod else { return false }
        if case .object = game.detail?["shootout"] { return true }
        return game.clock == nil
    }
}
