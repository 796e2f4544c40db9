import Testing

@testable import CardRules

/// `chooseFront` alone: the same function on the server and in the app (C6).
@Suite struct TakeoverTests {
    let tuning = Tuning().takeover
    static let start = Bench.evening

    static func game(_ id: GameID, _ base: Double, lift: Double = 0, _ phase: Phase = .live) -> Contender {
        Contender(game: id, base: base, lift: lift, phase: phase)
    }

    func choose(
        _ games: [Contender], _ front: Front?, after seconds: Double, hold: TakeoverHold = TakeoverHold()
    ) -> FrontChoice {
        chooseFront(
            among: games, front: front, hold: hold, at: Self.start.advanced(bySeconds: seconds), tuning: tuning)
    }

    @Test func `T1: the effective score is worth, taste and lift`() {
        #expect(Self.game("g1", 50, lift: 25).effective == 75)
        let taste = Taste(teams: ["Boston": 1, "Denver": 0.5], leagues: ["NBA": 3], minimumWorth: 0, maxGames: 4)
        let game = RankedGame(
            id: "g1", sport: .basketball, league: "NBA", home: "Boston", away: "Denver", phase: .live, worth: 50)
        #expect(taste.points(for: game, tuning: tuning) == 15 + 7.5 + 3)
    }

