import Testing

@testable import CardRules

/// What went wrong for others, under the symptom's name; see Facts.
@Suite struct KnownFaultTests {
    @Test(arguments: [0, 1, 2])
    func `fault 4: success handling wipes the token that just arrived: it stays in all three orders`(order: Int) {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.pass(1)
        if order == 0 { bench.cardToken("a1", token: 2) }
        bench.pass(2)
        // Between the 200 and the store's write there is no turn: what is kept is one value.
        let effects = bench.verdict(.accepted)
        if order == 1 {
            bench.cardToken("a1", token: 2)
            bench.restart()
        }
        if order == 2 {
            bench.pass(1)
            bench.cardToken("a1", token: 2)
        }
        #expect(effects.contains(.save))
        #expect(bench.lane.kept.cards.map { $0.updateAddress?.token } == [[2]])
        #expect(bench.state == .confirmed)
        bench.pass(20)
        if order == 1 { bench.verdict(.accepted) }  // the one update after the restart
        bench.pass(20)
        #expect(bench.score("g1").updates.map(\.address.token) == [[2]])
    }

    @Test(arguments: [true, false])
    func `fault 7: a phone out of reach collects a pile of cards: one start in all, then one update or one end`(
        isOver: Bool
    ) {
        var bench = Bench.believed("g1", "g2")
        bench.join("g2")
        for tick in 0..<60 {
            bench.pass(120)
            bench.score("g1")
            if tick == 20 { bench.tick("g2") { $0.worth = 90 } }
            if tick == 40 { bench.tick("g1") { $0.worth = 100 } }
        }
        if isOver {
            bench.leave("g1")
            bench.leave("g2")
        }
        #expect(bench.sent.count == 1)
        bench.cardToken()
        #expect(bench.effects.orders.map(\.event) == [isOver ? .end : .update])
        #expect(bench.effects.orders.first?.content.games.first == "g1")
        bench.verdict(.accepted)
        bench.pass(3600)
        #expect(bench.sent.count == 2)
        #expect(bench.starts == 1)
        // And if no token ever comes: one start for the night.
        var silent = Bench.believed("g1", "g2")
        for _ in 0..<30 {
            silent.leave("g1")
            silent.pass(300)
            silent.join("g1")
            silent.join("g2")
        }
        #expect(silent.starts == 1)
    }

    @Test func `fault 9: the card's age counted from the wrong moment: it began when APNs accepted its start`() {
        var bench = Bench.following("g1", at: utc("2026-01-10T11:59"))
        bench.pass(29)
        bench.join("g1")
        bench.verdict(.accepted)  // 12:00:00
        bench.pass(25 * 60)
        bench.cardToken(began: bench.now)
        #expect(bench.card?.ageBegan == utc("2026-01-10T12:00"))
        bench.restart()
        bench.cardToken(token: 9, began: bench.now)
        #expect(bench.card?.ageBegan == utc("2026-01-10T12:00"))
    }

    @Test(arguments: [
        ("2026-07-10T02:15", true), ("2026-07-10T02:45", false), ("2026-07-10T10:30", false),
        ("2026-07-10T11:15", true),
        ("2026-01-10T03:45", false),
    ])
    func `fault 11: quiet hours saved in winter are an hour off in summer: they are local times, always`(
        asked: String, isAllowed: Bool
    ) {
        var bench = Bench(at: utc("2026-01-09T12:00"))
        bench.register {
            $0.zone = ZoneSample.newYork
            $0.quietHours = QuietHours(fromMinute: 1350, toMinute: 420).map { .value($0) } ?? .absent
        }
        bench.apply(.owned(token: Bench.token, from: nil, handover: nil))
        bench.now = utc(asked).advanced(bySeconds: -31)
        bench.select(["g1"])
        bench.pass(31)
        bench.join("g1")
        #expect(bench.starts == (isAllowed ? 1 : 0))
        #expect(bench.effects.withheld == (isAllowed ? [] : [.s5]))
        // In Los Angeles the same wall times apply: three hours later.
        for (hour, isQuiet) in [("05:15", false), ("05:45", true), ("13:45", true), ("14:15", false)] {
            var west = Bench(at: utc("2026-01-09T12:00"))
            west.register {
                $0.zone = ZoneSample.newYork
                $0.quietHours = QuietHours(fromMinute: 1350, toMinute: 420).map { .value($0) } ?? .absent
            }
            west.apply(.owned(token: Bench.token, from: nil, handover: nil))
            west.now = utc("2026-07-10T" + hour).advanced(bySeconds: -31)
            west.patch { $0.zone = ZoneSample.losAngeles }
            west.select(["g1"])
            west.pass(31)
            west.join("g1")
            #expect(west.starts == (isQuiet ? 0 : 1), "\(hour)")
        }
    }

