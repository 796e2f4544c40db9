import Testing

@testable import CardRules

@Suite struct WorthTests {
    private let tuning = Tuning()

    private func points(_ game: GameState) -> Double { worth(of: game, tuning: tuning).total }

    private func game(
        _ sport: Sport, _ home: Int, _ away: Int, _ period: Int, _ clock: String?, _ phase: Phase = .live
    ) -> GameState {
        var game = GameState(id: SlateSample.game, sport: sport, home: "Boston", away: "Denver")
        game.homeScore = home
        game.awayScore = away
        game.period = period
        game.clock = clock
        game.phase = phase
        return game
    }

    @Test(arguments: ["05:00", "03:20", "01:00", "00:00"])
    func `T10: tied in the last five minutes is worth 80 or more`(clock: String) {
        #expect(points(game(.basketball, 90, 90, 4, clock)) >= 80)
        #expect(points(game(.basketball, 99, 99, 5, clock)) >= 80)
        #expect(points(game(.hockey, 2, 2, 3, clock)) >= 80)
        #expect(points(game(.hockey, 2, 2, 4, clock)) >= 80)
        #expect(points(game(.hockey, 2, 2, 3, clock, .break)) >= 80 || clock != "00:00")
    }

    @Test func `T10: a shootout is worth 80 or more`() { #expect(points(game(.hockey, 2, 2, 5, nil)) >= 80) }

    @Test(arguments: [
        (Sport.basketball, 110, 90, 4, "05:00"), (.basketball, 100, 90, 4, "01:00"), (.basketball, 97, 90, 4, "00:20"),
        (.basketball, 90, 75, 4, "10:00"), (.basketball, 80, 50, 3, "06:00"), (.hockey, 5, 1, 3, "10:00"),
        (.hockey, 5, 2, 3, "05:00"), (.hockey, 4, 2, 3, "00:30"),
    ])
    func `T10: a decided game is worth 25 or less, whatever its stakes`(
        sport: Sport, home: Int, away: Int, period: Int, clock: String
    ) {
        var game = game(sport, home, away, period, clock)
        game.homeRank = 1
        game.awayRank = 2
        game.spread = 0
        for lead in [1, -1, 1, -1, 1, -1, 1, -1, 1, -1] { game.history.note(lead: lead) }
        #expect(points(game) <= 25)
        game.phase = .final
        #expect(points(game) <= 25)
    }

    @Test func `T10: about to begin is worth around 40`() {
        var game = GameState(id: SlateSample.game, sport: .basketball, home: "Boston", away: "Denver")
        #expect((36...45).contains(points(game)))
        game.phase = .pre
        game.homeRank = 1
        game.awayRank = 1
        game.spread = 0
        #expect((36...45).contains(points(game)))
        game.phase = .postponed
        #expect(points(game) == 0)
    }

    @Test func `T10: worth rises with closeness, stage, lead changes and stakes`() {
        #expect(points(game(.basketball, 90, 88, 4, "05:00")) > points(game(.basketball, 90, 84, 4, "05:00")))
        #expect(points(game(.basketball, 90, 90, 4, "05:00")) > points(game(.basketball, 60, 60, 3, "05:00")))
        #expect(points(game(.hockey, 1, 1, 3, "05:00")) > points(game(.hockey, 1, 1, 2, "05:00")))
        #expect(points(game(.hockey, 1, 1, 4, "05:00")) > points(game(.hockey, 1, 1, 3, "00:00")))
        let plain = game(.basketball, 90, 89, 4, "02:00")
        var swung = plain
        for lead in [1, -1, 1] { swung.history.note(lead: lead) }
        #expect(points(swung) > points(plain))
        var great = plain
        great.homeRank = 1
        great.awayRank = 3
        #expect(points(great) > points(plain))
        var even = plain
        even.spread = 0.5
        var uneven = plain
        uneven.spread = 9
        #expect(points(even) > points(uneven) && points(uneven) >= points(plain))
    }

    @Test func `T10: a sport without a model has phase and stakes only`() {
        let close = game(.other("tennis"), 2, 2, 5, nil)
        let clear = game(.other("tennis"), 2, 0, 3, nil)
        #expect(points(close) == points(clear))
        #expect(points(close) > points(game(.other("tennis"), 0, 0, 0, nil, .pre)))
    }

    /// Every state of a grid, every one of its fields taken away: worth may fall, never rise.
    @Test(arguments: [Sport.basketball, .hockey, .soccer, .football, .baseball])
    func `T10: worth never rises because a field is missing`(sport: Sport) {
        let erasers: [(String, (inout GameState) -> Void)] = [
            ("home", { $0.homeScore = nil }), ("away", { $0.awayScore = nil }), ("period", { $0.period = nil }),
            ("clock", { $0.clock = nil }), ("homeRank", { $0.homeRank = nil }), ("awayRank", { $0.awayRank = nil }),
            ("spread", { $0.spread = nil }), ("favourite", { $0.favourite = nil }), ("phase", { $0.phase = nil }),
            ("detail", { $0.detail = nil }), ("startsAt", { $0.startsAt = nil }),
        ]
        let margins = sport == .basketball ? [0, 1, 3, 6, 10, 15, 25] : [0, 1, 2, 3, 5]
        for phase in Phase.allCases {
            for period in 0...6 {
                for clock in ["20:00", "12:00", "09:30", "05:00", "02:10", "00:40", "00:00"] {
                    for margin in margins {
                        var full = game(sport, 50 + margin, 50, period, clock, phase)
                        full.homeRank = 3
                        full.awayRank = 5
                        full.spread = -1
                        full.favourite = .home
                        full.history.note(lead: -1)
                        full.history.note(lead: 1)
                        for (name, erase) in erasers {
                            var less = full
                            erase(&less)
                            let isShootout = sport == .hockey && name == "clock" && period >= 5
                            guard !isShootout else { continue }  // without a clock this is another game: a shootout
                            #expect(
                                points(less) <= points(full) + 1e-9, "\(name), \(phase) \(period) \(clock) \(margin)")
                        }
                    }
                }
            }
        }
    }

