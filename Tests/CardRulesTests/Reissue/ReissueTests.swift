import Testing

@testable import CardRules

@Suite struct ReissueTests {
    /// A session's card at the moment it is reissued, its successor's start under way.
    private func replacing(_ id: CardKey = "nap", change: (inout Bench) -> Void = { _ in }) -> Bench {
        var bench = Bench.showing(id)
        change(&bench)
        bench.passToReissue(of: id)
        return bench
    }

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

    // MARK: - R5

    /// 23:00 to 07:00 UTC.
    private func night(startedAt seconds: Double, quiet: (Int, Int)) -> Bench {
        Bench.showing("nap", at: Bench.evening.advanced(bySeconds: seconds)) { patch in
            patch.quietHours = QuietHours(fromMinute: quiet.0, toMinute: quiet.1).map { .value($0) } ?? .null
        }
    }

    @Test func `R5: due outside quiet hours it is reissued, wherever the limit falls`() throws {
        // 20:00 + 7:45 = 03:45, quiet from 03:50: the limit at 04:00 lies inside.
        var bench = night(startedAt: 0, quiet: (230, 420))
        #expect(bench.passToReissue(of: "nap").pushes == ["nap start"])
    }

    @Test func `R5: tried again inside quiet hours when it was due outside`() {
        var bench = night(startedAt: 0, quiet: (225, 420))  // from 03:45
        bench.passToReissue(of: "nap")
        bench.answer("nap", .notSent)
        bench.pass(60)
        bench.answer("nap", .notSent)
        #expect(bench.pass(60).pushes == ["nap start"])
        #expect(bench.lane.kept.settings.quietHours?.contains(bench.now, in: .utc) == true)
    }

    @Test func `R5: due inside with the limit outside it is reissued when quiet hours end`() throws {
        // Due at 03:45, quiet from 22:00 to 03:50, the limit at 04:00.
        var bench = night(startedAt: 0, quiet: (1320, 230))
        let plan = try #require(bench.plan("nap"))
        #expect(plan.reissueAt == Bench.evening.advanced(bySeconds: 7 * 3600 + 50 * 60))
        #expect(bench.pass(plan.reissueAt!.seconds(since: bench.now) - 1).orders.isEmpty)
        #expect(bench.pass(1).pushes == ["nap start"])
    }

    @Test func `R5: quiet hours that end in the last minute still let it be reissued, not ended`() throws {
        // Quiet until 04:00 with the limit a little later: L8's moment lies inside.
        var bench = night(startedAt: 20, quiet: (1320, 240))
        bench.pass(plan(bench).endAt.seconds(since: bench.now))
        #expect(bench.effects.pushes == ["nap start"])
        #expect(bench.state("nap") == .replacing)
    }

    private func plan(_ bench: Bench) -> LifePlan { bench.plan("nap")! }

    @Test func `R5, L8: both inside it is ended a minute before its limit and the successor starts in the morning`()
        throws
    {
        // 23:10 + 7:45 = 06:55, the limit at 07:10, quiet from 22:00 to 09:00: opened as quiet hours would have it, with
        // the start allowed by setting them afterwards.
        var bench = Bench.showing("nap", at: Bench.evening.advanced(bySeconds: 3 * 3600 + 600))
        bench.patch { $0.quietHours = QuietHours(fromMinute: 1320, toMinute: 540).map { .value($0) } ?? .null }
        #expect(plan(bench).reissueAt == nil)
        let limit = plan(bench).limitAt
        bench.pass(limit.seconds(since: bench.now) - 60)
        #expect(bench.effects.pushes == ["nap end"] && bench.effects.decided(.end) == ["L8 nap"])
        #expect(bench.effects.decided(.withheld) == ["S5 nap"])
        bench.answer("nap", .accepted)
        bench.restart()
        bench.put("nap", count: 4)
        let morning = Bench.evening.advanced(bySeconds: 13 * 3600)
        #expect(bench.pass(morning.seconds(since: bench.now) - 1).orders.isEmpty)
        let effects = bench.pass(1)
        #expect(effects.pushes == ["nap start"] && effects.starts[0].count == 4)
        #expect(effects.starts[0].isSuccessor && !effects.starts[0].makesSound)
        #expect(effects.decided(.reissue) == ["R5 nap"])
    }

    @Test func `R5: the successor of the morning does not start for a session stopped meanwhile`() {
        var bench = Bench.showing("nap", at: Bench.evening.advanced(bySeconds: 3 * 3600 + 600))
        bench.patch { $0.quietHours = QuietHours(fromMinute: 1320, toMinute: 540).map { .value($0) } ?? .null }
        bench.pass(plan(bench).limitAt.seconds(since: bench.now) - 60)
        bench.answer("nap", .accepted)
        bench.stop()
        bench.pass(12 * 3600)
        #expect(bench.starts == 1 && bench.lane.kept.sessions.isEmpty)
    }

