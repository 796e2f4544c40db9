import Testing

@testable import CardRules

/// S7: two device records of one phone.
@Suite struct OwnershipTests {
    /// The same phone after a reinstall: another record, the same token.
    static func newer(at now: WallTime = Bench.evening.advanced(bySeconds: 3600)) -> Bench {
        var bench = Bench(at: now, device: "newer")
        bench.register { _ in }
        return bench
    }

    static func handover(_ effects: [LaneEffect]) -> Handover? {
        for case .handOver(let handover, _, _, _) in effects { return handover }
        return nil
    }

    @Test func `S7: a record asks who owns the phone, and starts nothing until it knows`() {
        var bench = Bench()
        #expect(bench.register { _ in }.contains(.claimPhone(token: Bench.token)))
        bench.select(["g1"])
        bench.pass(31)
        #expect(bench.join("g1").withheld == [.s2])
        #expect(bench.apply(.owned(token: Bench.token, from: nil, handover: nil)).starts.count == 1)
        #expect(!bench.register { _ in }.contains(.claimPhone(token: Bench.token)))  // it owns it
    }

    @Test func `S7: a superseded record hands over its card with its games and its spend, and starts nothing`() throws {
        var bench = Bench.confirmed("g1", "g2")
        let effects = bench.apply(.superseded(by: "newer", token: Bench.token))
        let handover = try #require(Self.handover(effects))
        #expect(handover.cards.map(\.activity) == ["a1"])
        #expect(handover.members == ["g1"])
        #expect(handover.ledger[.slate].sent == 1)
        #expect(handover.ledger[.slate].acknowledged == 1)
        let save = try #require(effects.firstIndex(of: .save))
        let give = try #require(effects.index { if case .handOver = $0 { true } else { false } })
        #expect(save < give)
        bench.pass(700)
        bench.join("g2")
        bench.score("g1")
        #expect(bench.sent.count == 1)
        #expect(bench.card == nil)
    }

    @Test func `S7: the newer record has the card and the spend before it may start`() throws {
        var older = Bench.confirmed()
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        var newer = Self.newer(at: older.now)
        newer.select(["g1", "g2"])
        newer.pass(31)
        newer.join("g1")
        #expect(newer.starts == 0)
        let effects = newer.apply(.owned(token: Bench.token, from: "phone", handover: handover))
        #expect(effects.starts.isEmpty)
        #expect(effects.contains(.confirmHandover(to: "phone")))
        #expect(newer.card?.activity == "a1")
        #expect(newer.counts.sent == 1)
        #expect(effects.updates.isEmpty)  // the card shows just that already (U1)
        newer.pass(20)
        #expect(newer.score("g1").updates.map(\.address.token) == [[1]])
    }

    @Test func `A4: a takeover that the older record decided and never showed gives way to the newer one's selection`()
        throws
    {
        var older = Bench.believed("g1", "g2")
        older.pass(60)
        older.tick("g2") {
            $0.isInWindow = true
            $0.worth = 99
        }
        #expect(older.card?.front?.game == "g2")  // no update token yet: the card still shows g1 in front
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        var newer = Self.newer(at: older.now)
        for game in older.games { newer.lay(game.id) { $0 = game } }
        newer.select(["g1", "g2"])
        newer.apply(.owned(token: Bench.token, from: "phone", handover: handover))
        #expect(newer.card?.front?.game == "g1")
        newer.pass(6)
        #expect(newer.cardToken().updates.allSatisfy { $0.content.games.first == "g1" })
        newer.pass(60)
        #expect(newer.card?.front?.game == "g2")
    }

    @Test func `S7: a handover given twice counts once, and is confirmed twice`() throws {
        var older = Bench.confirmed()
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        #expect(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))) == handover)
        #expect(older.lane.pendingOwnership.count == 1)
        var newer = Self.newer(at: older.now)
        for _ in 0..<2 {
            let effects = newer.apply(.owned(token: Bench.token, from: "phone", handover: handover))
            #expect(effects.contains(.confirmHandover(to: "phone")))
        }
        #expect(newer.counts.sent == 1)
        older.apply(.handoverTaken(by: "newer"))
        #expect(older.lane.pendingOwnership.isEmpty)
    }

