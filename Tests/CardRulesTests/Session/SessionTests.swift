import Testing

@testable import CardRules

@Suite struct SessionTests {
    @Test func `S4, P3: a session that is opened starts its card, with the time of day when it began`() throws {
        let tokyo = Zone(name: "Asia/Tokyo", fixedOffsetSeconds: 9 * 3600)
        var bench = Bench.registered()
        bench.patch { $0.zone = tokyo }
        let effects = bench.put("nap", count: 3, startedAt: Bench.evening.advanced(bySeconds: 15 * 60))
        let start = try #require(effects.starts.first)
        #expect(start.key == "nap" && start.count == 3 && start.since == "05:15" && !start.isSuccessor)
        #expect(start.priority == .immediate && start.relevance == nil)
        #expect(effects.decided(.start) == ["S4 nap"])
        #expect(bench.lane.card("nap")?.state == .starting)
    }

    @Test func `L1: the claim and the record are durable before a session's start leaves`() {
        var bench = Bench.registered()
        let effects = bench.put()
        let claim = effects.index { if case .claim(_, _, "nap") = $0 { true } else { false } }
        let save = effects.index { $0 == .save }
        let send = effects.index { if case .send = $0 { true } else { false } }
        #expect(claim == 0 && save == 1 && send == 2)
    }

    @Test func `P1: a session's first start makes a sound where the device asks for it`() {
        var bench = Bench.registered()
        bench.patch { $0.sound = true }
        #expect(bench.put().starts.first?.makesSound == true)
    }

    @Test func `S4: what is heard twice, or late, adds nothing`() {
        var bench = Bench.registered()
        bench.put()
        let first = bench.book["nap"]!
        bench.answer("nap", .accepted)
        bench.acknowledge("nap")
        bench.put(count: 1)
        bench.pass(600)
        #expect(bench.apply(.session(first, as: nil)).orders.isEmpty)
        #expect(bench.apply(.session(bench.book["nap"]!, as: nil)).orders.isEmpty)
        #expect(bench.starts == 1)
    }

    @Test func `U1, U3: the content changes at any time, and the latest goes when the gap is over`() {
        var bench = Bench.showing("nap")
        #expect(bench.put(count: 1).updates.map(\.count) == [1])
        bench.answer("nap", .accepted)
        #expect(bench.put(count: 2).orders.isEmpty)
        #expect(bench.put(count: 3).orders.isEmpty)
        #expect(bench.pass(15).updates.map(\.count) == [3])
        bench.answer("nap", .accepted)
        #expect(bench.put(count: 3).orders.isEmpty)  // the same content
        #expect(bench.pass(600).orders.isEmpty)
    }

    @Test func `P6: what the caller calls urgent goes at once at priority 10, the rest at 5`() {
        var bench = Bench.showing("nap")
        #expect(bench.put(count: 1).updates.map(\.priority) == [.conserving])
        bench.answer("nap", .accepted)
        bench.pass(2)
        #expect(bench.put(count: 2, urgent: true).updates.map(\.priority) == [.immediate])
        bench.answer("nap", .accepted)
        #expect(bench.put(count: 3).orders.isEmpty)
        #expect(bench.pass(15).updates.map(\.priority) == [.conserving])
    }

    @Test func `P6: an urgent change that has to wait stays urgent, one taken back leaves nothing`() {
        var bench = Bench.showing("nap")
        bench.put(count: 1)
        bench.put(count: 2, urgent: true)
        bench.put(count: 3)
        #expect(bench.answer("nap", .accepted).orders.isEmpty)  // at most one a second
        #expect(bench.pass(1).updates.map(\.priority) == [.immediate])
        bench.answer("nap", .accepted)
        bench.pass(1)
        bench.lane.sending[0].holdUntil = bench.now.advanced(bySeconds: 5)
        bench.put(count: 4, urgent: true)
        bench.put(count: 3)
        bench.pass(60)
        #expect(bench.put(count: 5).updates.map(\.priority) == [.conserving])
    }

    @Test func `P6: above the hourly allowance an urgent change goes at priority 5 and is not dropped`() {
        var bench = Bench.showing("nap")
        var urgent = 0
        for count in Int64(1)...20 {
            let effects = bench.put(count: count, urgent: true) + bench.pass(20)
            #expect(effects.updates.map(\.count) == [count])
            urgent += effects.updates.count { $0.priority == .immediate }
            bench.answer("nap", .accepted)
        }
        #expect(urgent == 12)
    }