    @Test func `R5, S5: the plan follows the quiet hours and the zone that the app reports`() throws {
        var bench = Bench.showing("nap")
        let due = try #require(plan(bench).reissueAt)
        bench.patch { $0.quietHours = QuietHours(fromMinute: 180, toMinute: 300).map { .value($0) } ?? .null }
        #expect(plan(bench).reissueAt == nil)  // due 03:45, the limit 04:00, quiet from 03:00 to 05:00
        bench.patch { $0.zone = Zone(name: "Asia/Tokyo", fixedOffsetSeconds: 9 * 3600) }
        #expect(plan(bench).reissueAt == due)
    }

    // MARK: - R6 and the slate

    /// A slate card at the moment it is due.
    private func dueSlate(_ change: (inout Bench) -> Void = { _ in }) -> Bench {
        var bench = Bench.confirmed()
        change(&bench)
        bench.pass(bench.plan(.slate)!.reissueAt!.seconds(since: bench.now))
        return bench
    }

    @Test func `R2, R6, P1: a slate card with a game under way is reissued with the same games, without sound`() throws
    {
        var bench = dueSlate { $0.patch { $0.sound = true } }
        let start = try #require(bench.effects.starts.first)
        #expect(start.content.games == ["g1"] && start.kind == .start(withSound: false))
        let ended = bench.answer(.slate, .accepted)
        #expect(ended.pushes == ["slate end"])
        #expect(bench.counts.sent == 1 && bench.counts.reissued == 1)
        bench.answer(.slate, .accepted)
        bench.cardToken("a2", token: 2)
        #expect(bench.state == .confirmed && bench.front == "g1")
        bench.pass(60)
        #expect(bench.score("g1").updates.map(\.address.token) == [[2]])
    }

    @Test func `R6: nothing qualifies, and the slate is ended instead of reissued`() {
        var bench = Bench.confirmed()
        let due = bench.plan(.slate)!.reissueAt!
        bench.pass(due.seconds(since: bench.now) - 1)
        #expect(bench.leave("g1").pushes == ["slate end"])
        #expect(bench.pass(600).starts.isEmpty)
    }

    @Test func `S4: a reissue is no addition: a game that joined before it starts nothing afterwards`() {
        var bench = dueSlate()
        bench.answer(.slate, .accepted)
        bench.answer(.slate, .accepted)
        bench.pass(3600)
        #expect(bench.starts == 2)
    }

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

    // MARK: - What else can happen meanwhile

    @Test func `E3: a session stopped while its card is replaced ends both, the new one when its token comes`() {
        var bench = replacing()
        let stopped = bench.stop("nap", count: 42)
        #expect(stopped.ends.map(\.count) == [42])  // the old card
        let start = bench.sent.last { $0.event == .start }!
        bench.apply(.verdict(start.number, .accepted))
        #expect(bench.state("nap") == .ending)
        let last = bench.acknowledge("nap", activity: "nap-2", token: 2)
        #expect(last.ends.map(\.address.token) == [[2]] && last.ends[0].count == 42)
    }

    @Test func `E3: stopped while the successor is refused, the old card is ended and nothing starts`() {
        var bench = replacing()
        bench.answer("nap", .notSent)
        #expect(bench.stop().pushes == ["nap end"])
        bench.answer("nap", .accepted)
        bench.pass(3600)
        #expect(bench.starts == 2 && bench.lane.kept.cards.isEmpty && bench.lane.kept.successors.isEmpty)
    }

    @Test func `The user swiped the card away and it comes back: the pending reissue is cancelled`() {
        var bench = Bench.showing("nap")
        bench.report(.dismissed, "nap-1", key: "nap")
        bench.pass(9 * 3600)
        #expect(bench.starts == 1)
        var during = replacing()
        during.answer("nap", .notSent)
        during.report(.dismissed, "nap-1", key: "nap")
        during.pass(3600)
        #expect(during.starts == 2 && during.state("nap") == nil)
    }

    @Test func `S9: dismissed while the successor is on its way, that one is ended too`() {
        var bench = replacing()
        bench.report(.dismissed, "nap-1", key: "nap")
        let start = bench.sent.last { $0.event == .start }!
        bench.apply(.verdict(start.number, .accepted))
        #expect(bench.state("nap") == .ending)
        #expect(bench.acknowledge("nap", activity: "nap-2", token: 2).pushes == ["nap end"])
    }