    @Test func `S7: a phone that goes back and forth between two records keeps its card and its spend each time`()
        throws
    {
        var one = Bench.confirmed()
        var two = Self.newer(at: one.now)
        for _ in 0..<3 {
            let there = try #require(Self.handover(one.apply(.superseded(by: "newer", token: Bench.token))))
            two.apply(.owned(token: Bench.token, from: "phone", handover: there))
            one.apply(.handoverTaken(by: "newer"))
            #expect(two.card?.activity == "a1")
            #expect(two.counts.sent == 1)
            one.register { _ in }
            let back = try #require(Self.handover(two.apply(.superseded(by: "phone", token: Bench.token))))
            one.apply(.owned(token: Bench.token, from: "newer", handover: back))
            two.apply(.handoverTaken(by: "phone"))
            #expect(one.card?.activity == "a1")
            #expect(one.counts.sent == 1)
            two.register { _ in }
        }
    }

    @Test func `S7: of two cards under one key the newer stands, the older is ended`() throws {
        var older = Bench.confirmed()
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        var newer = Self.newer(at: older.now.advanced(bySeconds: 60))
        newer.select(["g1"])
        newer.join("g1")
        newer.cardToken("a2", token: 2, startedBy: .app)
        let ends = newer.apply(.owned(token: Bench.token, from: "phone", handover: handover)).ends
        #expect(ends.map(\.address.token) == [[1]])
        #expect(newer.card?.activity == "a2")
    }

    @Test func `S7, P5: after a restart of the older record timestamps of its card go on from the stored mark`() throws
    {
        // Its token is not known yet, so nothing has left since.
        var older = Bench.believed()
        let mark = older.now.unixSeconds + 3000
        older.restart(timestampFloor: mark)
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        var newer = Self.newer(at: older.now)
        newer.apply(.owned(token: Bench.token, from: "phone", handover: handover))
        newer.cardToken()
        newer.pass(60)
        newer.score("g1")
        let next = try #require(newer.sent.last)
        #expect(next.timestamp > mark)
    }

    @Test(arguments: [CardReport.Kind.ended, .dismissed])
    func `S7, L5: a card that the app has told the newer record is over is not taken over by it`(
        kind: CardReport.Kind
    ) throws {
        var older = Bench.confirmed()
        var newer = Self.newer(at: older.now.advanced(bySeconds: 60))
        newer.report(kind, "a1")
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        newer.apply(.owned(token: Bench.token, from: "phone", handover: handover))
        #expect(newer.card == nil && newer.counts.isDismissed == (kind == .dismissed))
        newer.pass(60)
        newer.score("g1")
        #expect(newer.sent.isEmpty)
    }

    @Test func `S7: dismissals of the night go over too`() throws {
        var older = Bench.confirmed()
        older.report(.dismissed)
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        var newer = Self.newer(at: older.now)
        newer.apply(.owned(token: Bench.token, from: "phone", handover: handover))
        newer.select(["g2"])
        newer.pass(700)
        #expect(newer.join("g2").withheld == [.s9])
    }

    @Test func `S7, S4: an addition that still waited for its start counts as added at the newer record`() throws {
        var older = Bench.registered()
        older.join("g1")
        older.select(["g1"])
        #expect(older.lane.kept.deferred?.rule == .s8)
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        var newer = Self.newer(at: older.now)
        newer.lay("g1")
        newer.apply(.owned(token: Bench.token, from: "phone", handover: handover))
        newer.select(["g1"])
        newer.pass(31)
        #expect(newer.starts == 1)
    }