    @Test func `U4: content that changes before the token comes waits for it`() {
        var bench = Bench.registered()
        bench.put()
        bench.answer("nap", .accepted)
        #expect(bench.put(count: 1).orders.isEmpty && bench.put(count: 2).orders.isEmpty)
        bench.pass(60)
        #expect(bench.acknowledge("nap").updates.map(\.count) == [2])
    }

    @Test func `U6: a lost answer leaves the card dirty, and the latest goes a minute later`() {
        var bench = Bench.showing("nap")
        bench.put(count: 1)
        bench.answer("nap", .unknown)
        bench.put(count: 2)
        #expect(bench.pass(59).orders.isEmpty)
        #expect(bench.pass(1).updates.map(\.count) == [2])
    }

    @Test func `E1, E3: a session that is stopped ends its card, with the content shown last`() {
        var bench = Bench.showing("nap")
        let effects = bench.stop("nap", count: 99)
        #expect(effects.pushes == ["nap end"] && effects.ends.first?.count == 99)
        #expect(effects.ends.first?.isImmediateEnd(at: bench.now) == true)
        #expect(effects.decided(.end) == ["E3 nap"])
        #expect(effects.index { $0 == .save }! < effects.index { if case .send = $0 { true } else { false } }!)
        bench.answer("nap", .accepted)
        #expect(bench.lane.kept.cards.isEmpty && bench.lane.kept.sessions.isEmpty && bench.lane.sessions.isEmpty)
    }

    @Test func `E2: an end owed before the token is there waits for it, and a restart does not forget it`() {
        var bench = Bench.registered()
        bench.put()
        bench.answer("nap", .accepted)
        #expect(bench.stop("nap", count: 9).orders.isEmpty)
        bench.restart()
        bench.pass(1200)
        let effects = bench.acknowledge("nap")
        #expect(effects.pushes == ["nap end"] && effects.ends.first?.count == 9)
    }

    @Test func `E3, I8: an end that is refused or lost is tried again every minute`() {
        var bench = Bench.showing("nap")
        bench.stop()
        bench.answer("nap", .unknown)
        #expect(bench.pass(60).pushes == ["nap end"])
        bench.answer("nap", .notSent)
        #expect(bench.restart().pushes == ["nap end"])
    }

    @Test func `E3: a device that leaves the session has its card ended, the session runs on elsewhere`() {
        var bench = Bench.showing("nap")
        let effects = bench.put("nap", devices: ["other"], count: 5)
        #expect(effects.pushes == ["nap end"] && effects.ends.first?.count == 5)
        bench.answer("nap", .accepted)
        #expect(bench.put("nap", devices: ["other"], count: 6).orders.isEmpty)
        #expect(bench.put("nap", devices: ["other", Bench.device]).starts.isEmpty)  // S10
        #expect(bench.pass(600).pushes == ["nap start"])
    }

    @Test func `E3: a card of a session that is over ends as soon as the phone reports it`() {
        var bench = Bench.registered()
        #expect(bench.acknowledge("stranger").pushes == ["stranger end"])
        bench.answer("stranger", .accepted)
        #expect(bench.lane.kept.cards.isEmpty)
    }

    @Test func `a session opened anew after it was stopped starts when its old card is gone and the gap of S10 over`() {
        var bench = Bench.showing("nap")
        bench.stop()
        let again = bench.put("nap", startedAt: bench.now)
        #expect(again.starts.isEmpty && again.withheld == [.s3])
        #expect(bench.answer("nap", .accepted).withheld == [.s10])
        let effects = bench.pass(600)
        #expect(effects.pushes == ["nap start"])
    }

    @Test func `S5: opened in quiet hours it starts when they are over, if it still runs`() {
        func opened() -> Bench {
            var bench = Bench.registered(at: WallTime(seconds: Int64(1_768_086_000)))  // 23:00 UTC
            bench.patch { $0.quietHours = QuietHours(fromMinute: 1320, toMinute: 420).map { .value($0) } ?? .null }
            let effects = bench.put()
            #expect(effects.starts.isEmpty && effects.withheld == [.s5])
            #expect(effects.notes.first { $0.kind == .withheld }?.changesWhen == "quiet hours are over, at 07:00")
            return bench
        }
        var bench = opened()
        #expect(bench.pass(8 * 3600 - 1).orders.isEmpty)
        #expect(bench.pass(1).pushes == ["nap start"])
        var stopped = opened()
        stopped.stop()
        #expect(stopped.pass(9 * 3600).orders.isEmpty && stopped.lane.kept.sessions.isEmpty)
    }

