@testable import CardRules

/// A game as it stands, for tests of the sports' models.
enum Situation {
    static func game(
        _ sport: Sport, _ home: Int?, _ away: Int?, _ period: Int?, _ clock: String? = nil, _ phase: Phase = .live,
        _ detail: [String: JSONValue]? = nil
    ) -> GameState {
        var game = GameState(id: "g1", sport: sport, home: "Boston", away: "Denver")
        game.homeScore = home
        game.awayScore = away
        game.period = period
        game.clock = clock
        game.phase = phase
        game.detail = detail.map { .object($0) }
        return game
    }

    static func baseball(
        _ home: Int?, _ away: Int?, _ inning: Int?, _ half: String?, outs: Int? = 0, bases: String? = "---",
        innings: Int? = 9, _ phase: Phase = .live
    ) -> GameState {
        var detail: [String: JSONValue] = [:]
        detail["half"] = half.map { .string($0) }
        detail["outs"] = outs.map { .integer(Int64($0)) }
        detail["bases"] = bases.map { .string($0) }
        detail["innings"] = innings.map { .integer(Int64($0)) }
        return game(.baseball, home, away, inning, nil, phase, detail)
    }

    static func kinds(_ game: GameState) -> [MomentKind] {
        let tuning = Tuning()
        return moments(of: game, tuning: tuning).kinds(by: tuning.takeover.boosts)
    }

    static func worth(_ game: GameState) -> Double { CardRules.worth(of: game, tuning: Tuning()).total }

    static func isBeyondRegulation(_ game: GameState) -> Bool {
        CardRules.isBeyondRegulation(game, tuning: Tuning().moments)
    }
}
