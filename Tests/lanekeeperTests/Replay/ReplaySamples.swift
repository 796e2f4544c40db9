import CardRules
import Intake

@testable import lanekeeper

/// A small evening of two games of tennis, and a third that is called off. Sports without a model have worth by their
/// phase only, and here it is said what.
enum ReplaySamples {
    /// 2023-11-14 22:13:20 UTC.
    static let begin = WallTime(seconds: 1_700_000_000)
    static let (a, b, c) = (GameID(unchecked: "a"), GameID(unchecked: "b"), GameID(unchecked: "c"))

    static var tuning: Tuning {
        var tuning = Tuning()
        tuning.worth.prePoints = 40
        tuning.worth.unmodelledLivePoints = 60
        tuning.worth.unmodelledBreakPoints = 45
        tuning.worth.finalPoints = 10
        return tuning
    }

    static let evening: [SlateLine] = [
        game(a, "Ann", "Bea", at: 0, startsAt: 600), game(b, "Cy", "Dot", at: 0, startsAt: 600),
        score(a, .live, at: 600), game(c, "Eve", "Fay", at: 650, startsAt: 800), score(b, .live, at: 700),
        score(c, .postponed, at: 720), score(a, .break, at: 800), score(b, .final, at: 810),
        score(a, .final, at: 900),
    ]

    static func game(
        _ game: GameID, _ away: String, _ home: String, at seconds: Double, startsAt: Double,
        sport: Sport = .other("tennis")
    ) -> SlateLine {
        var patch = GamePatch(game: game, at: begin.advanced(bySeconds: seconds))
        patch.sport = .value(sport)
        patch.home = .value(home)
        patch.away = .value(away)
        patch.startsAt = .value(begin.advanced(bySeconds: startsAt))
        return .game(patch)
    }

    static func score(
        _ game: GameID, _ phase: Phase, at seconds: Double, home: Int = 3, away: Int = 7, period: Int = 1
    ) -> SlateLine {
        var patch = ScorePatch(game: game, at: begin.advanced(bySeconds: seconds))
        patch.phase = .value(phase)
        patch.home = .value(home)
        patch.away = .value(away)
        patch.period = .value(period)
        return .score(patch)
    }

    /// One phone's night.
    static func night(
        _ phone: ReplayPhone = ReplayPhone(), of lines: [SlateLine] = evening, tuning: Tuning = tuning
    ) -> ReplayNight? {
        ReplayEngine.nights(
            of: SlateTick.ticks(of: lines), phones: [phone], following: [a, b, c], tuning: tuning
        ).first
    }
}
