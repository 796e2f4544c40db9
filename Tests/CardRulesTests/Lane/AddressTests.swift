import Testing

@testable import CardRules

/// G1-G3, L3 and L6 where answers and reports cross: an answer concerns exactly the address that it answers for.
@Suite struct AddressTests {
    @Test func `G3: a refusal concerns exactly the token it names, not one reported meanwhile`() {
        for reason in [RefusalReason.Known.badDeviceToken, .unregistered, .expiredToken] {
            var bench = Bench.confirmed()
            bench.score("g1")
            let old = bench.sent.last?.number ?? PushNumber(0)
            bench.cardToken(token: 2)
            bench.apply(.verdict(old, .refused(Refusal(.known(reason), status: 410, deadSince: bench.now))))
            #expect(bench.card?.updateAddress?.token == [2], "\(reason)")
            #expect(bench.pass(15).updates.map(\.address.token) == [[2]], "\(reason)")
        }
    }

    @Test func `U6: an update accepted at a token that was replaced meanwhile goes once more, to the new one`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        bench.cardToken(token: 2)
        bench.verdict(.accepted)
        #expect(bench.pass(15).updates.map(\.address.token) == [[2]])
        bench.verdict(.accepted)
        #expect(bench.pass(600).updates.isEmpty)
    }

    @Test
    func `U6: what went to a token shortly before it was replaced goes once more, what went long before does not`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        bench.verdict(.accepted)
        bench.pass(20)
        #expect(bench.cardToken(token: 2).updates.map(\.address.token) == [[2]])
        bench.verdict(.accepted)
        bench.pass(61)
        #expect(bench.cardToken(token: 3).updates.isEmpty)
    }

    @Test func `L1: an end accepted at a token that was replaced meanwhile is owed to the new one`() {
        var bench = Bench.confirmed()
        bench.leave("g1")
        bench.cardToken(token: 2)
        #expect(bench.verdict(.accepted).ends.map(\.address.token) == [[2]])
        #expect(bench.state == .ending)
        bench.verdict(.accepted)
        #expect(bench.card == nil)
    }

    @Test func `G2: the gateway of a token flips in one write, and comes back with it after a restart`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        bench.refuse(.badDeviceToken)
        let effects = bench.verdict(.accepted)
        #expect(effects.contains(.save))
        #expect(bench.lane.kept.cards.map(\.updateAddress) == [PushAddress(token: [1], gateway: .sandbox)])
        bench.restart()
        #expect(bench.sent.last?.address == PushAddress(token: [1], gateway: .sandbox))
    }

    @Test func `G2: a token reported anew for the other gateway meanwhile is not cleared by the old answer`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.register { $0.pushToStart = .value(PushAddress(token: [0xb2], gateway: .sandbox)) }
        bench.apply(.owned(token: [0xb2], from: nil, handover: nil))
        bench.refuse(.badDeviceToken)
        #expect(bench.lane.kept.pushToStart?.address == PushAddress(token: [0xb2], gateway: .sandbox))
        #expect(bench.effects.starts.map(\.address.gateway) == [.sandbox])
    }

    @Test(arguments: ["before", "between", "after"])
    func `L4: a token that comes before, between and after the verdicts of two gateways confirms the card`(when: String)
    {
        var bench = Bench.following("g1")
        bench.join("g1")
        if when == "before" { bench.cardToken() }
        let first = bench.sent.last?.number ?? PushNumber(0)
        bench.apply(.verdict(first, .refused(Refusal(.known(.badDeviceToken), status: 400))))
        if when == "between" { bench.cardToken() }
        bench.verdict(.accepted)
        if when == "after" { bench.cardToken() }
        #expect(bench.state == .confirmed)
        #expect(bench.card?.updateAddress?.token == [1])
        #expect(bench.starts <= 2)
        bench.pass(3600)
        #expect(bench.starts <= 2)
    }

    @Test func `L3: a report about an activity that is not the card's changes the card in nothing`() {
        var bench = Bench.confirmed()
        let card = bench.card
        for kind in CardReport.Kind.allCases {
            bench.report(kind, "somebody else's")
            #expect(bench.card == card, "\(kind)")
            #expect(!bench.counts.isDismissed)
        }
        #expect(bench.cardToken("somebody else's").isEmpty == false)
        #expect(bench.card == card)
    }

    @Test func `S13: older activities whose end is still owed count among the cards that stand`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.tuning.starts.gapSeconds = 0
        for number in 2...6 { bench.cardToken(ActivityID(unchecked: "a\(number)"), token: UInt8(number)) }
        bench.report(.ended, "a6")
        #expect(bench.lane.kept.owedEnds.count == 5)
        bench.join("g2")
        #expect(bench.effects.withheld == [.s13])
        bench.report(.ended, "a1")
        #expect(bench.starts == 2)
    }

    @Test func `P5: timestamps of one activity rise also when its card was given up and comes back`() {
        var bench = Bench.confirmed()
        for _ in 0..<3 {
            bench.score("g1")
            bench.verdict(.accepted)
            bench.pass(20)
        }
        bench.now = bench.now.advanced(bySeconds: -3600)
        bench.apply(.look)
        bench.patch { $0.user = .null }
        let last = bench.sent.map(\.timestamp).max() ?? 0
        #expect(bench.sent.last?.timestamp == last)
        bench.cardToken("a7", token: 7)
        #expect(bench.sent.allSatisfy { $0.timestamp <= last } == false)
    }
}

