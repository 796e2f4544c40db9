/// Baseball: no clock but innings, halves and outs. An out counts as `outSeconds` of play; only those of the trailing
/// side matter for making up a margin.
struct Baseball: SportModel {
    let tuning: MomentTuning.Baseball
    let swing: WorthTuning.Swing
    let runnerRuns: Double

    var closeMargin: Int { tuning.closeMargin }
    var comebackMargin: Int { tuning.comebackMargin }

    enum Half: String { case top, bottom }

    func stages(of game: GameState) -> [Stage] {
        guard let inning = game.period, inning >= 1, tuning.regulationPeriods >= 1 else { return [] }
        // Where the schedule is unknown this inning may be the last, and there may be as many as there ever are.
        let schedules =
            tuning.scheduledInnings(of: game).map { [$0] }
            ?? [min(inning, tuning.regulationPeriods), tuning.regulationPeriods]
        let halves = half(of: game).map { [$0] } ?? [.top, .bottom]
        let outs = outs(in: game).map { [$0] } ?? [0, 3]
        return schedules.flatMap { scheduled in
            halves.flatMap { half in
                outs.map { stage(inning, half, outs: $0, of: scheduled, trailing: game.leader?.other) }
            }
        }
    }

    private func stage(_ inning: Int, _ half: Half, outs: Int, of scheduled: Int, trailing: Side?) -> Stage {
        let isTop = half == .top
        let leftOfHalf = 3 - outs
        let leftOfInning = isTop ? 3 + leftOfHalf : leftOfHalf
        let leftOfTrailing =
            switch trailing {
            case .home: isTop ? 3 : leftOfHalf
            case .away: isTop ? leftOfHalf : 0
            case nil: leftOfInning
            }
        let inningsAfter = max(0, scheduled - inning)
        let isOvertime = inning > scheduled
        let played = Double(scheduled - inningsAfter) * 6 - Double(leftOfInning)
        return Stage(
            sharePlayed: isOvertime ? 1 : played / Double(scheduled * 6),
            secondsLeft: Double(inningsAfter * 3 + leftOfTrailing) * tuning.outSeconds,
            periodSecondsLeft: Double(leftOfInning) * tuning.outSeconds, isFinish: inning >= scheduled,
            isOvertime: isOvertime)
    }

    /// The trailing side is at bat and has runners on base.
    func relief(in game: GameState) -> Double {
        guard let half = half(of: game), let leader = game.leader, leader == (half == .top ? .home : .away) else {
            return 0
        }
        return runnerRuns * Double(runners(in: game))
    }

    /// Bottom of the last scheduled inning or later, fewer than three outs, home not ahead, and a home run would win it.
    func isWalkOffChance(_ game: GameState) -> Bool {
        guard half(of: game) == .bottom, let outs = outs(in: game), outs < 3, let lead = game.lead, lead <= 0,
            stages(of: game).allSatisfy(\.isFinish)
        else { return false }
        // Without its bases a home run brings in the batter at least.
        return runners(in: game) + 1 > lead.magnitude
    }

    private func half(of game: GameState) -> Half? { game.detail?["half"]?.text.flatMap(Half.init) }

    /// `nil` for a number that cannot be.
    private func outs(in game: GameState) -> Int? {
        game.detail?["outs"]?.wholeNumber.flatMap { (0...3).contains($0) ? $0 : nil }
    }

    /// Of `1-3`, two; none where the bases are unknown.
    private func runners(in game: GameState) -> Int {
        let bases = game.detail?["bases"]?.text ?? ""
        return ["1", "2", "3"].count { bases.contains($0) }
    }
}

extension MomentTuning.Baseball {
    /// How many innings the game's detail says; `nil` where it says nothing, or more than there ever are.
    func scheduledInnings(of game: GameState) -> Int? {
        guard let innings = game.detail?["innings"]?.wholeNumber, (1...max(1, regulationPeriods)).contains(innings)
        else { return nil }
        return innings
    }
}