    @Test func `S5: a restart keeps what waits for the end of quiet hours`() {
        var bench = Bench.registered(at: WallTime(seconds: Int64(1_768_086_000)))
        bench.patch { $0.quietHours = QuietHours(fromMinute: 1320, toMinute: 420).map { .value($0) } ?? .null }
        bench.put()
        bench.restart()
        #expect(bench.pass(8 * 3600).pushes == ["nap start"])
    }

    @Test func `S13: no more than five cards of sessions and slate together, the sixth waits for room`() {
        var bench = Bench.confirmed()
        for id: CardKey in ["a", "b", "c", "d"] { bench.stand(id) }
        bench.tuning.starts.hardCap = 100
        let sixth = bench.put("e")
        #expect(sixth.starts.isEmpty && sixth.withheld == [.s13])
        bench.stop("b")
        let room = bench.answer("b", .accepted)
        #expect(room.pushes == ["e start"])
        #expect(bench.lane.kept.cards.count == 5)
    }

    @Test func `S13: a slate waits for room among the sessions`() {
        var bench = Bench.registered()
        bench.select(["g1"])
        bench.tuning.starts.hardCap = 100
        for id: CardKey in ["a", "b", "c", "d", "e"] { bench.stand(id) }
        #expect(bench.join("g1").withheld == [.s13])
        bench.report(.ended, "c-1", key: "c")
        #expect(bench.starts == 6 && bench.state == .starting)
    }

    @Test func `S15: a device that starts its own card gets no start; its card is adopted, updated and ended`() {
        var bench = Bench.registered()
        let opened = bench.put("nap", startedOn: [Bench.device])
        #expect(opened.starts.isEmpty && opened.withheld == [.s15])
        #expect(bench.put("nap", count: 1).starts.isEmpty)  // and none later, when it is named no more
        bench.cardToken("own", token: 7, startedBy: .app, key: "nap")
        #expect(bench.card == nil && bench.lane.card("nap")?.startedBy == .app)
        bench.pass(20)
        #expect(bench.sent.map(\.event) == [.update] && bench.sent.last?.count == 1)
        bench.answer("nap", .accepted)
        #expect(bench.passToReissue(of: "nap").pushes == ["nap start"])
        bench.answer("nap", .accepted)
        #expect(bench.stop().pushes.contains("nap end") || bench.state("nap") == .ending)
    }

    @Test func `S1, S2: what the phone lacks only defers a session's start`() {
        var bench = Bench.registered()
        bench.patch { $0.user = .null }
        #expect(bench.put().withheld == [.s1])
        #expect(bench.patch { $0.user = .value("owner") }.pushes == ["nap start"])
        var old = Bench.registered()
        old.patch { $0.osVersion = OSVersion(major: 17, minor: 1) }
        #expect(old.put().withheld == [.s2])
        #expect(old.patch { $0.osVersion = OSVersion(major: 17, minor: 2) }.pushes == ["nap start"])
    }

    @Test func `S8: a fresh selection holds the slate, not a session`() {
        var bench = Bench.registered()
        bench.select(["g1"])
        #expect(bench.put().pushes == ["nap start"])
    }

    @Test func `A4: a new selection does not discard what was computed for a session`() {
        var bench = Bench.showing("nap")
        let order = bench.put(count: 1).updates[0]
        bench.select(["g1"])
        #expect(bench.lane.isCurrent(order))
        bench.answer("nap", .notSent)
        #expect(bench.pass(59).orders.isEmpty && bench.pass(1).updates.count == 1)
    }

    @Test func `S9: dismissed by its owner, no start for that session the rest of the night`() {
        var bench = Bench.showing("nap")
        bench.report(.dismissed, "nap-1", key: "nap")
        #expect(bench.state("nap") == nil)
        bench.put(count: 1)
        bench.pass(3600)
        bench.stop()
        let again = bench.put("nap", startedAt: bench.now)
        #expect(again.starts.isEmpty && again.withheld == [.s9])
    }