    @Test func `T2: the boosts`() {
        let expected: [MomentKind: Double] = [
            .shootout: 30, .walkOffChance: 28, .overtime: 25, .closeFinish: 20, .comeback: 15, .upset: 12,
        ]
        for kind in MomentKind.allCases { #expect(tuning.boosts[kind] == expected[kind]) }
    }

    @Test(arguments: [(57.9, "g1"), (58, "g2"), (90, "g2")] as [(Double, GameID)])
    func `T3: a challenger needs eight points more than the front`(score: Double, front: GameID) {
        let choice = choose(
            [Self.game("g1", 50), Self.game("g2", score)], Front(game: "g1", since: Self.start), after: 60)
        #expect(choice.front?.game == front)
        #expect(choice.rule == (front == "g2" ? .t3 : nil))
    }

    @Test func `T4: the front stands at least twenty seconds`() {
        let games = [Self.game("g1", 50), Self.game("g2", 90)]
        let early = choose(games, Front(game: "g1", since: Self.start), after: 19)
        #expect(early.front?.game == "g1")
        #expect(early.lookAgain == Self.start.advanced(bySeconds: 20))
        #expect(choose(games, early.front, after: 20).front?.game == "g2")
    }

    @Test func `T5: a game that lost the front stays off it for ninety seconds`() {
        let lost = choose(
            [Self.game("g1", 50), Self.game("g2", 60)], Front(game: "g1", since: Self.start), after: 100)
        #expect(lost.front?.game == "g2")
        let back = [Self.game("g1", 90), Self.game("g2", 60)]
        let benched = choose(back, lost.front, after: 189)
        #expect(benched.front?.game == "g2")
        #expect(benched.lookAgain == Self.start.advanced(bySeconds: 190))
        #expect(choose(back, benched.front, after: 190).front?.game == "g1")
    }

    @Test func `T5: a game on the bench is looked at again also when a third took the front meanwhile`() {
        var front = Front(game: "g1", since: Self.start)
        front.bench = [.init(game: "g2", at: Self.start.advanced(bySeconds: 50))]
        let games = [Self.game("g1", 50), Self.game("g2", 99), Self.game("g3", 60)]
        let choice = choose(games, front, after: 60)
        #expect(choice.front?.game == "g3")
        #expect(choice.lookAgain == Self.start.advanced(bySeconds: 140))
    }

    @Test
    func `T6: a final front is replaced at once while another game is live, whatever margin, bench and holds say`() {
        var front = Front(game: "g1", since: Self.start)
        front.bench = [.init(game: "g2", at: Self.start)]
        let hold = TakeoverHold(until: Self.start.advanced(bySeconds: 30), isUnreadable: true)
        let choice = choose([Self.game("g1", 95, .final), Self.game("g2", 30)], front, after: 1, hold: hold)
        #expect(choice.front?.game == "g2")
        #expect(choice.rule == .t6)
        #expect(choice.front?.changes.isEmpty == true)
    }

    @Test func `T6: a front that no longer qualifies is replaced by the best that does, a final one stands alone`() {
        let front = Front(game: "g1", since: Self.start)
        let games = [Self.game("g2", 40, .pre), Self.game("g3", 25), Self.game("g4", 99, .final)]
        #expect(choose(games, front, after: 1).front?.game == "g2")
        let over = [Self.game("g1", 20, .final), Self.game("g2", 99, .pre)]
        #expect(choose(over, front, after: 1).front?.game == "g1")
        #expect(choose(over, front, after: 20).front?.game == "g2")
        #expect(choose([Self.game("g1", 20, .final)], front, after: 99).front?.game == "g1")
    }

    @Test func `T6: a final game neither takes the front from a live one nor comes first`() {
        let games = [Self.game("g1", 50), Self.game("g2", 90, .final)]
        #expect(choose(games, nil, after: 0).front?.game == "g1")
        let later = choose(games, Front(game: "g1", since: Self.start), after: 600)
        #expect(later.front?.game == "g1")
        #expect(later.lookAgain == nil)
        var lifted = Front(game: "g1", since: Self.start)
        lifted.wonByLift = true
        #expect(choose(games, lifted, after: 600).front?.game == "g1")  // T11 neither
    }

    @Test func `T7: equal scores: the lower id, in any order`() {
        let games = [Self.game("g3", 70), Self.game("g1", 70), Self.game("g2", 70)]
        #expect(choose(games, nil, after: 0).front?.game == "g1")
        #expect(choose(games.reversed(), nil, after: 0).front?.game == "g1")
        let challengers = games + [Self.game("g9", 50)]
        let front = Front(game: "g9", since: Self.start)
        #expect(choose(challengers, front, after: 60).front?.game == "g1")
        #expect(choose(challengers.reversed(), front, after: 60).front?.game == "g1")
    }

    @Test func `T8: two games less than the margin apart never alternate`() {
        var front: Front? = Front(game: "g1", since: Self.start)
        for step in 0..<120 {
            let score = step.isMultiple(of: 2) ? 77.9 : 62.1
            front = choose([Self.game("g1", 70), Self.game("g2", score)], front, after: Double(step) * 5).front
            #expect(front?.game == "g1")
        }
    }

    @Test(arguments: 0..<32 as Range<UInt64>)
    func `T8: whatever comes, the front changes at most four times in any minute, T6 aside`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var tuning = Tuning().takeover
        if random.chance(50) { tuning.settleSeconds = 1 }
        if random.chance(50) { tuning.benchSeconds = 1 }
        var front: Front?
        var changes: [WallTime] = []
        var now = Self.start
        for step in 0..<500 {
            now = now.advanced(bySeconds: random.pick([0.1, 0.5, 1, 3, 10]))
            let games = (1...5).map { number in
                Self.game(
                    GameID(unchecked: "g\(number)"), Double.random(in: 0...100, using: &random),
                    lift: random.chance(30) ? 25 : 0, random.pick([.pre, .live, .live, .live, .break, .final]))
            }
            let hold = TakeoverHold(pinned: random.chance(10) ? "g3" : nil)
            let choice = chooseFront(among: games, front: front, hold: hold, at: now, tuning: tuning)
            if choice.front?.game != front?.game, choice.rule != .t6, front != nil { changes.append(now) }
            front = choice.front
            #expect(changes.count { now.milliseconds - $0.milliseconds < 60_000 } <= 4, "seed \(seed), step \(step)")
            #expect(choice.lookAgain.map { $0 > now || choice.rule != nil } ?? true, "seed \(seed), step \(step)")
        }
    }

