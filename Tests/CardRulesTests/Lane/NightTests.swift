import Testing

@testable import CardRules

/// Nights in the device's own zone, for phones that travel and clocks that step (section 0: night).
@Suite struct NightTests {
    /// Registered in New York, 05:50 on the wall, ten minutes before the night of the 10th begins.
    private func beforeTheTurn() -> Bench {
        var bench = Bench.following("g1", "g2", at: utc("2026-01-09T20:00"))
        bench.patch { $0.zone = ZoneSample.newYork }
        bench.now = utc("2026-01-10T10:50")
        bench.apply(.look)
        return bench
    }

    /// Acknowledged starts that could be spent, by trying: each card is ended, and another game added.
    private func starts(in bench: inout Bench, _ name: String) -> Int {
        var count = 0
        for number in 0..<12 {
            bench.pass(700)
            let game = GameID(unchecked: "\(name)\(number)")
            bench.select([game])
            bench.pass(31)
            bench.join(game)
            guard !bench.effects.starts.isEmpty else { continue }
            count += 1
            bench.verdict(.accepted)
            bench.cardToken(ActivityID(unchecked: "\(name)-\(number)"))
            bench.report(.ended, ActivityID(unchecked: "\(name)-\(number)"))
            bench.leave(game)
        }
        return count
    }

    @Test func `S6: flying west and back across the turn of the night does not refill the ledger`() {
        var bench = beforeTheTurn()
        bench.pass(20 * 60)  // 06:10 in New York: a new night
        bench.apply(.look)
        let night = bench.ledger.from
        #expect(night == utc("2026-01-10T11:00"))
        #expect(starts(in: &bench, "a") == 4)
        for _ in 0..<3 {
            bench.patch { $0.zone = ZoneSample.losAngeles }
            bench.pass(4 * 3600)  // over 06:00 in Los Angeles
            bench.patch { $0.zone = ZoneSample.newYork }
            bench.apply(.look)
            #expect(bench.counts.sent == 4)
            #expect(bench.ledger.from == night)
            if bench.now > utc("2026-01-11T04:00") { break }
        }
        #expect(starts(in: &bench, "b") == 0)
        bench.now = utc("2026-01-11T10:59")
        bench.apply(.look)
        #expect(bench.counts.sent == 4)
        bench.pass(60)
        bench.apply(.look)
        #expect(bench.counts.sent == 0)
    }

    @Test func `S6: flying east begins the next night when the wall clock has reached its day`() {
        var bench = beforeTheTurn()
        bench.pass(20 * 60)
        #expect(starts(in: &bench, "a") == 4)  // about 08:30 in New York, 22:30 in Tokyo: the same day's night
        bench.patch { $0.zone = ZoneSample.tokyo }
        #expect(bench.counts.sent == 4)
        #expect(bench.ledger.to == utc("2026-01-10T21:00"))  // 06:00 on the 11th in Tokyo
        bench.now = utc("2026-01-10T21:00")
        bench.apply(.look)
        #expect(bench.counts.sent == 0)
        // And back: the night of the 11th has begun, so the next is that of the 12th.
        bench.patch { $0.zone = ZoneSample.newYork }
        #expect(bench.ledger.to == utc("2026-01-12T11:00"))
    }

    @Test func `S6: no flight of any length begins a night twice, and no two begin at one instant`() {
        var random = SeededGenerator(seed: 11)
        var bench = beforeTheTurn()
        var begun: [WallTime] = [bench.ledger.from]
        let first = bench.now
        for _ in 0..<2000 {
            bench.now = bench.now.advanced(bySeconds: Double(random.pick([600, 3600, 7200, 20_000])))
            let zone = random.pick(ZoneSample.all)
            bench.patch { $0.zone = zone }
            if bench.ledger.from != begun.last { begun.append(bench.ledger.from) }
            #expect(bench.ledger.to > bench.now)
        }
        #expect(Set(begun).count == begun.count && begun == begun.sorted())
        let days = bench.now.seconds(since: first) / 86_400
        #expect(Double(begun.count) <= days + 3 && Double(begun.count) >= days - 3)
    }

    @Test func `S6, L1: claims of two nights that begin at one instant are told apart`() {
        // From Honolulu to Kiritimati the wall clock shows the same hour of the next day.
        var bench = Bench.following("g1", at: utc("2026-01-09T20:00"))
        bench.patch { $0.zone = ZoneSample.honolulu }
        bench.now = utc("2026-01-10T16:10")
        bench.apply(.look)
        #expect(bench.ledger.from == utc("2026-01-10T16:00"))
        let first = bench.ledger.from
        bench.patch { $0.zone = ZoneSample.kiritimati }
        #expect(bench.ledger.from != first)
        #expect(bench.ledger.to == utc("2026-01-11T16:00"))
    }

    @Test func `R7: a clock that ran days ahead for a while does not stretch the night to there`() {
        for restarts in [false, true] {
            var bench = Bench.following("g1")
            bench.now = Bench.evening.advanced(bySeconds: 40 * 86_400)
            bench.apply(.look)
            #expect(bench.ledger.from > Bench.evening.advanced(bySeconds: 39 * 86_400))
            bench.now = Bench.evening.advanced(bySeconds: 60)
            if restarts { bench.restart() } else { bench.apply(.look) }
            #expect(bench.ledger.to == utc("2026-01-11T06:00"), "restart: \(restarts)")
        }
    }

