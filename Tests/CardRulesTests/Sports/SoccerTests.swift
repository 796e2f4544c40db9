import Testing

@testable import CardRules

@Suite struct SoccerTests {
    private func game(
        _ home: Int?, _ away: Int?, _ period: Int?, _ clock: String?, _ phase: Phase = .live,
        red: [Int]? = nil
    ) -> GameState {
        Situation.game(
            .soccer, home, away, period, clock, phase,
            red.map { ["red": .array($0.map { .integer(Int64($0)) })] })
    }

    @Test func `T9: close finish in soccer is from minute 80 on within a goal, stoppage time included`() {
        #expect(Situation.kinds(game(1, 2, 2, "80:00")) == [.closeFinish])
        #expect(Situation.kinds(game(1, 2, 2, "79:59")).isEmpty)
        #expect(Situation.kinds(game(1, 2, 2, "94:10")) == [.closeFinish])
        #expect(Situation.kinds(game(1, 3, 2, "94:10")).isEmpty)
        #expect(Situation.kinds(game(1, 1, 1, "47:30")).isEmpty, "stoppage time of the first half is no minute 80")
        #expect(Situation.kinds(game(1, 1, 1, "85:00")).isEmpty, "no first half lasts so long")
    }

    @Test func `T9: extra time is overtime, the fifth period a shootout whatever its clock, a sixth is nothing`() {
        #expect(Situation.kinds(game(1, 1, 3, "95:00")) == [.overtime, .closeFinish])
        #expect(Situation.kinds(game(1, 3, 4, "118:00")) == [.overtime])
        #expect(Situation.kinds(game(1, 1, 5, nil)) == [.shootout, .overtime])
        #expect(Situation.kinds(game(1, 1, 5, "120:00")) == [.shootout, .overtime])
        #expect(Situation.kinds(game(1, 1, 99, nil)).isEmpty)
        for period in 3...5 { #expect(Situation.isBeyondRegulation(game(1, 1, period, nil))) }
        #expect(!Situation.isBeyondRegulation(game(1, 1, 2, "97:00")))
    }

    @Test func `T9: comeback in soccer is from two goals behind; upset is from three quarters of the time on`() {
        var behind = game(2, 2, 2, "60:00")
        behind.history.note(lead: -2)
        #expect(Situation.kinds(behind) == [.comeback])
        var ahead = game(0, 2, 2, "67:31")
        ahead.favourite = .home
        #expect(Situation.kinds(ahead) == [.upset])
        ahead.clock = "67:30"
        #expect(Situation.kinds(ahead) == [.upset], "the last quarter begins")
        ahead.clock = "67:29"
        #expect(Situation.kinds(ahead).isEmpty)
    }

    @Test func `T9: no clock, or one that cannot be read, leaves open how late it is`() {
        for clock in [nil, "x", "", "80'", "-1:00"] {
            #expect(Situation.kinds(game(1, 1, 2, clock)).isEmpty)
            #expect(Situation.worth(game(1, 1, 2, clock)) <= Situation.worth(game(1, 1, 2, "45:00")))
        }
        #expect(Situation.kinds(game(1, 1, nil, "94:00")).isEmpty)
    }

    @Test func `T9: a draw ends like any other game`() {
        #expect(Situation.kinds(game(1, 1, 2, "94:00", .final)).isEmpty)
        #expect(Situation.worth(game(1, 1, 2, "94:00", .final)) <= 25)
        #expect(Situation.worth(game(1, 1, 2, "94:00", .postponed)) == 0)
    }

    @Test func `T10: a leader with fewer men is nearer to being caught, a trailing side with fewer is not farther`() {
        let full = game(1, 0, 2, "70:00")
        #expect(Situation.worth(game(1, 0, 2, "70:00", red: [1, 0])) > Situation.worth(full) + 3)
        #expect(Situation.worth(game(1, 0, 2, "70:00", red: [0, 1])) == Situation.worth(full))
        #expect(Situation.worth(game(1, 0, 2, "70:00", red: [1, 1])) == Situation.worth(full))
        #expect(Situation.worth(game(1, 0, 2, "70:00", red: [-4, -9])) == Situation.worth(full))
    }

    @Test(
        arguments: [
            (0, 0, 1, "20:00", 45.0...55), (1, 1, 2, "60:00", 60...75), (1, 1, 2, "85:00", 80...100),
            (1, 1, 2, "93:00", 80...100), (1, 0, 2, "60:00", 40...55), (1, 0, 2, "85:00", 35...60),
            (2, 0, 2, "60:00", 22...35), (2, 0, 2, "85:00", 15...25), (3, 0, 2, "70:00", 15...25),
            (4, 0, 1, "45:00", 15...25), (1, 1, 5, nil, 80...100), (1, 1, 4, "110:00", 80...100),
        ] as [(Int, Int, Int, String?, ClosedRange<Double>)])
    func `T10: a minute of soccer is worth what can still happen`(
        home: Int, away: Int, period: Int, clock: String?, expected: ClosedRange<Double>
    ) {
        #expect(expected.contains(Situation.worth(game(home, away, period, clock))))
    }
}