    /// An adversary who sees the front and deals the scores, holds and times that tempt it most.
    @Test(arguments: 0..<48 as Range<UInt64>)
    func `T8: no adversary makes the front change a fifth time in a minute, or two close games alternate`(seed: UInt64)
    {
        var random = SeededGenerator(seed: seed)
        var tuning = Tuning().takeover
        tuning.settleSeconds = random.pick([0, 0.1, 5, 20])
        tuning.benchSeconds = random.pick([0, 0.1, 30, 90])
        tuning.marginPoints = random.pick([0.001, 3, 8])
        var front: Front?
        var changes: [WallTime] = []
        var now = Self.start
        for step in 0..<600 {
            now = now.advanced(bySeconds: random.pick([0, 0.05, 0.5, 2, 15, 20]))
            let trick = Int.random(in: 0..<6, using: &random)
            let games = (1...4).map { number -> Contender in
                let id = GameID(unchecked: "g\(number)")
                let isFront = id == front?.game
                let lift: Double = trick == 1 ? (isFront ? 0 : 30) : trick == 2 && isFront ? 30 : 0
                let base: Double =
                    switch trick {
                    case 0: isFront ? 50 : 50 + tuning.marginPoints  // exactly enough
                    case 3: isFront ? 50 : (50 + tuning.marginPoints).nextDown  // just not enough
                    case 4: isFront ? -.infinity : random.pick([.nan, .infinity, .greatestFiniteMagnitude, -1])
                    default: Double.random(in: 0...100, using: &random)
                    }
                return Self.game(id, base, lift: lift)
            }
            let hold = TakeoverHold(pinned: trick == 5 ? random.pick(["g1", "g2", "g3", nil]) : nil)
            let choice = chooseFront(among: games, front: front, hold: hold, at: now, tuning: tuning)
            let isChange = front != nil && choice.front?.game != front?.game
            #expect(games.contains { $0.game == choice.front?.game }, "seed \(seed), step \(step)")
            #expect(choice.rule != .t6, "seed \(seed), step \(step): nobody had to go")
            if isChange { changes.append(now) }
            #expect(changes.count { now.milliseconds - $0.milliseconds < 60_000 } <= 4, "seed \(seed), step \(step)")
            if trick == 3, isChange { #expect(choice.rule == .t11, "seed \(seed), step \(step)") }
            front = choice.front
        }
        #expect(changes.count > 20, "seed \(seed)")
    }

    @Test func `T11: when the lift that won the front ends, the game of highest worth and taste takes it back`() {
        let base = [Self.game("g1", 60), Self.game("g2", 50)]
        let lifted = choose([base[0], Self.game("g2", 50, lift: 20)], Front(game: "g1", since: Self.start), after: 60)
        #expect(lifted.front?.game == "g2")
        #expect(choose(base, lifted.front, after: 79).front?.game == "g2")  // T4 is not waived
        let settled = choose(base, lifted.front, after: 80)
        #expect(settled.front?.game == "g1")  // T3 and T5 are
        #expect(settled.rule == .t11)
    }

    @Test func `T11: a front that leads without its lift too stays, and is challenged like any other`() {
        var front = Front(game: "g1", since: Self.start)
        front.wonByLift = true
        let calm = choose([Self.game("g1", 60), Self.game("g2", 55)], front, after: 60)
        #expect(calm.front?.game == "g1")
        #expect(calm.front?.wonByLift == false)
        let choice = choose([Self.game("g1", 60), Self.game("g2", 55, lift: 25)], front, after: 60)
        #expect(choice.front?.game == "g2")  // in the same turn: no news may follow
    }

    @Test func `T11: after settling, a game that leads by its lift is looked at when T4 is over`() {
        var front = Front(game: "g1", since: Self.start)
        front.wonByLift = true
        let games = [Self.game("g1", 40), Self.game("g2", 60), Self.game("g3", 55, lift: 25)]
        let choice = choose(games, front, after: 60)
        #expect(choice.front?.game == "g2")
        #expect(choice.lookAgain == Self.start.advanced(bySeconds: 80))
        #expect(choose(games, choice.front, after: 80).front?.game == "g3")
    }

    @Test func `T12: the first front is the pin, else the strongest; a pin set later takes the front at once`() {
        let games = [Self.game("g1", 50), Self.game("g2", 90)]
        #expect(choose(games, nil, after: 0).front?.game == "g2")
        let pin = TakeoverHold(pinned: "g1", until: Self.start.advanced(bySeconds: 30))
        #expect(choose(games, nil, after: 0, hold: pin).front?.game == "g1")
        let taken = choose(games, Front(game: "g2", since: Self.start), after: 1, hold: pin)
        #expect(taken.front?.game == "g1")
        #expect(taken.rule == .t12)
        let final = [Self.game("g1", 50, .final), Self.game("g2", 90)]
        #expect(choose(final, nil, after: 0, hold: pin).front?.game == "g2")
        #expect(choose([], nil, after: 0).front == nil)
    }

    @Test func `fault 17: two close games trade the front at most as often as bench and margin let them`() {
        var front: Front? = Front(game: "g1", since: Self.start)
        var changes = 0
        for step in 0..<120 {
            let score = step.isMultiple(of: 2) ? 78.5 : 61.4
            let games = [Self.game("g1", 70), Self.game("g2", score), Self.game("g3", 50)]
            let next = choose(games, front, after: Double(step) * 5).front
            if next?.game != front?.game { changes += 1 }
            front = next
        }
        #expect(changes <= 14)  // ten minutes of ninety seconds each way
    }
}
