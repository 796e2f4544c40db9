import Testing

@testable import CardRules

/// R1, R2, R4: when cards are due, and the portions that they go in.
@Suite struct RoundTests {
    // MARK: - R1

    @Test func `R1, L4: due 7 h 45 min after the age began, within the spread before it, and before iOS ends it`()
        throws
    {
        let bench = Bench.showing("nap")
        let age = try #require(bench.lane.card("nap")?.ageBegan)
        let plan = try #require(bench.plan("nap"))
        let after = try #require(plan.reissueAt).seconds(since: age)
        #expect((27_780...27_900).contains(after))
        #expect(plan.endAt.seconds(since: age) == 28_740 && plan.limitAt.seconds(since: age) == 28_800)
    }

    @Test func `R1, After a restart every overdue timer fires at once, and they stay in step: the spread spreads`() {
        var tenths: [Int: Int] = [:]
        for number in 0..<5000 {
            let wait = spread(of: "nap", DeviceID(unchecked: "device-\(number)"), upTo: 120)
            #expect((0...120).contains(wait))
            tenths[Int(wait * 10), default: 0] += 1
        }
        #expect(tenths.values.max()! < 20 && tenths.count > 1000)
        // Two cards of one phone differ too.
        #expect(spread(of: "a", "phone", upTo: 120) != spread(of: "b", "phone", upTo: 120))
    }

    @Test func `R1: a card that never sent its token is not reissued`() {
        var bench = Bench.registered()
        bench.put()
        bench.answer("nap", .accepted)
        bench.pass(9 * 3600)
        #expect(bench.starts == 1 && bench.lane.kept.cards.isEmpty)
    }

    @Test
    func `L4, The card's age counted from the wrong moment: reissue is counted from the start, not from a late token`()
        throws
    {
        var bench = Bench.registered(at: WallTime(seconds: Int64(1_768_046_400)))  // 12:00:00 UTC
        bench.put()
        bench.answer("nap", .accepted)
        bench.pass(25 * 60)
        bench.acknowledge("nap")
        let due = try #require(bench.plan("nap")?.reissueAt)
        #expect(due <= Bench.evening.advanced(bySeconds: -900))  // 19:45:00
        #expect(due >= Bench.evening.advanced(bySeconds: -1020))
        let effects = bench.passToReissue(of: "nap")
        #expect(effects.starts.count == 1)
        // No gap: the successor is accepted long before iOS ends the old card at 20:00:04.
        bench.answer("nap", .accepted)
        bench.acknowledge("nap", activity: "nap-2", token: 2)
        #expect(bench.state("nap") == .confirmed && bench.now < Bench.evening)
    }

    // MARK: - R2, R4

    @Test func `R2, P1, P3: the successor carries the same content, makes no sound and does not read as news`() throws {
        var bench = replacing { bench in
            bench.patch { $0.sound = true }
            bench.put("nap", count: 7)
            bench.answer("nap", .accepted)
        }
        let start = try #require(bench.effects.starts.first)
        #expect(start.count == 7 && start.isSuccessor && !start.makesSound && start.since == "20:00")
        #expect(bench.effects.decided(.reissue) == ["R1 nap"])
        let accepted = bench.answer("nap", .accepted)
        #expect(accepted.pushes == ["nap end"])  // the old one, at once
        #expect(accepted.ends[0].isImmediateEnd(at: bench.now) && accepted.ends[0].address.token != start.address.token)
    }