    @Test func `S6, R7: a clock that flaps over the turn of the night refills nothing twice`() {
        var bench = beforeTheTurn()
        bench.pass(20 * 60)
        #expect(starts(in: &bench, "a") == 4)
        for _ in 0..<4 {
            bench.now = utc("2026-01-10T10:30")
            bench.apply(.look)
            bench.now = utc("2026-01-10T11:30")
            bench.apply(.look)
        }
        #expect(bench.counts.sent == 4)
    }

    @Test func `R7: after a restart nothing kept lies ahead of a clock that was set back meanwhile`() {
        var bench = Bench.confirmed()
        bench.register { _ in }
        bench.now = bench.now.advanced(bySeconds: -7200)
        bench.restart()
        #expect(bench.card.flatMap(\.ageBegan).map { $0 <= bench.now } == true)
        #expect(bench.card.flatMap(\.tokenReportedAt).map { $0 <= bench.now } == true)
        #expect(bench.lane.kept.pushToStart.map { $0.reportedAt <= bench.now } == true)
        #expect(bench.counts.lastAcceptedAt.map { $0 <= bench.now } == true)
        #expect(bench.lane.kept.selection.map { $0.arrivedAt <= bench.now } == true)
    }

    @Test func `S9: the dismissal of a card is of the night in which it was swiped away`() {
        var late = Bench.confirmed()
        let swiped = late.now
        late.pass(12 * 3600)
        late.apply(.reported(CardReport(key: .slate, kind: .dismissed, activity: "a9", at: swiped)))
        #expect(!late.counts.isDismissed)
        // A card of tonight was swiped away tonight, whatever the phone's clock says.
        var wrong = Bench.confirmed()
        wrong.apply(
            .reported(CardReport(key: .slate, kind: .dismissed, activity: "a1", at: WallTime(seconds: Int64(0)))))
        #expect(wrong.counts.isDismissed)
    }

    @Test func `S10: the gap does not turn with the night`() {
        var bench = Bench.following("g1", "g2", at: utc("2026-01-10T05:50"))
        bench.join("g1")
        bench.verdict(.accepted)
        bench.cardToken()
        bench.report(.ended)
        bench.pass(570)  // past 06:00
        bench.join("g2")
        #expect(bench.ledger.from == utc("2026-01-10T06:00"))
        #expect(bench.effects.withheld == [.s10])
        #expect(bench.pass(60).starts.count == 1)
    }

    @Test func `S14: two nights unproven hold every start until a sign of life, over restarts and quiet nights`() {
        var bench = Bench.registered(at: utc("2026-01-10T20:00"))
        bench.patch {
            $0.personalisation = .readable(Taste(teams: [:], leagues: [:], minimumWorth: 60, maxGames: 4))
        }
        for night in 0..<2 {
            let game = GameID(unchecked: "n\(night)")
            #expect(bench.tick(game) { $0.worth = 70 }.starts.count == 1, "night \(night)")
            bench.verdict(.accepted)
            bench.leave(game)
            bench.pass(86_400)
            bench.restart()
            #expect(bench.ledger.unprovenNights == night + 1)
        }
        bench.pass(86_400)  // a night without starts changes nothing
        bench.restart()
        #expect(bench.ledger.unprovenNights == 2)
        bench.tick("n3") { $0.worth = 70 }
        #expect(bench.effects.withheld == [.s14])
        bench.restart()
        #expect(bench.starts == 2)
        #expect(bench.report(.opened, "a1").starts.count == 1)
    }

    @Test func `L2: a start whose card is gone before its verdict still settles its spend`() {
        for (verdict, sent, accepted) in [
            (Verdict.accepted, 1, 1), (.notSent, 0, 0), (.unknown, 1, 0),
            (.refused(Refusal(.known(.tooManyRequests), status: 429)), 0, 0),
        ] {
            var bench = Bench.following("g1")
            bench.join("g1")
            let number = bench.sent.last?.number ?? PushNumber(0)
            bench.report(.ended, "own")
            #expect(bench.card == nil)
            bench.apply(.verdict(number, verdict))
            #expect(bench.counts.sent == sent && bench.counts.accepted == accepted, "\(verdict)")
            #expect((bench.counts.lastAcceptedAt != nil) == (accepted == 1))
        }
    }

    @Test func `S6, S10: what a lane kept at any point is what it goes on with`() {
        var bench = Bench.following("g1", "g2")
        bench.join("g1")
        bench.restart()
        #expect(bench.counts.sent == 1)
        bench.cardToken()
        #expect(bench.counts.acknowledged == 1)
        bench.restart()
        bench.report(.ended)
        bench.restart()
        bench.join("g2")
        bench.restart()
        #expect(bench.counts.sent == 2)
        bench.report(.ended, "a2")
        bench.restart()
        #expect(bench.counts.sent == 2 && bench.counts.acknowledged == 2 && bench.card == nil)
    }
}
