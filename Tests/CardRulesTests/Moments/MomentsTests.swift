import CardRules
import Testing

@Suite struct MomentsTests {
    private func game(
        _ sport: Sport, _ home: Int?, _ away: Int?, period: Int?, clock: String?, phase: Phase = .live,
        favourite: Side? = nil, leads: [Int] = []
    ) -> GameState {
        var game = GameState(id: SlateSample.game, sport: sport, home: "Boston", away: "Denver")
        game.homeScore = home
        game.awayScore = away
        game.period = period
        game.clock = clock
        game.phase = phase
        game.favourite = favourite
        for lead in leads { game.history.note(lead: lead) }
        return game
    }

    private func kinds(_ game: GameState) -> [MomentKind] {
        let tuning = Tuning()
        return moments(of: game, tuning: tuning).kinds(by: tuning.takeover.boosts)
    }

    @Test func `T9: close finish in basketball is the last 5 min within 3 points`() {
        #expect(kinds(game(.basketball, 90, 87, period: 4, clock: "05:00")) == [.closeFinish])
        #expect(kinds(game(.basketball, 90, 87, period: 4, clock: "05:01")).isEmpty)
        #expect(kinds(game(.basketball, 91, 87, period: 4, clock: "01:00")).isEmpty)
        #expect(kinds(game(.basketball, 60, 60, period: 3, clock: "01:00")).isEmpty)
        #expect(kinds(game(.basketball, 90, 87, period: 4, clock: "45.3")) == [.closeFinish])
    }

    @Test func `T9: close finish in hockey is the last 3 min within one goal`() {
        #expect(kinds(game(.hockey, 2, 3, period: 3, clock: "03:00")) == [.closeFinish])
        #expect(kinds(game(.hockey, 2, 3, period: 3, clock: "03:01")).isEmpty)
        #expect(kinds(game(.hockey, 2, 4, period: 3, clock: "00:30")).isEmpty)
    }

    @Test func `T9: overtime is play beyond regulation, and a shootout is listed first`() {
        #expect(kinds(game(.basketball, 90, 84, period: 5, clock: "02:00")) == [.overtime])
        #expect(kinds(game(.hockey, 2, 2, period: 4, clock: "04:30")) == [.overtime])
        #expect(kinds(game(.hockey, 2, 2, period: 5, clock: nil)) == [.shootout, .overtime])
        #expect(kinds(game(.hockey, 2, 2, period: 5, clock: "12:00")) == [.overtime], "a second overtime has a clock")
    }

    @Test func `T9: comeback is a side that trailed by the large margin and is level or ahead`() {
        #expect(kinds(game(.basketball, 70, 70, period: 3, clock: "02:00", leads: [-15])) == [.comeback])
        #expect(kinds(game(.basketball, 70, 71, period: 3, clock: "02:00", leads: [-15])).isEmpty)
        #expect(kinds(game(.basketball, 70, 70, period: 3, clock: "02:00", leads: [-14])).isEmpty)
        #expect(kinds(game(.hockey, 3, 4, period: 2, clock: "02:00", leads: [1, 2])) == [.comeback])
    }

    @Test func `T9: upset is a lead of the less favoured side in the last quarter of play`() {
        #expect(kinds(game(.basketball, 80, 90, period: 4, clock: "12:00", favourite: .home)) == [.upset])
        #expect(kinds(game(.basketball, 80, 90, period: 3, clock: "00:00", favourite: .home)).isEmpty)
        #expect(kinds(game(.basketball, 90, 80, period: 4, clock: "10:00", favourite: .home)).isEmpty)
        #expect(kinds(game(.basketball, 80, 90, period: 4, clock: "10:00")).isEmpty)
        #expect(kinds(game(.hockey, 1, 3, period: 3, clock: "15:00", favourite: .home)) == [.upset])
        #expect(kinds(game(.hockey, 1, 3, period: 3, clock: "15:01", favourite: .home)).isEmpty)
        var spread = game(.basketball, 80, 90, period: 4, clock: "10:00")
        spread.spread = -2.5
        #expect(kinds(spread).isEmpty)
        spread.spread = -3
        #expect(kinds(spread) == [.upset])
    }

    @Test func `T9: nothing is on because a field is missing, or without play`() {
        #expect(kinds(game(.basketball, 90, 90, period: 4, clock: nil)).isEmpty)
        #expect(kinds(game(.basketball, nil, 0, period: 4, clock: "00:30")).isEmpty)
        #expect(kinds(game(.basketball, 90, 90, period: nil, clock: "00:30")).isEmpty)
        #expect(kinds(game(.basketball, 90, 90, period: 5, clock: "00:30", phase: .final)).isEmpty)
        #expect(kinds(game(.other("tennis"), 2, 2, period: 5, clock: nil)).isEmpty)
    }

    @Test func `T2: the strongest boost comes first`() {
        let all = game(.hockey, 3, 3, period: 5, clock: nil, favourite: .home, leads: [-2])
        #expect(kinds(all) == [.shootout, .overtime, .comeback])
        var tuning = Tuning()
        tuning.takeover.boosts.comeback = 40
        #expect(moments(of: all, tuning: tuning).kinds(by: tuning.takeover.boosts).first == .comeback)
    }

    @Test(arguments: [
        ("12:00", 720.0), ("0:45", 45), ("00:00", 0), ("45.3", 45.3), ("1:02.5", 62.5), ("120:00", 7200),
    ])
    func `slates: clocks are minutes and seconds, with tenths in the last minute`(text: String, seconds: Double) throws
    {
        #expect(abs(try #require(clockSeconds(text)) - seconds) < 1e-9)
    }

    @Test(arguments: [
        "", ":", "12", "12:", ":30", "1:60", "1:5", "a:bc", "-1:00", "1:00:00", "12:00 ", "1.", "9999:00",
    ])
    func `slates: what is no clock counts as none`(text: String) { #expect(clockSeconds(text) == nil) }
}
