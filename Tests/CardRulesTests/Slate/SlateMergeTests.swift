import CardRules
import Testing

@Suite struct SlateMergeTests {
    @Test func `C5: a key left out keeps its value, null clears it, detail is replaced whole`() throws {
        let slate = SlateSample.liveSlate()
        let first: [String: JSONValue] = ["possession": .string("home"), "play": .string("miss")]
        #expect(slate.apply(SlateSample.score(10_010) { $0.detail = .value(.object(first)) }) == .applied)
        #expect(
            slate.apply(
                SlateSample.score(10_020) {
                    $0.clock = .null
                    $0.detail = .value(.object(["play": .string("shot")]))
                }) == .applied)
        let game = try #require(slate.game(SlateSample.game))
        #expect(game.homeScore == 2 && game.period == 1 && game.phase == .live)
        #expect(game.clock == nil)
        #expect(game.detail == .object(["play": .string("shot")]))
    }

    @Test func `C5: unknown keys are kept, and cleared by null`() {
        let slate = SlateSample.liveSlate()
        _ = slate.apply(SlateSample.score(10_010) { $0.others = ["venue": .string("Garden"), "crowd": .integer(9)] })
        _ = slate.apply(SlateSample.score(10_020) { $0.others = ["crowd": .null] })
        #expect(slate.game(SlateSample.game)?.others == ["venue": .string("Garden")])
    }

    @Test func `slates: an older line fills only keys that no later line has set`() throws {
        let slate = Evening(tuning: Tuning())
        _ = slate.apply(SlateSample.announce(), at: 8000)
        _ = slate.apply(SlateSample.score(10_000) { $0.home = .value(2) })
        _ = slate.apply(SlateSample.score(10_100) { $0.clock = .value("09:00") })
        let late = SlateSample.score(10_050) {
            $0.clock = .value("10:00")
            $0.home = .value(5)
            $0.period = .value(1)
        }
        #expect(slate.apply(late, at: 10_101) == .applied)
        let game = try #require(slate.game(SlateSample.game))
        #expect(game.clock == "09:00" && game.homeScore == 5 && game.period == 1)
        #expect(
            slate.apply(SlateSample.score(10_050) { $0.clock = .value("10:00") }, at: 10_102) == .ignored(.outdated))
    }

    @Test func `slates: a line sent again changes nothing`() {
        let slate = SlateSample.liveSlate()
        let before = slate.ranked(at: 10_001)
        #expect(
            slate.apply(SlateSample.row(10_000, home: 2, away: 0, period: 1, clock: "11:00"), at: 10_002) == .unchanged)
        #expect(slate.ranked(at: 10_003) == before)
    }

    @Test func `slates: versions order lines, fault 16`() {
        let slate = SlateSample.liveSlate()
        func versioned(_ version: Int64, _ seconds: Int64, home: Int, away: Int) -> SlateLine {
            SlateSample.score(seconds) {
                $0.version = version
                $0.home = .value(home)
                $0.away = .value(away)
            }
        }
        #expect(slate.apply(versioned(41, 10_010, home: 2, away: 1)) == .applied)
        let after41 = slate.ranked(at: 10_010)
        for step in 0..<4 as Range<Int64> {
            #expect(slate.apply(versioned(40, 10_020 + step, home: 2, away: 0)) == .ignored(.version(held: 41)))
            #expect(slate.apply(versioned(41, 10_020 + step, home: 2, away: 1)) == .ignored(.version(held: 41)))
        }
        #expect(slate.ranked(at: 10_030) == after41)
        #expect(slate.apply(versioned(42, 10_040, home: 2, away: 0)) == .applied)
        #expect(slate.ranked(at: 10_040)?.awayScore == 0)
        let clockOnly = SlateSample.score(10_035) {
            $0.version = 43
            $0.clock = .value("08:00")
        }
        #expect(slate.apply(clockOnly, at: 10_050) == .applied)
        #expect(slate.ranked(at: 10_050)?.clock == "08:00")
        #expect(slate.ranked(at: 10_050)?.awayScore == 0)
    }

    @Test func `slates: without versions a score that flips between two sources stays`() {
        let slate = SlateSample.liveSlate()
        _ = slate.apply(SlateSample.score(10_010) { $0.away = .value(1) })
        let before = slate.ranked(at: 10_010)
        for step in 0..<5 as Range<Int64> {
            #expect(slate.apply(SlateSample.score(10_020 + 20 * step) { $0.away = .value(0) }) == .awaitsRepeat)
            #expect(slate.apply(SlateSample.score(10_030 + 20 * step) { $0.away = .value(1) }) == .unchanged)
        }
        #expect(slate.ranked(at: 10_200) == before)
    }

    @Test func `slates: a score that falls counts when the next line repeats it`() {
        let slate = SlateSample.liveSlate()
        let fall = SlateSample.score(10_010) { $0.home = .value(1) }
        #expect(slate.apply(fall) == .awaitsRepeat)
        #expect(slate.apply(fall, at: 10_011) == .awaitsRepeat, "the same line sent again is no repeat")
        #expect(slate.game(SlateSample.game)?.homeScore == 2)
        #expect(slate.apply(SlateSample.score(10_015) { $0.home = .value(1) }) == .applied)
        #expect(slate.game(SlateSample.game)?.homeScore == 1)
    }

    @Test func `slates: a line in between that does not repeat the fall undoes it`() {
        let slate = SlateSample.liveSlate()
        _ = slate.apply(SlateSample.score(10_010) { $0.home = .value(1) })
        _ = slate.apply(SlateSample.score(10_011) { $0.clock = .value("10:30") })
        #expect(slate.apply(SlateSample.score(10_012) { $0.home = .value(1) }) == .awaitsRepeat)
        #expect(slate.game(SlateSample.game)?.homeScore == 2)
        #expect(slate.game(SlateSample.game)?.clock == "10:30")
    }

    @Test func `slates: a marked correction counts at once and takes its traces with it`() {
        let slate = SlateSample.liveSlate()
        _ = slate.apply(SlateSample.score(10_010) { $0.away = .value(80) })
        #expect(slate.game(SlateSample.game)?.history.homeTrailedBy == 78)
        let correction = SlateSample.score(10_020) {
            $0.away = .value(0)
            $0.isCorrection = true
        }
        #expect(slate.apply(correction) == .applied)
        #expect(slate.game(SlateSample.game)?.awayScore == 0)
        #expect(slate.game(SlateSample.game)?.history.homeTrailedBy == 0)
        #expect(slate.game(SlateSample.game)?.history.leadChanges == 0)
    }

    @Test func `slates: a score before its announcement is held, applied with it, dropped after ten minutes`() {
        let slate = Evening(tuning: Tuning())
        #expect(slate.apply(SlateSample.row(9000, home: 3, away: 1, period: 1, clock: "10:00")) == .held)
        #expect(slate.nextChange == 9600)
        #expect(slate.apply(SlateSample.announce(), at: 9599) == .announced)
        #expect(slate.game(SlateSample.game)?.homeScore == 3)
        #expect(slate.heldScores == 0)

        let other = GameID(unchecked: "g2")
        _ = slate.apply(SlateSample.row(9600, other, home: 3, away: 1, period: 1, clock: "10:00"))
        _ = slate.apply(SlateSample.announce(other), at: 10_200)
        #expect(slate.game(other)?.homeScore == nil)
        #expect(slate.counters.heldDropped == 1)
    }

    @Test func `slates: held scores and games are bounded`() {
        var limits = SlateLimits()
        limits.games = 2
        limits.heldScores = 3
        let slate = Evening(tuning: Tuning(), limits: limits)
        for number in 0..<5 as Range<Int64> {
            _ = slate.apply(SlateSample.score(9000 + number, GameID(unchecked: "x\(number)")) { $0.home = .value(1) })
        }
        #expect(slate.heldScores == 3)
        #expect(slate.counters.heldDropped == 2)

        let ids = (1...3).map { GameID(unchecked: "g\($0)") }
        _ = slate.apply(SlateSample.announce(ids[0]), at: 8000)
        _ = slate.apply(SlateSample.announce(ids[1]), at: 8000)
        #expect(slate.apply(SlateSample.announce(ids[2]), at: 8000) == .refused(.slateFull))
        _ = slate.apply(SlateSample.row(9000, ids[0], home: 1, away: 0, period: 4, clock: "00:00", phase: .final))
        #expect(slate.apply(SlateSample.announce(ids[2]), at: 9300) == .announced)
        #expect(slate.game(ids[0]) == nil && slate.count == 2)
    }

    @Test func `slates: in one batch there is room again as soon as a line or other values have let a game go`() {
        var limits = SlateLimits()
        limits.games = 2
        let slate = Evening(tuning: Tuning(), limits: limits)
        let ids = (1...5).map { GameID(unchecked: "g\($0)") }
        for id in ids.prefix(2) { _ = slate.apply(SlateSample.announce(id), at: 8000) }
        #expect(slate.apply(SlateSample.announce(ids[2]), at: 8000) == .refused(.slateFull))
        #expect(
            slate.apply(SlateSample.score(7990, ids[0]) { $0.phase = .value(.postponed) }, at: 8000) == .applied)
        #expect(slate.apply(SlateSample.announce(ids[2]), at: 8000) == .announced)
        #expect(slate.apply(SlateSample.announce(ids[3]), at: 8000) == .refused(.slateFull))
        // Games that have not begun long after their start leave at once.
        var tuning = Tuning()
        tuning.window.stalePreSeconds = -100_000
        slate.retune(tuning, at: 8000)
        #expect(slate.apply(SlateSample.announce(ids[3]), at: 8000) == .announced)
        #expect(slate.game(ids[1]) == nil && slate.game(ids[2]) != nil && slate.count == 2)
    }

    /// A slate that looked at every game for each line too many would take minutes.
    @Test(.timeLimit(.minutes(1))) func `slates: a batch with thousands too many is refused at little cost`() {
        let slate = Evening(tuning: Tuning())
        let limits = SlateLimits()
        let ids = (0..<13_000).map { GameID(unchecked: "g\($0)") }
        let changes = ids.map { slate.apply(SlateSample.announce($0), at: 8000) }
        #expect(changes.prefix(limits.games).allSatisfy { $0 == .announced })
        #expect(changes.dropFirst(limits.games).allSatisfy { $0 == .refused(.slateFull) })
        // As soon as one has left there is room again.
        _ = slate.apply(SlateSample.row(9000, ids[0], home: 1, away: 0, period: 4, clock: "00:00", phase: .final))
        #expect(slate.apply(SlateSample.announce(ids[5000]), at: 9300) == .announced)
        #expect(slate.apply(SlateSample.announce(ids[5001]), at: 9300) == .refused(.slateFull))
    }

    @Test func `slates: a game needs a sport and names`() {
        let slate = Evening(tuning: Tuning())
        #expect(slate.apply(SlateSample.announce { $0.home = .absent }, at: 8000) == .refused(.incomplete(key: "home")))
        _ = slate.apply(SlateSample.announce(), at: 8000)
        #expect(slate.apply(SlateSample.announce(at: 8100) { $0.away = .null }) == .refused(.incomplete(key: "away")))
        #expect(slate.game(SlateSample.game)?.away == "Denver")
    }
}
