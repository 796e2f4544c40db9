import Testing

@testable import CardRules

/// R3: what becomes of a successor whose start is refused or never answered.
@Suite struct RetryTests {
    // MARK: - R3

    @Test(arguments: [
        Verdict.notSent, .refused(Refusal(.known(.tooManyRequests), status: 429)),
        .refused(Refusal(.known(.internalServerError), status: 500)),
        .refused(Refusal(.known(.topicDisallowed), status: 400)),
    ])
    func `R3: refused or not sent, the old card stays and it goes again each minute, whatever the reason`(
        verdict: Verdict
    ) {
        var bench = replacing()
        for _ in 0..<3 {
            #expect(bench.answer("nap", verdict).orders.isEmpty)
            #expect(bench.state("nap") == .replacing && bench.ledger["nap"].reissued == 0)
            #expect(bench.pass(59).orders.isEmpty)
            #expect(bench.pass(1).pushes == ["nap start"])
        }
        #expect(bench.answer("nap", .accepted).pushes == ["nap end"])
        #expect(bench.ledger["nap"].sent == 1 && bench.ledger["nap"].reissued == 1)
    }

    @Test func `R3, L8: refused until the limit, the card is ended a minute before it, and follows when it can`() throws
    {
        var bench = replacing()
        let plan = try #require(bench.plan("nap"))
        while bench.now < plan.endAt {
            bench.answer("nap", .notSent)
            bench.pass(30)
            bench.pass(30)
        }
        #expect(bench.sent.last { $0.event == .end }?.address.token != Bench.token)
        #expect(bench.state("nap") == .ending || bench.lane.card("nap") == nil)
        let end = try #require(bench.sent.last { $0.event == .end })
        bench.apply(.verdict(end.number, .accepted))
        bench.pass(60)
        #expect(bench.sent.last?.event == .start && bench.sent.last?.isSuccessor == true)
    }

    @Test func `R3: an unknown verdict is not repeated; the old card stays until the successor is acknowledged`() {
        var bench = replacing()
        #expect(bench.answer("nap", .unknown).orders.isEmpty)
        #expect(bench.pass(300).orders.isEmpty && bench.state("nap") == .replacing)
        #expect(bench.put("nap", count: 3).updates.map(\.count) == [3])  // the old card still takes what is new
        bench.answer("nap", .accepted)
        let effects = bench.acknowledge("nap", activity: "nap-2", token: 2)
        #expect(effects.ends.map(\.key) == ["nap"] && bench.state("nap") == .confirmed)
        #expect(bench.starts == 2)
    }

    @Test func `R3, L8: an unknown successor that is never acknowledged takes over when the old card's time has come`()
        throws
    {
        var bench = replacing()
        let plan = try #require(bench.plan("nap"))
        bench.answer("nap", .unknown)
        #expect(bench.pass(plan.endAt.seconds(since: bench.now) - 1).orders.isEmpty)
        #expect(bench.pass(1).pushes == ["nap end"])
        #expect(bench.state("nap") == .believed && bench.lane.card("nap")?.activity == nil)
        #expect(bench.starts == 2)
    }

    @Test func `L10, R3: a restart in the middle of a reissue makes it unknown, and sends no second start`() {
        var bench = replacing()
        bench.restart()
        #expect(bench.lane.kept.successors.map(\.state) == [.unknown])
        bench.pass(120)
        #expect(bench.starts == 2 && bench.state("nap") == .replacing)
        #expect(bench.acknowledge("nap", activity: "nap-2", token: 2).pushes.contains("nap end"))
    }

    @Test func `R3: a restart does not forget a refused successor`() {
        var bench = replacing()
        bench.answer("nap", .notSent)
        bench.restart()
        bench.answer("nap", .accepted)  // the one update after a restart
        #expect(bench.pass(60).pushes.contains("nap start") && bench.state("nap") == .replacing)
    }

    @Test func `G2: a successor refused for its gateway is tried once at the other, on the same claim`() {
        var bench = replacing()
        let again = bench.answer("nap", .refused(Refusal(.known(.badDeviceToken), status: 400)))
        #expect(again.starts.map(\.address.gateway) == [.sandbox] && bench.ledger["nap"].reissued == 1)
        #expect(bench.answer("nap", .accepted).pushes == ["nap end"])
        #expect(bench.lane.kept.pushToStart?.address?.gateway == .sandbox)
    }
}
