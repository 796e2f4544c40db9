import CardRules

/// Lines for tests: a game that starts at second 10,000.
enum SlateSample {
    static let game = GameID(unchecked: "g1")
    static let startsAt = WallTime(seconds: Int64(10_000))

    static func announce(
        _ game: GameID = game, sport: Sport = .basketball, startsAt: WallTime? = startsAt, at seconds: Int64 = 8000,
        _ change: (inout GamePatch) -> Void = { _ in }
    ) -> SlateLine {
        var patch = GamePatch(game: game, at: WallTime(seconds: seconds))
        patch.sport = .value(sport)
        patch.league = .value("NBA")
        patch.home = .value("Boston")
        patch.away = .value("Denver")
        if let startsAt { patch.startsAt = .value(startsAt) }
        change(&patch)
        return .game(patch)
    }

    static func score(
        _ seconds: Int64, _ game: GameID = game, _ change: (inout ScorePatch) -> Void = { _ in }
    ) -> SlateLine {
        var patch = ScorePatch(game: game, at: WallTime(seconds: seconds))
        change(&patch)
        return .score(patch)
    }

    static func row(
        _ seconds: Int64, _ game: GameID = game, home: Int, away: Int, period: Int, clock: String?, phase: Phase = .live
    ) -> SlateLine {
        score(seconds, game) {
            $0.home = .value(home)
            $0.away = .value(away)
            $0.period = .value(period)
            $0.clock = clock.map { .value($0) } ?? .null
            $0.phase = .value(phase)
        }
    }

    /// Announced, and live at 10,000 with 2-0.
    static func liveSlate(sport: Sport = .basketball, tuning: Tuning = Tuning()) -> Evening {
        let slate = Evening(tuning: tuning)
        _ = slate.apply(announce(sport: sport))
        _ = slate.apply(row(10_000, home: 2, away: 0, period: 1, clock: "11:00"))
        return slate
    }
}

/// A slate whose time is told in Unix seconds. A class, for `#expect` and `#require` take no mutating calls.
final class Evening {
    private(set) var slate: Slate

    init(tuning: Tuning, limits: SlateLimits = SlateLimits()) { slate = Slate(tuning: tuning, limits: limits) }

    /// Without `arrival` the line arrives at the instant it tells.
    func apply(_ line: SlateLine, at arrival: Int64? = nil) -> SlateChange {
        slate.apply(line, at: arrival.map { WallTime(seconds: $0) } ?? line.at)
    }

    func retune(_ tuning: Tuning, at now: Int64) { slate.retune(tuning, at: WallTime(seconds: now)) }

    func snapshot(at now: Int64) -> SlateSnapshot { slate.snapshot(at: WallTime(seconds: now)) }

    func ranked(at now: Int64) -> RankedGame? { snapshot(at: now).game(SlateSample.game) }

    func ranked(atMilliseconds now: Int64) -> RankedGame? {
        slate.snapshot(at: WallTime(milliseconds: now)).game(SlateSample.game)
    }

    func game(_ id: GameID) -> GameState? { slate.game(id) }

    var nextChange: Int64? { slate.nextChange?.unixSeconds }
    var counters: SlateCounters { slate.counters }
    var heldScores: Int { slate.heldScores }
    var count: Int { slate.count }
}
