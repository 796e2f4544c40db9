import Testing

@testable import CardRules

@Suite struct LedgerTests {
    @Test(
        arguments: [
            (Verdict.accepted, 1, 1), (.unknown, 1, 0), (.notSent, 0, 0),
            (.refused(Refusal(.known(.payloadTooLarge), status: 413)), 0, 0),
        ])
    func `L2: given a start in flight, when its verdict arrives, then the spend is right`(
        verdict: Verdict, sent: Int, accepted: Int
    ) {
        var bench = Bench.following("g1")
        bench.join("g1")
        #expect(bench.counts.sent == 1)
        bench.verdict(verdict)
        #expect(bench.counts.sent == sent)
        #expect(bench.counts.accepted == accepted)
        #expect(bench.state == (sent == 1 ? .believed : nil))
    }

    @Test func `L1: the claim and the record are durable before the start leaves`() throws {
        var bench = Bench.following("g1")
        let effects = bench.join("g1")
        let claim = try #require(effects.index { if case .claim = $0 { true } else { false } })
        let save = try #require(effects.firstIndex(of: .save))
        let send = try #require(effects.index { if case .send = $0 { true } else { false } })
        #expect(claim < save && save < send)
        #expect(effects[claim] == .claim(night: bench.ledger.from, ordinal: 0, key: .slate))
    }

    @Test func `L1: an ordinal is never used twice in a night, also when the spend was given back`() {
        var bench = Bench.following("g1")
        var ordinals: [Int] = []
        bench.join("g1")
        for _ in 0..<3 {
            for case .claim(_, let ordinal, _) in bench.effects { ordinals.append(ordinal) }
            bench.verdict(.notSent)
            bench.pass(60)
        }
        for case .claim(_, let ordinal, _) in bench.effects { ordinals.append(ordinal) }
        #expect(ordinals == [0, 1, 2, 3])
        #expect(bench.counts.sent == 1)
    }

    @Test func `L1, L10: a start not answered when the process died is unknown: believed, spent, not repeated`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        let claimed = bench.now
        bench.restart()
        #expect(bench.state == .believed)
        #expect(bench.card?.ageBegan == claimed)
        bench.pass(3600)
        bench.score("g1")
        #expect(bench.starts == 1)
        #expect(bench.counts.sent == 1)
    }

    @Test func `L2: an unknown start is not repeated, and its token confirms it`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.verdict(.unknown)
        bench.pass(3600)
        #expect(bench.starts == 1)
        bench.cardToken()
        #expect(bench.state == .confirmed)
        #expect(bench.counts.acknowledged == 1)
    }

    @Test func `L2: a start not sent is sent again a minute later, if its game is still there`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.verdict(.notSent)
        #expect(bench.pass(59).starts.isEmpty)
        #expect(bench.pass(1).starts.count == 1)
        bench.verdict(.notSent)
        bench.leave("g1")
        #expect(bench.pass(600).starts.isEmpty)
    }

    @Test func `L2: given a start not sent, when its card was ending already, then no other follows`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.patch { $0.user = .value("somebody else") }
        #expect(bench.state == .ending)
        bench.verdict(.notSent)
        #expect(bench.card == nil)
        bench.pass(600)
        #expect(bench.starts == 1)
    }

    @Test func `L2: given a start not sent, when the app's own card stands, then that card goes on`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.cardToken(startedBy: .app)
        bench.verdict(.notSent)
        #expect(bench.state == .confirmed)
        #expect(bench.counts.sent == 0)
        bench.pass(3600)
        #expect(bench.starts == 1)
    }

    @Test func `S6: the night turns at six, and the ledger with it`() {
        var bench = Bench.believed()
        #expect(bench.counts.sent == 1)
        bench.pass(10 * 3600)
        bench.apply(.look)
        #expect(bench.counts.sent == 0)
        #expect(bench.ledger.from == WallTime(seconds: Int64(1_768_111_200)))  // 2026-01-11 06:00 UTC
        #expect(bench.ledger.to == WallTime(seconds: Int64(1_768_197_600)))
    }

    @Test func `A3: games that stand at the turn of the night do not join anew`() {
        var bench = Bench.confirmed()
        bench.report(.ended)
        bench.pass(12 * 3600)
        bench.score("g1")
        #expect(bench.ledger.from > Bench.evening)
        #expect(bench.starts == 1)
    }

    @Test func `acknowledgement: the app's own report proves a start as well as a token`() {
        var bench = Bench.believed()
        bench.report(.opened)
        #expect(bench.counts.acknowledged == 1)
        #expect(bench.pass(700).notes.filter { $0.rule == .l9 }.isEmpty)
        bench.cardToken()
        #expect(bench.state == .confirmed)
        #expect(bench.counts.acknowledged == 1)
    }

    @Test func `acknowledgement: a card that the app started proves nothing about our starts`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.cardToken(startedBy: .app)
        bench.verdict(.accepted)
        #expect(bench.counts.acknowledged == 0)
    }
}
