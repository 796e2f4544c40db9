import Testing

@testable import CardRules

/// L7, L8, S6: what holds a reissue, and the limit.
@Suite struct LimitTests {
    // MARK: - L8, L7, S6

    @Test func `L8: a phone without push-to-start has its card ended a minute before the limit`() throws {
        for old in [true, false] {
            var bench = Bench.registered()
            bench.patch { $0.osVersion = OSVersion(major: old ? 16 : 18, minor: 4) }
            bench.put("nap", startedOn: [Bench.device])
            bench.cardToken("own", token: 7, startedBy: .app, key: "nap")
            bench.answer("nap", .accepted)
            if !old { bench.lane.kept.pushToStart?.address = nil }
            let plan = try #require(bench.plan("nap"))
            bench.passToReissue(of: "nap")
            #expect(bench.effects.orders.isEmpty && bench.effects.decided(.withheld) == ["S2 nap"])
            bench.pass(plan.endAt.seconds(since: bench.now) - 1)
            #expect(bench.effects.orders.isEmpty)
            #expect(bench.pass(1).pushes == ["nap end"])
            bench.answer("nap", .accepted)
            bench.pass(9 * 3600)
            #expect(bench.starts == 0 && bench.lane.kept.cards.isEmpty)
        }
    }

    @Test func `section 2: a successor withheld for want of a token starts when one is reported`() {
        var bench = Bench.showing("nap")
        bench.lane.kept.pushToStart?.address = nil
        bench.pass(bench.plan("nap")!.endAt.seconds(since: bench.now))
        bench.answer("nap", .accepted)
        bench.pass(600)
        #expect(bench.state("nap") == nil)
        bench.patch { $0.pushToStart = .value(PushAddress(token: [0xa9], gateway: .production)) }
        #expect(bench.apply(.owned(token: [0xa9], from: nil, handover: nil)).pushes == ["nap start"])
    }

    @Test func `L7: nothing is sent to a card past its limit, and its successor goes on alone`() throws {
        var bench = replacing()
        let plan = try #require(bench.plan("nap"))
        let start = bench.sent.last!
        bench.pass(plan.limitAt.seconds(since: bench.now))  // the answer takes fifteen minutes
        #expect(bench.effects.orders.isEmpty && bench.state("nap") == .starting)
        #expect(bench.apply(.verdict(start.number, .accepted)).orders.isEmpty)
        #expect(bench.state("nap") == .believed && bench.starts == 2)
    }

    @Test func `S6: a reissue needs a unit of the hard cap and no other; without one L8 ends the card`() {
        var bench = Bench.showing("nap")
        bench.tuning.starts.hardCap = 1
        bench.passToReissue(of: "nap")
        #expect(bench.effects.orders.isEmpty && bench.effects.decided(.withheld) == ["S6 nap"])
        #expect(bench.effects.notes[0].changesWhen == "the next night has begun, at 06:00")
        bench.pass(bench.plan("nap")!.endAt.seconds(since: bench.now))
        #expect(bench.effects.pushes == ["nap end"])
        bench.answer("nap", .accepted)
        bench.pass(3 * 3600)
        #expect(bench.starts == 1)
    }

    @Test func `S6: the turn of the night gives a withheld reissue its unit`() throws {
        // Started at 22:20, due at 06:05: the night turned at 06:00.
        var bench = Bench.showing("nap", at: Bench.evening.advanced(bySeconds: 8400))
        bench.tuning.starts.hardCap = 1
        #expect(bench.passToReissue(of: "nap").pushes == ["nap start"])
    }

    @Test func `S6, S14: reissues are counted apart, and an acknowledged one proves the phone`() {
        var bench = replacing()
        bench.answer("nap", .accepted)
        bench.acknowledge("nap", activity: "nap-2", token: 2)
        let counts = bench.ledger["nap"]
        #expect(counts.sent == 1 && counts.reissued == 1 && counts.acknowledged == 2 && bench.ledger.spent == 2)
    }

    @Test func `S10: neither S10, S8 nor S14 hold a reissue`() {
        var bench = Bench.showing("nap")
        bench.pass(bench.plan("nap")!.reissueAt!.seconds(since: bench.now) - 1)
        bench.lane.kept.ledger.unprovenNights = 5
        bench.lane.kept.ledger["nap"].lastAcceptedAt = bench.now
        #expect(bench.pass(1).pushes == ["nap start"])
    }

    @Test func `L10: a reissue waits until the node may claim again`() {
        var bench = Bench.showing("nap")
        bench.mayClaim = false
        #expect(bench.passToReissue(of: "nap").orders.isEmpty)
        bench.mayClaim = true
        #expect(bench.pass(0.2).pushes == ["nap start"])
    }
}
