import CardRules
import Testing

@testable import Simulation

@Suite struct JudgeSlateTests {
    static let id = GameID(unchecked: "g")
    static func at(_ seconds: Double) -> WallTime { Sample.evening.advanced(bySeconds: seconds) }

    static func slate() -> JudgeSlate {
        var slate = JudgeSlate(window: Tuning().window, rememberSeconds: 240, isKeptAtOnce: true)
        var game = GamePatch(game: id, at: at(-3000))
        game.startsAt = .value(at(0))
        slate.apply(.game(game), at: at(-3000))
        return slate
    }

    static func score(_ seconds: Double, _ change: (inout ScorePatch) -> Void) -> SlateLine {
        var patch = ScorePatch(game: id, at: at(seconds))
        change(&patch)
        return .score(patch)
    }

    @Test func `S11: the window opens five minutes before the start and closes five minutes after the end`() {
        var slate = Self.slate()
        #expect(!slate.isInWindow(Self.id, at: Self.at(-301)))
        #expect(slate.isInWindow(Self.id, at: Self.at(-300)))
        #expect(slate.isInWindow(Self.id, at: Self.at(10_799)))
        #expect(!slate.isInWindow(Self.id, at: Self.at(10_800)))
        slate.apply(Self.score(0) { $0.phase = .value(.live) }, at: Self.at(0))
        #expect(slate.isInWindow(Self.id, at: Self.at(20_000)))
        slate.apply(Self.score(9000) { $0.phase = .value(.final) }, at: Self.at(9004))
        #expect(slate.isInWindow(Self.id, at: Self.at(9299)))
        #expect(!slate.isInWindow(Self.id, at: Self.at(9300)))
        #expect(!slate.isOut(Self.id, for: 60, at: Self.at(9360)))
        #expect(slate.isOut(Self.id, for: 60, at: Self.at(9361)))
    }

    @Test func `a falling score counts only when repeated, corrected or versioned`() {
        for (isCorrection, version) in [(false, nil), (true, nil), (false, 7)] as [(Bool, Int64?)] {
            var slate = Self.slate()
            slate.apply(
                Self.score(1) {
                    $0.home = .value(2)
                    $0.version = version.map { $0 - 1 }
                }, at: Self.at(1))
            let lower = Self.score(2) {
                $0.home = .value(1)
                $0.isCorrection = isCorrection
                $0.version = version
            }
            slate.apply(lower, at: Self.at(2))
            let counts = isCorrection || version != nil
            #expect(slate.games[Self.id]?.face.home == (counts ? 1 : 2))
            slate.apply(lower, at: Self.at(3))
            #expect(slate.games[Self.id]?.face.home == 1)
        }
    }

    @Test func `an older line fills only what no later line has set`() {
        var slate = Self.slate()
        slate.apply(Self.score(10) { $0.home = .value(3) }, at: Self.at(10))
        slate.apply(
            Self.score(5) {
                $0.home = .value(2)
                $0.away = .value(1)
            }, at: Self.at(11))
        #expect(slate.games[Self.id]?.face == JudgeSlate.Face(phase: .pre, home: 3, away: 1))
    }

    @Test func `what a game looked like is remembered for the last minute`() {
        var slate = Self.slate()
        slate.apply(Self.score(10) { $0.home = .value(1) }, at: Self.at(10))
        slate.apply(Self.score(100) { $0.home = .value(2) }, at: Self.at(100))
        #expect(slate.looked(like: { $0.home == 1 }, Self.id, within: 60, at: Self.at(160)))
        #expect(!slate.looked(like: { $0.home == 1 }, Self.id, within: 60, at: Self.at(161)))
        #expect(slate.looked(like: { $0.home == 2 }, Self.id, within: 60, at: Self.at(161)))
    }
}
