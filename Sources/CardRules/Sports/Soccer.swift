/// Soccer: two halves whose clock counts up and on into stoppage time, two periods of extra time, a shootout.
struct Soccer: SportModel {
    let tuning: MomentTuning.Soccer
    let swing: WorthTuning.Swing
    let redCardGoals: Double

    var closeMargin: Int { tuning.closeMargin }
    var comebackMargin: Int { tuning.comebackMargin }

    func stages(of game: GameState) -> [Stage] {
        guard let period = game.period, period >= 1, tuning.regulationPeriods >= 1 else { return [] }
        // Beyond the shootout there is nothing: such a period is none.
        guard period < tuning.shootoutPeriod else { return period == tuning.shootoutPeriod ? [.shootout] : [] }

        let regulation = Double(tuning.regulationPeriods) * tuning.periodSeconds
        let isOvertime = period > tuning.regulationPeriods
        let length = isOvertime ? tuning.overtimeSeconds : tuning.periodSeconds
        let whole =
            isOvertime
            ? regulation + Double(tuning.shootoutPeriod - 1 - tuning.regulationPeriods) * tuning.overtimeSeconds
            : regulation
        let begins =
            isOvertime
            ? regulation + Double(period - 1 - tuning.regulationPeriods) * length : Double(period - 1) * length
        let ends = begins + length
        let possible: [Double] =
            if let clock = game.clock, let played = clockSeconds(clock) { [min(ends, max(begins, played))] } else {
                [begins, ends]
            }
        return possible.map { played in
            Stage(
                sharePlayed: isOvertime || regulation <= 0 ? 1 : played / regulation, secondsLeft: whole - played,
                periodSecondsLeft: ends - played,
                isFinish: period >= tuning.regulationPeriods && played >= tuning.closeFromSeconds,
                isOvertime: isOvertime)
        }
    }

    /// The leading side has had more sent off than the trailing one.
    func relief(in game: GameState) -> Double {
        guard let leader = game.leader, case .array(let red) = game.detail?["red"], red.count == 2,
            let home = red[0].wholeNumber, let away = red[1].wholeNumber, (0...11).contains(home),
            (0...11).contains(away)
        else { return 0 }
        return redCardGoals * Double(max(0, leader == .home ? home - away : away - home))
    }
}
