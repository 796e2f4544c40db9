import Testing

@testable import CardRules

@Suite struct TokenTests {
    @Test func `G1: "iOS has none" is recorded beside the token held and never erases it`() {
        var bench = Bench.registered()
        bench.patch { $0.pushToStart = .null }
        let held = bench.lane.kept.pushToStart
        #expect(held?.address == PushAddress(token: Bench.token, gateway: .production))
        #expect(held?.noneReportedAt == bench.now)
        #expect(held?.ownership == .owner)
    }

    @Test func `G1: a token and its gateway are saved before anything is asked about them`() throws {
        var bench = Bench()
        let effects = bench.register { $0.pushToStart = .value(PushAddress(token: [7], gateway: .sandbox)) }
        #expect(bench.lane.kept.pushToStart?.address == PushAddress(token: [7], gateway: .sandbox))
        let save = try #require(effects.firstIndex(of: .save))
        let claim = try #require(effects.firstIndex(of: .claimPhone(token: [7])))
        #expect(save < claim)
    }

    @Test func `G2: a start refused with BadDeviceToken goes once to the other gateway, on the same claim`() throws {
        var bench = Bench.following("g1")
        bench.join("g1")
        let effects = bench.refuse(.badDeviceToken)
        #expect(effects.starts.map(\.address.gateway) == [.sandbox])
        #expect(!effects.contains { if case .claim = $0 { true } else { false } })
        #expect(bench.verdict(.accepted).contains(.save))
        #expect(bench.lane.kept.pushToStart?.address == PushAddress(token: Bench.token, gateway: .sandbox))
        #expect(bench.counts.sent == 1)
        #expect(bench.state == .believed)
    }