    @Test func `S7: events of the app about a card go to the owner`() {
        var bench = Bench.confirmed()
        bench.apply(.superseded(by: "newer", token: Bench.token))
        let report = CardReport(key: .slate, kind: .ended, activity: "a1", at: bench.now)
        #expect(bench.apply(.reported(report)).contains(.forward(.reported(report), to: "newer")))
        let effects = bench.cardToken(token: 5)
        #expect(effects.contains { if case .forward(.cardToken, to: "newer") = $0 { true } else { false } })
    }

    @Test func `S7: an answer that comes late does not make a superseded record the owner again`() {
        var bench = Bench.registered()
        bench.apply(.superseded(by: "newer", token: Bench.token))
        bench.apply(.owned(token: Bench.token, from: nil, handover: nil))
        #expect(bench.lane.kept.pushToStart?.ownership != .owner)
    }

    @Test func `S7: a record whose token is another by now has nothing of that phone`() {
        var bench = Bench.confirmed()
        let effects = bench.apply(.superseded(by: "newer", token: [0xee]))
        #expect(effects.contains(.handOver(nil, of: Bench.device, token: [0xee], to: "newer")))
        #expect(bench.state == .confirmed)
    }

    @Test func `S7: a superseded record that is deleted goes when its handover is taken`() {
        var bench = Bench.confirmed()
        bench.apply(.superseded(by: "newer", token: Bench.token))
        #expect(!bench.apply(.removed).contains(.erase))
        #expect(bench.apply(.handoverTaken(by: "newer")).contains(.erase))
    }
}

extension OwnershipTests {
    @Test func `S7, L3: a card that the app has reported under the newer record already is the same card, and stands`()
        throws
    {
        var older = Bench.confirmed()
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        var newer = Self.newer(at: older.now)
        newer.select(["g1", "g2"])
        newer.join("g1")
        newer.cardToken()
        newer.pass(31)
        newer.verdict(.accepted)
        let effects = newer.apply(.owned(token: Bench.token, from: "phone", handover: handover))
        #expect(effects.ends.isEmpty)
        #expect(newer.lane.kept.owedEnds.isEmpty)
        #expect(newer.card?.activity == "a1")
        #expect(newer.card?.ageBegan == handover.cards.first?.ageBegan)
        #expect(newer.card?.startedBy == .push)
    }

    @Test(arguments: [true, false])
    func `S7, P5, U1: what the newer record has told a card itself counts, and timestamps go on from both`(
        isAnswered: Bool
    ) throws {
        var older = Bench.confirmed()
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        var newer = Bench(at: older.now, device: "newer")
        newer.register { $0.pushToStart = .null }
        newer.select(["g1"])
        newer.join("g1")
        newer.cardToken()
        newer.pass(31)
        newer.verdict(.accepted)
        let last = try #require(newer.score("g1").updates.first)
        if isAnswered { newer.verdict(.accepted) }
        newer.register { _ in }
        let mark = try #require(handover.marks.first)
        var given = handover
        given.marks = [
            SentMark(key: mark.key, fingerprint: mark.fingerprint, front: mark.front, timestamp: last.timestamp + 500)
        ]
        #expect(newer.apply(.owned(token: Bench.token, from: "phone", handover: given)).updates.isEmpty)
        if !isAnswered { newer.verdict(.accepted) }
        #expect(newer.pass(60).updates.isEmpty)
        let next = try #require(newer.score("g1").updates.first)
        #expect(next.timestamp > last.timestamp + 500)
    }
}

extension OwnershipTests {
    @Test func `S7: nothing is sent to a card while the phone is being handed over`() throws {
        var older = Bench.confirmed()
        let handover = try #require(Self.handover(older.apply(.superseded(by: "newer", token: Bench.token))))
        var newer = Self.newer(at: older.now)
        newer.select(["g1", "g2"])
        newer.join("g1")
        newer.cardToken()
        newer.pass(31)
        #expect(newer.sent.isEmpty)
        newer.apply(.owned(token: Bench.token, from: "phone", handover: handover))
        newer.pass(31)
        #expect(newer.score("g1").updates.count == 1)
    }
}