    @Test func `S6: an ordinary start leaves a unit of the hard cap for each session card, its own included`() {
        var bench = Bench.registered()
        bench.tuning.starts.hardCap = 4
        bench.stand("a")
        bench.stand("b")  // 2 spent, 2 kept for a and b
        #expect(bench.put("c").withheld == [.s6])
        bench.select(["g1"])
        bench.pass(31)
        #expect(bench.join("g1").withheld == [.s6])
        #expect(bench.ledger.spent == 2)
        // One card stands, one unit is spent: b needs its own start, a unit for a and one for itself.
        for (cap, starts) in [(3, false), (4, true)] {
            var single = Bench.registered()
            single.tuning.starts.hardCap = cap
            single.stand("a")
            #expect(single.put("b").starts.isEmpty != starts, "cap \(cap)")
        }
    }

    @Test func `L2: a refused session start is given back and decided again when the hold is over`() {
        var bench = Bench.registered()
        bench.put()
        let refused = bench.answer("nap", .refused(Refusal(.known(.tooManyRequests), status: 429)))
        #expect(refused.decided(.withheld) == ["G5 nap"] && bench.ledger.spent == 0 && bench.state("nap") == nil)
        #expect(bench.pass(59).orders.isEmpty)
        #expect(bench.pass(1).pushes == ["nap start"])
    }

    @Test func `L2: an unknown verdict is believed and not repeated`() {
        var bench = Bench.registered()
        bench.put()
        bench.answer("nap", .unknown)
        bench.restart()
        bench.pass(7 * 3600)
        #expect(bench.starts == 1 && bench.state("nap") == .believed && bench.ledger["nap"].sent == 1)
    }

    @Test func `S1: the cards of another user's sessions end, and nothing of them starts for the next one`() {
        var bench = Bench.showing("nap")
        let effects = bench.patch { $0.user = .value("someone else") }
        #expect(effects.pushes == ["nap end"])
        bench.answer("nap", .accepted)
        bench.pass(3600)
        #expect(bench.starts == 1)
    }

    @Test
    func `S7: cards, sessions and what is due go to the phone's new record, which ends them when the session stops`() {
        var old = Bench.showing("nap")
        old.put("ride")
        old.answer("ride", .accepted)
        let handed = old.apply(.superseded(by: "second", token: Bench.token))
        guard
            case .handOver(let handover?, _, _, _) = handed.first(where: {
                if case .handOver = $0 { true } else { false }
            })
        else {
            Issue.record("nothing was handed over")
            return
        }
        #expect(old.lane.kept.sessions.isEmpty && old.lane.kept.cards.isEmpty)
        var new = Bench(at: old.now, device: "second")
        new.register { _ in }
        let owned = new.apply(.owned(token: Bench.token, from: Bench.device, handover: handover))
        #expect(owned.contains(.askSessions(["nap", "ride"])))
        #expect(owned.orders.isEmpty)
        // The session still names the first record: its news is forwarded.
        let stopped = old.book["nap"]!.stopped(at: new.now)
        #expect(old.apply(.session(stopped, as: nil)) == [.forward(.session(stopped, as: Bench.device), to: "second")])
        new.apply(.session(old.book["ride"]!, as: nil))
        #expect(new.apply(.session(stopped, as: Bench.device)).pushes == ["nap end"])
        #expect(new.state("ride") == .believed && new.lane.isRunning("ride"))
    }

    @Test func `a removed device ends its sessions' cards and hears no more of them`() {
        var bench = Bench.showing("nap")
        #expect(bench.apply(.removed).pushes == ["nap end"])
        #expect(bench.put(count: 1).starts.isEmpty)
        #expect(bench.answer("nap", .accepted).contains(.erase))
    }

    @Test func `A phone out of reach collects a pile of cards: sixty changes, one start`() {
        var bench = Bench.registered()
        bench.put()
        bench.answer("nap", .accepted)
        for count in Int64(1)...60 {
            bench.put(count: count)
            bench.pass(120)
        }
        #expect(bench.starts == 1)
        #expect(bench.acknowledge("nap").updates.map(\.count) == [60])
    }

    @Test func `a tick that concerns no game of the lane makes no effect while sessions stand`() {
        var bench = Bench.showing("nap")
        bench.select(["g1"])
        bench.lay("g9")
        bench.apply(.tick)
        #expect(bench.tick("g9") { $0.homeScore += 1 }.isEmpty)
    }
}