    @Test func `L5: the app ends the old card while it is replaced: the successor is the card`() {
        var bench = replacing()
        bench.answer("nap", .unknown)
        #expect(bench.report(.ended, "nap-1", key: "nap").orders.isEmpty)
        #expect(bench.state("nap") == .believed)
        bench.acknowledge("nap", activity: "nap-2", token: 2)
        #expect(bench.state("nap") == .confirmed && bench.starts == 2)
    }

    @Test func `L6: the old card's token dies while it is replaced: the successor is the card`() {
        var bench = replacing()
        bench.answer("nap", .unknown)
        bench.pass(20)
        bench.put("nap", count: 1)
        bench.answer("nap", .refused(Refusal(.known(.unregistered), status: 410, deadSince: bench.now)))
        #expect(bench.state("nap") == .believed && bench.lane.kept.successors.isEmpty)
    }

    @Test func `L3: a third activity that appears while a card is replaced is the newest`() {
        var bench = Bench.showing("a", "b")
        bench.passToReissue(of: "a")
        bench.acknowledge("a", activity: "a-2", token: 102)
        #expect(bench.state("a") == .replacing)  // b of its portion is not accepted
        bench.pass(5)
        let effects = bench.acknowledge("a", activity: "a-3", token: 103)
        #expect(bench.lane.card("a")?.activity == "a-3" && bench.state("a") == .confirmed)
        #expect(Set(effects.ends.map(\.address.token)) == [[97], [102]])
    }

    @Test func `S7: a phone handed over in the middle of a reissue keeps both cards in mind`() {
        var old = replacing()
        let handed = old.apply(.superseded(by: "second", token: Bench.token))
        guard
            case .handOver(let handover?, _, _, _) = handed.first(where: {
                if case .handOver = $0 { true } else { false }
            })
        else {
            Issue.record("nothing was handed over")
            return
        }
        var new = Bench(at: old.now, device: "second")
        new.register { _ in }
        new.apply(.owned(token: Bench.token, from: Bench.device, handover: handover))
        #expect(new.state("nap") == .replacing && new.lane.kept.successors.map(\.state) == [.unknown])
        new.apply(.session(old.book["nap"]!, as: nil))
        #expect(new.lane.isRunning("nap"))
        #expect(new.acknowledge("nap", activity: "nap-2", token: 2).pushes == ["nap end"])
    }

    // MARK: - R7

    @Test func `R7: a deadline survives a restart, and one that passed meanwhile fires at once`() {
        var bench = Bench.showing("nap")
        bench.now = bench.plan("nap")!.reissueAt!.advanced(bySeconds: 200)
        #expect(bench.restart().pushes.contains("nap start"))
    }

    @Test func `R7: an overdue reissue waits for the lane's turn, and says whose limit is nearest`() throws {
        var bench = Bench.showing("a", "b")
        bench.now = bench.plan("b")!.reissueAt!.advanced(bySeconds: 200)
        let floor = bench.sent.map(\.timestamp).max()! + 60
        let limit = bench.plan("a")!.limitAt
        bench.lane = LaneState(
            restoring: bench.lane.kept, zone: .utc, timestampFloor: floor, sessions: Array(bench.book.values))
        let overdue = bench.lane.overdueReissues(at: bench.now, in: bench.surroundings)
        #expect(overdue?.limit == limit && overdue?.starts == 2)
        bench.lane.holdReissues(until: bench.now.advanced(bySeconds: 3))
        #expect(bench.apply(.look).starts.isEmpty)
        for key: CardKey in ["a", "b"] { bench.answer(key, .accepted) }  // the one update after a restart
        #expect(bench.pass(2.9).starts.isEmpty)
        #expect(bench.pass(0.1).starts.count == 2)
    }

    @Test func `R7: a clock set back does not hold a reissue longer than its rule says`() throws {
        var bench = Bench.showing("nap")
        bench.pass(3600)
        bench.now = bench.now.advanced(bySeconds: -7200)
        bench.apply(.look)
        let plan = try #require(bench.plan("nap"))
        #expect(plan.limitAt <= bench.now.advanced(bySeconds: 28_800))
        #expect(bench.passToReissue(of: "nap").pushes.contains("nap start"))
    }

    @Test func `calendar arithmetic: ticks and updates leave the plan as it was made`() {
        var bench = Bench.showing("nap")
        let before = bench.plan("nap")
        bench.select(["g1"])
        bench.pass(31)
        bench.join("g1")
        for count in Int64(1)...20 {
            bench.put("nap", count: count)
            bench.score("g1")
        }
        #expect(bench.plan("nap") == before && before != nil)
    }
}