    @Test func `R2: the old card stands until APNs has accepted the successor, then it makes way`() throws {
        var bench = replacing()
        let old = try #require(bench.lane.card("nap"))
        #expect(old.state == .replacing && old.activity == "nap-1")
        #expect(bench.pass(5).orders.isEmpty)
        let accepted = bench.answer("nap", .accepted)
        #expect(accepted.ends.map(\.address) == [old.updateAddress])
        let save = try #require(accepted.index { $0 == .save })
        #expect(save < accepted.index { if case .send = $0 { true } else { false } }!)
        let card = try #require(bench.lane.card("nap"))
        #expect(card.state == .believed && card.activity == nil && card.updateAddress == nil)
        #expect(card.ageBegan == bench.now && bench.lane.kept.successors.isEmpty)
        bench.answer("nap", .accepted)  // the end
        #expect(bench.lane.kept.owedEnds.isEmpty && bench.lane.kept.endedActivities == ["nap-1"])
        #expect(bench.acknowledge("nap", activity: "nap-2", token: 2).orders.isEmpty)
        #expect(bench.state("nap") == .confirmed)
    }

    @Test func `R2: an end lost on the way goes again every minute until the old card has expired anyway`() {
        var bench = replacing()
        bench.answer("nap", .accepted)
        bench.answer("nap", .unknown)
        #expect(bench.pass(60).pushes == ["nap end"])
        bench.restart()
        #expect(bench.sent.last?.event == .end)
        bench.pass(1000)
        #expect(bench.lane.kept.owedEnds.isEmpty)
        #expect(bench.sent.filter { $0.event == .end }.allSatisfy { $0.address.token != [2] })
    }

    @Test func `R2, S13: a round goes in portions, so that old and new never pass five`() {
        var bench = Bench.showing("a", "b", "c")
        bench.passToReissue(of: "a")
        #expect(bench.effects.pushes == ["a start", "b start"])
        bench.pass(125)
        #expect(bench.state("c") == .confirmed)  // due, and there is no room
        #expect(bench.answer("b", .accepted).orders.isEmpty)  // its portion is not done
        let done = bench.answer("a", .accepted)
        #expect(done.pushes == ["a end", "b end"] && done.starts.isEmpty)
        #expect(bench.answer("a", .accepted).pushes == ["c start"])
        #expect(bench.lane.kept.cards.count + bench.lane.kept.owedEnds.count + 1 == 5)
        bench.answer("c", .accepted)
        #expect(["a", "b", "c"].allSatisfy { bench.state($0) == .believed })
    }

    @Test func `R2: cards due within the spread go in one round`() {
        var bench = Bench.registered()
        bench.put("a")
        bench.answer("a", .accepted)
        bench.acknowledge("a")
        bench.pass(30)
        bench.put("b")
        bench.answer("b", .accepted)
        bench.acknowledge("b")
        let first = bench.plan("a")!.reissueAt! < bench.plan("b")!.reissueAt! ? "a" : "b"
        let effects = bench.passToReissue(of: CardKey(unchecked: first))
        #expect(Set(effects.starts.map(\.key)) == ["a", "b"])
    }

    @Test func `R2: one start of the portion refused, and no old card of it is ended`() {
        var bench = Bench.showing("a", "b")
        bench.passToReissue(of: "a")
        bench.answer("a", .accepted)
        let refused = bench.answer("b", .refused(Refusal(.known(.serviceUnavailable), status: 503)))
        #expect(refused.orders.isEmpty && refused.decided(.withheld) == ["R3 b"])
        #expect(bench.state("a") == .replacing && bench.state("b") == .replacing)
        #expect(bench.pass(60).pushes == ["b start"])  // only what was refused goes again
        #expect(bench.answer("b", .accepted).pushes == ["a end", "b end"])
    }

    @Test func `R2: at five cards the slate is ended first, and comes back when there is room`() {
        var bench = Bench.confirmed()
        bench.tuning.starts.hardCap = 100
        for id: CardKey in ["a", "b", "c", "d"] { bench.stand(id) }
        // The slate's own reissue is not what is tested here.
        bench.apply(.registered(DevicePatch()))
        bench.pass(bench.plan("a")!.reissueAt!.seconds(since: bench.now))
        while bench.effects.ends.isEmpty { bench.pass(1) }
        #expect(bench.effects.ends.map(\.key) == [.slate] && bench.effects.starts.isEmpty)
        #expect(bench.effects.decided(.end) == ["R2 slate"])
        let room = bench.answer(.slate, .accepted)
        #expect(room.starts.count == 1 && room.starts[0].key != .slate)
    }