    @Test func `fault 16: the feed flips between an old and a new answer: one change is one update`() throws {
        var bench = Bench.registered(at: WallTime(seconds: Int64(10_000)))
        var slate = Slate(tuning: Tuning())
        var now: Int64 = 10_000
        func line(_ version: Int64, _ home: Int, _ clock: String) -> SlateLine {
            SlateSample.score(now) {
                $0.home = .value(home)
                $0.away = .value(1)
                $0.period = .value(2)
                $0.clock = .value(clock)
                $0.phase = .value(.live)
                $0.version = version
            }
        }
        func hear(_ event: LaneEvent) -> [LaneEffect] {
            bench.now = WallTime(seconds: now)
            let around = Surroundings(slate: slate.snapshot(at: bench.now), tuning: Tuning())
            var effects = bench.lane.apply(event, at: bench.now, in: around)
            if let order = effects.orders.last {
                effects += bench.lane.apply(.verdict(order.number, .accepted), at: bench.now, in: around)
            }
            now += 20
            return effects
        }
        func tick(_ patch: SlateLine) -> [LaneEffect] {
            _ = slate.apply(patch, at: WallTime(seconds: now))
            return hear(.tick)
        }
        _ = slate.apply(SlateSample.announce(sport: .hockey), at: WallTime(seconds: now))
        bench.select([SlateSample.game])
        now += 40
        #expect(tick(line(39, 1, "10:00")).starts.count == 1)
        _ = hear(
            .cardToken(
                CardToken(
                    key: .slate, activity: "a1", address: PushAddress(token: [1], gateway: .production),
                    startedBy: .push, began: nil)))
        #expect(tick(line(40, 2, "10:00")).updates.count == 1)
        #expect(tick(line(41, 3, "10:00")).updates.count == 1)
        for version: Int64 in [40, 41, 40, 41] {
            #expect(tick(line(version, version == 40 ? 2 : 3, "10:00")).orders.isEmpty)
        }
        let back = tick(line(42, 2, "10:00")).updates  // the goal is taken back
        #expect(back.count == 1 && slate.game(SlateSample.game)?.homeScore == 2)
        #expect(tick(line(43, 2, "09:00")).updates.count == 1)
        #expect(slate.game(SlateSample.game)?.homeScore == 2)
        #expect(slate.game(SlateSample.game)?.clock == "09:00")
    }

    /// Margin 5, bench 120 s; g1 at 70 in front, g3 at 50.
    private func traders() -> Bench {
        var bench = Bench.confirmed("g1", "g2", "g3")
        bench.tuning.takeover.marginPoints = 5
        bench.tuning.takeover.benchSeconds = 120
        for (game, worth) in [("g1", 70.0), ("g3", 50), ("g2", 60)] {
            bench.tick(GameID(unchecked: game)) { $0.worth = worth }
        }
        return bench
    }

    @Test func `fault 17: two close games trade the front all evening, yet a finished one stays: neither happens`() {
        func changes(_ scores: [Double]) -> Int {
            var bench = traders()
            var count = 0
            for step in 0..<120 {
                bench.tick("g2") { $0.worth = scores[step % 2] }
                count += bench.effects.takeovers.count + bench.pass(5).takeovers.count
            }
            return count
        }
        #expect(changes([74.4, 69.6]) == 0)
        let traded = changes([75.5, 64.4])
        #expect(1...6 ~= traded)

        var bench = traders()
        bench.tick("g2") { $0.worth = 76 }
        #expect(bench.front == "g2")
        bench.pass(60)
        bench.tick("g1") { $0.worth = 82 }
        bench.pass(59.9)
        #expect(bench.front == "g2")
        bench.pass(0.1)
        #expect(bench.front == "g1")
        bench.lay("g2") { $0.worth = 60 }
        bench.pass(10)
        bench.tick("g1") { $0.phase = .final }
        #expect(bench.front == "g2")
        bench.verdict(.accepted)
        bench.select(["g1", "g2", "g3"], muted: ["g2"])
        #expect(bench.front == "g3")
    }

    @Test func `fault 18: the user swiped the card away and it comes back: not that night, and as usual the next`() {
        var bench = Bench.confirmed("g1", "g2", "g4")
        bench.report(.dismissed)
        #expect(bench.card == nil)
        for tick in 0..<40 {
            bench.pass(30)
            bench.score("g1")
            if tick == 20 { bench.join("g2") }
        }
        bench.tick("g1") { $0.moments = [.overtime] }
        bench.restart()
        bench.pass(3600)
        #expect(bench.starts == 1)
        #expect(bench.sent.allSatisfy { $0.event == .start })
        bench.leave("g1")
        bench.leave("g2")
        bench.pass(20 * 3600)
        bench.join("g4")
        #expect(bench.starts == 2)
    }
}
