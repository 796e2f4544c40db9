import Testing

@testable import CardRules

@Suite struct FootballTests {
    private func game(
        _ home: Int?, _ away: Int?, _ period: Int?, _ clock: String?, _ phase: Phase = .live, ball: Side? = nil
    ) -> GameState {
        Situation.game(.football, home, away, period, clock, phase, ball.map { ["possession": .string($0.rawValue)] })
    }

    @Test func `T9: close finish in football is the last 5 min within 8 points`() {
        #expect(Situation.kinds(game(21, 13, 4, "05:00")) == [.closeFinish])
        #expect(Situation.kinds(game(21, 13, 4, "05:01")).isEmpty)
        #expect(Situation.kinds(game(22, 13, 4, "01:00")).isEmpty)
        #expect(Situation.kinds(game(21, 21, 3, "01:00")).isEmpty)
    }

    @Test func `T9: an overtime of football is overtime, and a close finish only in its last 5 min`() {
        #expect(Situation.kinds(game(41, 41, 5, "15:00")) == [.overtime])
        #expect(Situation.kinds(game(44, 41, 5, "04:12")) == [.overtime, .closeFinish])
        #expect(Situation.isBeyondRegulation(game(44, 41, 5, "04:12")))
        #expect(!Situation.isBeyondRegulation(game(41, 41, 4, "00:00", .break)))
    }

    @Test func `T9: comeback in football is from 14 points behind`() {
        var behind = game(24, 24, 3, "08:00")
        behind.history.note(lead: -14)
        #expect(Situation.kinds(behind) == [.comeback])
        var less = game(24, 24, 3, "08:00")
        less.history.note(lead: -13)
        #expect(Situation.kinds(less).isEmpty)
    }

    @Test func `T9: a game that ends level has no moment, and is worth what any final is`() {
        let tie = game(26, 26, 5, "00:00", .final)
        #expect(Situation.kinds(tie).isEmpty)
        #expect(Situation.worth(tie) <= 25)
    }

    @Test func `T10: the trailing side's having the ball raises the worth, nobody's or the leader's does not`() {
        let unknown = game(17, 20, 4, "01:30")
        #expect(Situation.worth(game(17, 20, 4, "01:30", ball: .home)) > Situation.worth(unknown) + 3)
        #expect(Situation.worth(game(17, 20, 4, "01:30", ball: .away)) == Situation.worth(unknown))
        #expect(Situation.worth(game(20, 20, 4, "01:30", ball: .home)) == Situation.worth(game(20, 20, 4, "01:30")))
    }

    @Test(
        arguments: [
            (20, 20, "05:00", 80.0...100), (23, 20, "02:00", 65...90), (27, 20, "05:00", 30...60),
            (28, 20, "02:00", 25...45),
            (30, 20, "05:00", 20...45), (38, 20, "05:00", 15...25), (31, 20, "01:00", 15...25),
            (44, 20, "15:00", 15...25),
        ] as [(Int, Int, String, ClosedRange<Double>)])
    func `T10: a last quarter of football is worth what can still happen`(
        home: Int, away: Int, clock: String, expected: ClosedRange<Double>
    ) {
        #expect(expected.contains(Situation.worth(game(home, away, 4, clock))))
    }
}