    private static let detailKeys = [
        "possession", "half", "outs", "bases", "innings", "red", "shootout", "strength", "play",
    ]

    private static func anyGame(_ sport: Sport, _ random: inout SeededGenerator) -> GameState {
        var game = GameState(id: "g1", sport: sport, home: "Boston", away: "Denver")
        game.homeScore = random.pick([0, 1, 2, 3, 7, 20])
        game.awayScore = random.pick([0, 1, 2, 3, 7, 20])
        game.period = random.pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12])
        game.clock = random.pick(["00:00", "00:30", "04:00", "11:00", "44:00", "81:00", "93:10", "107:00", "120:00"])
        game.phase = random.pick([.live, .live, .live, .break, .pre, .final])
        game.homeRank = Int.random(in: 1...20, using: &random)
        game.awayRank = Int.random(in: 1...20, using: &random)
        game.spread = Double.random(in: -9...9, using: &random)
        game.favourite = random.pick([.home, .away])
        for _ in 0..<Int.random(in: 0...4, using: &random) { game.history.note(lead: random.pick([-5, -1, 1, 5])) }
        let red: [JSONValue] = [.integer(random.pick([0, 1, 2])), .integer(random.pick([0, 1]))]
        game.detail = .object([
            "possession": .string(random.pick(["home", "away"])), "half": .string(random.pick(["top", "bottom"])),
            "outs": .integer(random.pick([0, 1, 2, 3])), "bases": .string(random.pick(["---", "1--", "-23", "123"])),
            "innings": .integer(random.pick([5, 7, 9])), "red": .array(red), "play": .string("any"),
        ])
        return game
    }

    /// Whole games at random; each field, and each key of the detail, taken away, made null or made nonsense.
    @Test(arguments: [Sport.basketball, .hockey, .soccer, .football, .baseball])
    func `T9, T10: neither worth nor moments come from a field that is missing, whatever the game`(sport: Sport) {
        var random = SeededGenerator(seed: 910)
        for step in 0..<1500 {
            let full = Self.anyGame(sport, &random)
            let mayBeShootout = sport == .hockey && (full.period ?? 0) >= 5  // its lines have no clock
            func check(_ name: String, _ erase: (inout GameState) -> Void) {
                var less = full
                erase(&less)
                #expect(points(less) <= points(full) + 1e-9, "seed 910, step \(step), \(name): \(full)")
                let more = moments(of: less, tuning: tuning).subtracting(moments(of: full, tuning: tuning))
                #expect(more.isEmpty, "seed 910, step \(step), \(name): \(full)")
            }
            check("home") { $0.homeScore = nil }
            check("away") { $0.awayScore = nil }
            check("period") { $0.period = nil }
            check("phase") { $0.phase = nil }
            check("ranks") { $0.homeRank = nil }
            check("spread") { $0.spread = nil }
            check("detail") { $0.detail = nil }
            if !mayBeShootout {
                check("clock") { $0.clock = nil }
                check("clock") { $0.clock = "x" }
            }
            for key in Self.detailKeys {
                for odd in [nil, JSONValue.null, .string("?"), .integer(-7), .integer(99)] {
                    check("\(key) \(odd.map { "\($0)" } ?? "nothing")") { game in
                        guard case .object(let all)? = game.detail else { return }
                        var members = all.filter { $0.key != key }
                        if let odd { members.append(JSONValue.Member(key: key, value: odd)) }
                        game.detail = .object(members)
                    }
                }
            }
        }
    }
}
