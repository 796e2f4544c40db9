import Testing

@testable import CardRules

@Suite struct ProbeTests {
    private func probed(gateway: Gateway? = nil, change: (inout Bench) -> Void = { _ in }) -> Bench {
        var bench = Bench.registered()
        change(&bench)
        bench.apply(.probe(gateway))
        return bench
    }

    private func variants(_ orders: [PushOrder]) -> [ProbeVariant] { orders.compactMap { $0.probe?.variant } }

    @Test func `five variants go a minute apart, each claimed before it leaves`() throws {
        var bench = probed()
        var at: [Double] = []
        let begun = bench.now
        for place in 0..<5 {
            if place > 0 { bench.pass(ProbeVariant.gapSeconds) }
            let claim = try #require(
                bench.effects.index { if case .claim(_, place, .probe) = $0 { true } else { false } })
            let save = try #require(bench.effects.firstIndex(of: .save))
            let send = try #require(bench.effects.index { if case .send = $0 { true } else { false } })
            #expect(claim < save && save < send)
            at.append(bench.now.seconds(since: begun))
            bench.verdict(.accepted)
        }
        bench.pass(3600)
        #expect(variants(bench.sent) == ProbeVariant.allCases)
        #expect(bench.sent.allSatisfy { $0.key == .probe && $0.event == .start && $0.priority == .immediate })
        #expect(bench.sent.map(\.timestamp) == Set(bench.sent.map(\.timestamp)).sorted())
        #expect(bench.ledger[.probe].sent == 5 && bench.ledger[.probe].accepted == 5 && bench.ledger.spent == 5)
        #expect(bench.lane.kept.probes.isEmpty && bench.lane.kept.cards.isEmpty)
    }

    @Test func `S3, S5, S6, S8, S9, S10 do not hold a probe`() {
        var bench = Bench.confirmed()
        bench.report(.dismissed)
        bench.patch {
            $0.quietHours = .value(QuietHours(fromMinute: 0, toMinute: 1439) ?? .init(fromMinute: 1, toMinute: 2)!)
        }
        bench.select(["g1"])
        #expect(bench.counts.isDismissed)
        #expect(variants(bench.apply(.probe(nil)).orders) == [.full])
    }

    @Test func `S6: a probe needs five units of the hard cap and keeps them from ordinary starts`() {
        var bench = Bench.registered()
        bench.lane.kept.ledger[CardKey("old")].sent = 6
        #expect(bench.lane.probeObstacle(tuning: bench.tuning) == .unitsSpent(left: 4, needed: 5))
        #expect(bench.apply(.probe(nil)).orders.isEmpty)
        bench.lane.kept.ledger[CardKey("old")].sent = 5
        #expect(variants(bench.apply(.probe(nil)).orders) == [.full])
        bench.verdict(.accepted)
        bench.select(["g1"])
        bench.pass(31)
        let effects = bench.join("g1")
        #expect(effects.orders.isEmpty && effects.withheld == [.s6])
        for _ in 0..<5 {
            bench.pass(60)
            bench.verdict(.accepted)
        }
        #expect(variants(bench.sent).count == 5 && bench.ledger.spent == 10)
    }

    @Test func `L2: a refused or unsent variant gives its unit back, touches no token, and the next one goes`() {
        var bench = probed(gateway: .sandbox)
        #expect(bench.sent[0].address == PushAddress(token: Bench.token, gateway: .sandbox))
        let effects = bench.refuse(.badDeviceToken)
        #expect(effects.orders.isEmpty && effects.notes.map(\.kind) == [.probe])
        #expect(effects.notes[0].detail.contains("BadDeviceToken"))
        #expect(bench.lane.kept.pushToStart?.address == PushAddress(token: Bench.token, gateway: .production))
        #expect(bench.ledger[.probe].sent == 0)
        bench.pass(60)
        #expect(variants(bench.sent) == [.full, .noAlert])
        bench.verdict(.notSent)
        #expect(bench.ledger[.probe].sent == 0)
        bench.pass(60)
        bench.verdict(.unknown)
        #expect(bench.ledger[.probe].sent == 1)
    }

    @Test(arguments: [CardKey.slate, .probe])
    func `a probe's card is ended once its token is known, whatever key the app gives it`(key: CardKey) throws {
        var bench = probed()
        bench.verdict(.accepted)
        let end = try #require(bench.cardToken("p1", token: 7, key: key).ends.first)
        #expect(end.key == .probe && end.address.token == [7] && end.timestamp > bench.sent[0].timestamp)
        #expect(bench.card == nil && bench.ledger[.probe].acknowledged == 1)
        bench.verdict(.accepted)
        #expect(bench.lane.kept.owedEnds.isEmpty)
        // What its stream still yields is of an activity known to have ended (ref I21).
        #expect(bench.cardToken("p1", token: 8, key: key).orders.isEmpty)
    }

    @Test func `the slate's own card stays what it is while a probe's card comes and goes`() {
        var bench = Bench.confirmed()
        bench.apply(.probe(nil))
        bench.verdict(.accepted)
        #expect(bench.cardToken("p1", token: 7).ends.map(\.address.token) == [[7]])
        #expect(bench.card?.activity == "a1" && bench.state == .confirmed)
        // A later token of the slate's card is the slate's.
        #expect(bench.cardToken("a1", token: 9).ends.isEmpty)
        #expect(bench.card?.updateAddress?.token == [9])
    }

    @Test func `a slate start that waits for its token gets it, and a probe's that began later does not take it`() {
        var bench = Bench.believed()
        bench.apply(.probe(nil))
        bench.verdict(.accepted)
        bench.cardToken("a1", token: 1)
        #expect(bench.card?.activity == "a1" && bench.state == .confirmed)
        #expect(bench.cardToken("p1", token: 2).ends.map(\.address.token) == [[2]])
        var other = Bench.believed()
        other.pass(20)
        other.apply(.probe(nil))
        other.verdict(.accepted)
        #expect(other.cardToken("p1", token: 2, began: other.now).ends.map(\.address.token) == [[2]])
        #expect(other.state == .believed)
    }

    @Test func `a report of a probe's card, or its owner's swipe, says nothing of the slate`() {
        var bench = probed()
        bench.verdict(.accepted)
        bench.report(.dismissed, "p1")
        #expect(!bench.counts.isDismissed && bench.ledger[.probe].acknowledged == 1)
        bench.select(["g1"])
        bench.pass(31)
        #expect(bench.join("g1").starts.map(\.key) == [.slate])
    }

    @Test func `L9: a variant of which nobody tells is called accepted, never adopted`() {
        var bench = probed()
        bench.verdict(.accepted)
        var notes: [TimelineEntry] = []
        for _ in 0..<15 {
            notes += bench.pass(60).notes
            if bench.sent.last?.probe != nil { notes += bench.verdict(.accepted).notes }
        }
        let unseen = notes.filter { $0.rule == .l9 }
        #expect(
            unseen.count == 5
                && unseen.allSatisfy { $0.kind == .probe && $0.key == .probe && $0.probe?.event == .unseen })
        #expect(bench.lane.kept.probes.isEmpty)
    }

    @Test func `each entry of a probe says for programs what has happened to which start`() {
        var bench = Bench.registered()
        var notes = bench.apply(.probe(nil)).notes
        notes += bench.verdict(.accepted).notes
        bench.cardToken("p1", token: 7)
        notes += bench.effects.notes
        notes += bench.pass(60).notes
        notes += bench.refuse(.badDeviceToken).notes
        notes += bench.pass(60).notes
        notes += bench.verdict(.unknown).notes
        bench.report(.dismissed, "p3")
        notes += bench.effects.notes
        notes += bench.restart().notes
        let steps = notes.filter { $0.kind == .probe }.map(\.probe)
        #expect(
            steps == [
                ProbeStep(variant: .full, event: .sent), ProbeStep(variant: .full, event: .accepted),
                ProbeStep(variant: .full, event: .token), ProbeStep(variant: .noAlert, event: .sent),
                ProbeStep(variant: .noAlert, event: .refused), ProbeStep(variant: .staleDate, event: .sent),
                ProbeStep(variant: .staleDate, event: .unknown), ProbeStep(variant: .staleDate, event: .dismissed),
                ProbeStep(variant: nil, event: .dropped),
            ])
        #expect(notes.filter { $0.kind != .probe }.allSatisfy { $0.probe == nil })
    }

    @Test func `L10: a restart repeats no variant, drops those left, and says so`() {
        var bench = probed()
        let spent = bench.ledger.spent
        let notes = bench.restart().notes
        #expect(notes.map(\.kind) == [.probe] && notes[0].rule == .l10 && notes[0].detail.contains("4 of 5"))
        bench.pass(3600)
        #expect(variants(bench.sent) == [.full] && bench.ledger.spent == spent)
        #expect(!bench.lane.isProbing)
        // The card of the one that had left is ended as ever.
        var other = probed()
        other.restart()
        #expect(other.cardToken("p1", token: 7).ends.map(\.address.token) == [[7]])
    }

    @Test func `S7, S1, S2: what the phone lacks ends a probe, and what it lacked forbids one`() {
        var bench = probed()
        bench.verdict(.accepted)
        bench.apply(.superseded(by: "other", token: Bench.token))
        #expect(bench.lane.probeObstacle(tuning: bench.tuning) == .superseded(by: "other"))
        bench.pass(3600)
        #expect(variants(bench.sent) == [.full])

        var out = probed()
        out.verdict(.accepted)
        out.patch { $0.user = .null }
        out.pass(3600)
        #expect(variants(out.sent) == [.full])
        #expect(out.lane.probeObstacle(tuning: out.tuning)?.rule == .s1)

        var bare = Bench()
        bare.patch { $0.user = .value("owner") }
        #expect(bare.lane.probeObstacle(tuning: bare.tuning) == .noToken)
        #expect(bare.apply(.probe(nil)).notes.map(\.rule) == [.s2])
    }

    @Test func `S13: a variant for which the phone has no room is left out, the next one comes in its time`() {
        var bench = Bench.registered()
        bench.tuning.starts.cardsPerApp = 2
        bench.apply(.probe(nil))
        bench.verdict(.accepted)
        for _ in 0..<4 {
            bench.pass(60)
            bench.verdict(.accepted)
        }
        // The one without an alert never takes room: full, no alert, a stale date; then it is full.
        #expect(variants(bench.sent) == [.full, .noAlert, .staleDate])
        #expect(!bench.lane.isProbing)
    }

    @Test func `R7: a probe goes on at its pace when the clock is set back`() {
        var bench = probed()
        bench.verdict(.accepted)
        bench.now = bench.now.advanced(bySeconds: -3000)
        bench.apply(.look)
        bench.pass(61)
        #expect(variants(bench.sent) == [.full, .noAlert])
    }

    @Test func `two probes of a phone do not run at once`() {
        var bench = probed()
        #expect(bench.lane.probeObstacle(tuning: bench.tuning) == .running)
        #expect(bench.apply(.probe(nil)).orders.isEmpty)
        #expect(bench.lane.kept.probes.count == 5)
    }
}