    @Test func `G2: refused at both gateways, the push-to-start token is cleared and the spend given back`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.refuse(.badDeviceToken)
        #expect(bench.refuse(.badDeviceToken).starts.isEmpty)
        #expect(bench.lane.kept.pushToStart?.address == nil)
        #expect(bench.counts.sent == 0)
        #expect(bench.lane.kept.deferred?.rule == .s2)
        bench.pass(3600)
        #expect(bench.starts == 2)
        bench.register { $0.pushToStart = .value(PushAddress(token: [0xa9], gateway: .production)) }
        #expect(bench.apply(.owned(token: [0xa9], from: nil, handover: nil)).starts.map(\.address.token) == [[0xa9]])
    }

    @Test func `G2: a token refused by one gateway alone is not cleared, though its card is not wanted any more`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.leave("g1")
        bench.refuse(.badDeviceToken)
        #expect(bench.card == nil)
        #expect(bench.lane.kept.pushToStart?.address != nil)
    }

    @Test func `G3: a refusal of an old token says nothing about the one reported since`() {
        for reason in [RefusalReason.Known.badDeviceToken, .unregistered, .tooManyRequests] {
            var bench = Bench.following("g1")
            bench.join("g1")
            bench.register { $0.pushToStart = .value(PushAddress(token: [0xa9], gateway: .production)) }
            bench.apply(.owned(token: [0xa9], from: nil, handover: nil))
            #expect(bench.refuse(reason).starts.map(\.address.token) == [[0xa9]], "\(reason)")
            #expect(bench.lane.kept.pushToStart?.address?.token == [0xa9])
        }
    }

    @Test func `G2: an update goes once to the other gateway, and what accepts it is recorded`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        #expect(bench.refuse(.badDeviceToken).updates.map(\.address.gateway) == [.sandbox])
        bench.verdict(.accepted)
        #expect(bench.card?.updateAddress == PushAddress(token: [1], gateway: .sandbox))
    }

    @Test
    func `L6: an update token refused at both gateways makes the card absent, starts nothing, clears nothing else`() {
        var bench = Bench.confirmed()
        bench.pass(600)
        bench.score("g1")
        bench.refuse(.badDeviceToken)
        bench.refuse(.badDeviceToken)
        #expect(bench.card == nil)
        #expect(bench.lane.kept.pushToStart?.address != nil)
        bench.pass(3600)
        bench.score("g1")
        #expect(bench.starts == 1)
    }

    @Test func `L6: 410 makes the card absent, unless the app has reported the token later`() {
        var gone = Bench.confirmed()
        gone.score("g1")
        gone.refuse(.unregistered, deadSince: gone.now)
        #expect(gone.card == nil)
        var alive = Bench.confirmed()
        alive.score("g1")
        alive.refuse(.unregistered, deadSince: alive.card?.tokenReportedAt?.advanced(bySeconds: -1))
        #expect(alive.state == .confirmed)
        var unstamped = Bench.confirmed()
        unstamped.score("g1")
        unstamped.pass(1)
        unstamped.cardToken()
        unstamped.refuse(.expiredToken)
        #expect(unstamped.state == .confirmed)
    }

    @Test func `G3: a push-to-start token called unregistered is cleared only if that is later than its report`() {
        for (later, isCleared) in [(-1.0, false), (1.0, true)] {
            var bench = Bench.following("g1")
            bench.join("g1")
            let reported = bench.lane.kept.pushToStart?.reportedAt
            bench.refuse(.unregistered, deadSince: reported?.advanced(bySeconds: later))
            #expect((bench.lane.kept.pushToStart?.address == nil) == isCleared)
            #expect(bench.counts.sent == 0)
        }
    }

    @Test(arguments: RefusalReason.Known.allCases)
    func `G3: only token-specific answers ever clear a token`(reason: RefusalReason.Known) {
        let clears: Set<RefusalReason.Known> = [.badDeviceToken, .unregistered, .expiredToken]
        var start = Bench.following("g1")
        start.join("g1")
        start.refuse(reason, deadSince: start.now)
        if reason == .badDeviceToken { start.refuse(reason) }
        #expect((start.lane.kept.pushToStart?.address == nil) == clears.contains(reason))
        #expect(start.counts.sent == 0)
        var update = Bench.confirmed()
        update.score("g1")
        update.refuse(reason, deadSince: update.now)
        if reason == .badDeviceToken { update.refuse(reason) }
        #expect((update.card == nil) == clears.contains(reason))
        #expect(update.lane.kept.pushToStart?.address != nil)
    }

    @Test func `L3: a token of an activity known to have ended is ignored`() {
        var bench = Bench.confirmed()
        bench.report(.ended)
        bench.cardToken()
        #expect(bench.card == nil)
    }

    @Test func `L3: a card that the app started is adopted and updated like any other`() {
        var bench = Bench.registered()
        bench.join("g1")
        bench.select(["g1"])
        let effects = bench.cardToken(startedBy: .app, began: bench.now.advanced(bySeconds: -5))
        #expect(bench.state == .confirmed)
        #expect(bench.card?.ageBegan == bench.now.advanced(bySeconds: -5))
        #expect(effects.updates.count == 1)
    }

    @Test func `L3: the newest activity under a key is the card, the older is ended at once`() throws {
        var bench = Bench.confirmed()
        let end = try #require(bench.cardToken("a2", token: 2).ends.first)
        #expect(end.address.token == [1])
        #expect(end.kind == .end(dismissalDate: bench.now.unixSeconds))
        #expect(bench.card?.activity == "a2")
        bench.cardToken("a0", token: 3, began: bench.now.advanced(bySeconds: -3600))
        #expect(bench.effects.ends.map(\.address.token) == [[3]])
        #expect(bench.card?.activity == "a2")
    }

    @Test func `L3: an older activity's end is owed over failures, gateways and restarts`() {
        var bench = Bench.confirmed()
        bench.lay("g1") { $0.homeScore = 9 }
        bench.cardToken("a2", token: 2)
        #expect(bench.lane.kept.owedEnds.count == 1)
        #expect(bench.restart().ends.map(\.address.token) == [[1]])
        let number = bench.sent.last { $0.event == .end }?.number ?? PushNumber(0)
        bench.apply(.verdict(number, .refused(Refusal(.known(.badDeviceToken), status: 400))))
        #expect(bench.effects.ends.map(\.address.gateway) == [.sandbox])
        bench.apply(.verdict(bench.effects.ends.first?.number ?? PushNumber(0), .unknown))
        let again = bench.pass(60).ends
        #expect(again.count == 1)
        bench.apply(.verdict(again.first?.number ?? PushNumber(0), .accepted))
        #expect(bench.lane.kept.owedEnds.isEmpty)
    }

    @Test func `L3: an older activity reported again does not become the card; its end follows its token`() {
        var bench = Bench.confirmed()
        bench.cardToken("a2", token: 2)
        #expect(bench.cardToken("a1", token: 3).ends.isEmpty)  // one is under way
        #expect(bench.card?.activity == "a2")
        // Whatever becomes of the push to the old token says nothing about the new one.
        for verdict in [Verdict.accepted, .unknown, .refused(Refusal(.known(.badDeviceToken), status: 400))] {
            var bench = bench
            bench.apply(.verdict(bench.sent.last { $0.event == .end }?.number ?? PushNumber(0), verdict))
            #expect(bench.effects.ends.map(\.address) == [PushAddress(token: [3], gateway: .production)])
            #expect(bench.lane.kept.owedEnds.map(\.activity) == ["a1"])
        }
    }

    @Test func `L4: fault 9: the age is counted from the accepted start, not from the token`() {
        var bench = Bench.believed()
        let accepted = bench.now
        bench.pass(1500)
        bench.cardToken(began: bench.now)
        #expect(bench.card?.ageBegan == accepted)
        bench.pass(600)
        bench.cardToken(token: 2)
        #expect(bench.card?.ageBegan == accepted)
        #expect(bench.card?.updateAddress?.token == [2])
    }

    @Test func `fault 4: a token that comes before, at or after the 200 of the start stays`() {
        for tokenFirst in [true, false] {
            var bench = Bench.following("g1")
            bench.join("g1")
            if tokenFirst { bench.cardToken() }
            bench.verdict(.accepted)
            if !tokenFirst { bench.cardToken() }
            #expect(bench.card?.updateAddress?.token == [1])
            bench.pass(20)
            #expect(bench.score("g1").updates.map(\.address.token) == [[1]])
        }
    }

    @Test func `G5: a token reported again unchanged lifts no hold`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        bench.refuse(.tooManyRequests)
        bench.cardToken()
        #expect(bench.pass(50).updates.isEmpty)
    }
}