    @Test func `R2: five sessions without a slate are all reissued, one after the other`() {
        var bench = Bench.registered()
        bench.tuning.starts.hardCap = 100
        for id: CardKey in ["a", "b", "c", "d", "e"] { bench.stand(id) }
        var most = 0
        bench.pass(27_700 - bench.now.seconds(since: Bench.evening))
        for _ in 0..<50 {
            bench.pass(20)
            for order in bench.sent.suffix(12) { bench.apply(.verdict(order.number, .accepted)) }
            for id: CardKey in ["a", "b", "c", "d", "e"] where bench.state(id) == .believed {
                bench.acknowledge(id, activity: ActivityID(unchecked: "\(id)-2"), token: 100 + id.text.utf8.first!)
            }
            most = max(most, bench.lane.standing)
        }
        #expect(bench.starts == 10 && most == 5)
        #expect(bench.lane.kept.cards.count == 5 && bench.lane.kept.cards.allSatisfy { $0.state == .confirmed })
        #expect(bench.sent.filter { $0.event == .start }.suffix(5).allSatisfy { $0.isSuccessor })
    }

    @Test func `R4: the start date is the same across any number of reissues`() {
        var bench = Bench.showing("nap")
        let began = bench.book["nap"]!.terms.startedAt
        for round in 2...4 {
            bench.passToReissue(of: "nap")
            bench.answer("nap", .accepted)
            bench.answer("nap", .accepted)
            bench.acknowledge("nap", activity: ActivityID(unchecked: "nap-\(round)"), token: UInt8(round))
        }
        let starts = bench.sent.filter { $0.event == .start }
        #expect(starts.count == 4)
        #expect(starts.allSatisfy { $0.content.session?.terms.startedAt == began && $0.since == "20:00" })
    }

    @Test func `U1, P6: after a reissue the new card is told only what differs from its start`() {
        var bench = replacing()
        bench.answer("nap", .accepted)
        bench.answer("nap", .accepted)
        #expect(bench.acknowledge("nap", activity: "nap-2", token: 2).orders.isEmpty)
        bench.pass(20)
        let update = bench.put("nap", count: 1)
        #expect(update.updates.map(\.address.token) == [[2]])
    }

    @Test func `U2, P5: a change while the start is under way follows it, to the card that then stands`() {
        var bench = replacing()
        #expect(bench.put("nap", count: 1).orders.isEmpty)
        bench.answer("nap", .accepted)
        bench.answer("nap", .accepted)
        #expect(bench.acknowledge("nap", activity: "nap-2", token: 2).updates.isEmpty)
        #expect(bench.pass(15).updates.map(\.count) == [1])
        let stamps = bench.sent.map(\.timestamp)
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `Success handling wipes the token that just arrived: the successor's token comes before its 200`() {
        for order in 0..<3 {
            var bench = replacing()
            bench.pass(1)
            if order == 0 { #expect(bench.acknowledge("nap", activity: "nap-2", token: 2).pushes == ["nap end"]) }
            bench.apply(.verdict(bench.sent.last { $0.event == .start }!.number, .accepted))
            if order > 0 { bench.acknowledge("nap", activity: "nap-2", token: 2) }
            if order == 2 { bench.restart() }
            #expect(bench.lane.card("nap")?.updateAddress?.token == [2] && bench.state("nap") == .confirmed)
            #expect(bench.ledger["nap"].accepted == 2 && bench.ledger["nap"].reissued == 1)
            bench.pass(20)
            #expect(bench.put("nap", count: 5).updates.map(\.address.token) == [[2]] || order == 2)
        }
    }
}

/// A session's card at the moment it is reissued, its successor's start under way.
func replacing(_ id: CardKey = "nap", change: (inout Bench) -> Void = { _ in }) -> Bench {
    var bench = Bench.showing(id)
    change(&bench)
    bench.passToReissue(of: id)
    return bench
}