extension AddressTests {
    @Test func `A4: what was decided before the app's last word carries an older revision than the lane`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        let start = bench.sent.last
        bench.patch { $0.spoilerFree = true }
        #expect(start?.content.spoilerFree == false)
        #expect(start?.selectionRevision != bench.lane.selectionRevision)
        // Discarded instead of sent, it is decided again at once.
        #expect(bench.verdict(.notSent).starts.map(\.content.spoilerFree) == [true])
        #expect(bench.counts.sent == 1)
    }

    @Test func `A3: taste takes the place of a selection when that is a day old, without any news`() {
        var bench = Bench.registered()
        bench.patch {
            $0.personalisation = .readable(Taste(teams: [:], leagues: [:], minimumWorth: 60, maxGames: 2))
        }
        bench.select(["g1"])
        bench.tick("g2") { $0.worth = 90 }
        #expect(bench.pass(86_399).starts.isEmpty)
        #expect(bench.pass(1).starts.map(\.content.games) == [["g2"]])
    }

    @Test func `P2, P7: the relevance of a spoiler-free card tells nothing of the game`() {
        var scores: Set<Double?> = []
        for (worth, lift) in [(20.0, 0.0), (95, 30)] {
            var bench = Bench.following("g1")
            bench.patch { $0.spoilerFree = true }
            bench.tick("g1") {
                $0.worth = worth
                $0.lift = lift
            }
            scores.insert(bench.sent.last?.relevance)
        }
        #expect(scores == [50])
    }
}

extension AddressTests {
    @Test(arguments: [false, true])
    func `L3, L4: a card of the app's own, taken for what a start became, is updated and proves nothing`(
        isReportedFirst: Bool
    ) {
        var bench = Bench.believed()  // APNs took the start, and the phone never saw it
        bench.pass(1000)
        if isReportedFirst { bench.report(.opened) }
        let began = bench.now
        let effects = bench.cardToken(startedBy: .app, began: began)
        #expect(effects.updates.count == 1)
        #expect(bench.card?.startedBy == .app)
        #expect(bench.card?.ageBegan == began)
        #expect(bench.counts.acknowledged == 0)
    }
}

extension AddressTests {
    @Test func `L5, L7: a late report about an older activity that has expired is not about the card that follows`() {
        var bench = Bench.confirmed()
        bench.pass(7 * 3600)
        bench.cardToken("a2", token: 2, began: bench.now)  // the older one's end is owed
        bench.pass(3600)  // and it has expired anyway
        #expect(bench.lane.kept.owedEnds.isEmpty)
        bench.lane.kept.cards[0].activity = nil  // as after a start that the app has not reported yet
        bench.report(.ended, "a1")
        #expect(bench.card != nil)
    }
}

extension AddressTests {
    @Test func `S3: what a start became stands behind the app's own card, until it is seen or its limit has come`() {
        var bench = Bench.believed("g1", "g2")
        let accepted = bench.now
        bench.cardToken("own", token: 9, startedBy: .app, began: bench.now.advanced(bySeconds: -2))
        bench.pass(700)
        bench.report(.ended, "own")
        #expect(bench.state == .believed && bench.card?.ageBegan == accepted)
        bench.lane.kept.ledger[.slate].sent = 0  // as in the next night
        bench.join("g2")
        #expect(bench.effects.withheld == [.s3])
        var seen = bench
        #expect(seen.cardToken().updates.count == 1)
        #expect(seen.state == .confirmed && seen.card?.ageBegan == accepted)
        bench.pass(28_800 - 700)
        #expect(bench.card == nil)
        // Refused, it became nothing.
        var refused = Bench.following("g1")
        refused.join("g1")
        refused.cardToken("own", token: 9, startedBy: .app)
        refused.refuse(.tooManyRequests)
        refused.report(.ended, "own")
        #expect(refused.card == nil)
    }
}
