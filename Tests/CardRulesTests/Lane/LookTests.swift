import Testing

@testable import CardRules

/// What people may ask of a lane.
@Suite struct LookTests {
    private func kinds(_ bench: Bench, _ key: CardKey? = .slate) -> [LaneDeadline.Kind] {
        bench.lane.deadlines(at: bench.now, tuning: bench.tuning).filter { $0.key == key }.map(\.kind)
    }

    @Test func `a confirmed card has its reissue, its last minute and its limit ahead, in that order`() throws {
        let bench = Bench.confirmed()
        #expect(kinds(bench) == [.reissue, .endBeforeLimit, .limit])
        let plan = try #require(bench.lane.plan(of: .slate))
        let found = bench.lane.deadlines(at: bench.now, tuning: bench.tuning)
        #expect(found.contains(LaneDeadline(at: plan.limitAt, kind: .limit, key: .slate)))
        #expect(found.first { $0.kind == .reissue }?.at == plan.reissueAt)
        #expect(kinds(bench, nil) == [.night])
        #expect(found.first { $0.kind == .night }?.at == bench.ledger.to)
        #expect(found.map(\.at) == found.map(\.at).sorted())
    }

    @Test func `a believed card is to be acknowledged, a withheld start waits for its time, an end for its retry`() {
        #expect(kinds(Bench.believed()) == [.acknowledgement, .limit])
        var quiet = Bench.registered()
        quiet.patch { $0.quietHours = .value(QuietHours(fromMinute: 19 * 60, toMinute: 23 * 60)!) }
        quiet.select(["g1"])
        quiet.pass(31)
        quiet.join("g1")
        #expect(kinds(quiet) == [.quietHoursOver])
        var ending = Bench.confirmed()
        ending.leave("g1")
        ending.verdict(.notSent)
        #expect(kinds(ending) == [.endRetry, .limit])
    }

    @Test func `whatever a lane is woken for is among its deadlines, or a matter of seconds`() {
        for bench in [Bench.confirmed(), Bench.believed(), Bench.following("g1")] {
            guard let look = bench.lane.nextLook else { continue }
            let known = bench.lane.deadlines(at: bench.now, tuning: bench.tuning).map(\.at)
            #expect(known.contains(look) || look.seconds(since: bench.now) < 90)
        }
    }

    @Test func `a card's content and what is left of its urgent updates can be seen`() {
        var bench = Bench.confirmed("g1", "g2")
        #expect(bench.lane.content(of: .slate, tuning: bench.tuning)?.games == ["g1"])
        #expect(bench.lane.urgentLeft(of: .slate, at: bench.now, tuning: bench.tuning) == 12)
        bench.tick("g1") { $0.moments = [.overtime] }
        bench.verdict(.accepted)
        let left = bench.lane.urgentLeft(of: .slate, at: bench.now, tuning: bench.tuning)
        #expect(left == 12 - bench.sent.count { $0.event == .update && $0.priority == .immediate })
        #expect(bench.lane.content(of: "nap", tuning: bench.tuning) == nil)
        #expect(bench.lane.card(.slate)?.programme == .slate)
    }

    @Test func `S14: the app is asked for a token from the second silent night until it reports one`() {
        var bench = Bench.registered()
        bench.lane.kept.ledger.unprovenNights = 2
        #expect(bench.lane.needsToken(bench.tuning))
        // A sign of life lets starts go on; the token is still asked for, also over a restart and the turn of a night.
        bench.select(["g1"])
        #expect(bench.lane.kept.ledger.unprovenNights == 0 && bench.lane.needsToken(bench.tuning))
        bench.restart()
        let night = bench.ledger.from
        bench.pass(86_400)
        bench.apply(.look)
        #expect(bench.ledger.from > night && bench.lane.needsToken(bench.tuning))
        bench.register { _ in }
        #expect(!bench.lane.needsToken(bench.tuning))
    }

    @Test func `S14, G2: a token refused as dead is asked for, unless iOS has none since`() {
        var bench = Bench.following("g1")
        #expect(!bench.lane.needsToken(bench.tuning))
        bench.join("g1")
        bench.refuse(.badDeviceToken)
        bench.refuse(.badDeviceToken)
        #expect(bench.lane.needsToken(bench.tuning))
        bench.pass(1)
        bench.patch { $0.pushToStart = .null }
        #expect(!bench.lane.needsToken(bench.tuning))
        #expect(!Bench().lane.needsToken(Tuning()))
    }

    @Test func `other values of tuning are judged by at once, also where a plan was made before`() throws {
        var bench = Bench.confirmed()
        let before = try #require(bench.lane.plan(of: .slate))
        bench.tuning.reissue.afterSeconds = 300
        bench.tuning.reissue.spreadSeconds = 0
        bench.apply(.tick)
        #expect(bench.lane.plan(of: .slate) == before)
        bench.apply(.retuned)
        #expect(try #require(bench.lane.plan(of: .slate)?.reissueAt) < bench.now.advanced(bySeconds: 300))
        bench.pass(300)
        #expect(bench.state == .replacing)
    }
}
