import Testing

@testable import CardRules

@Suite struct VerdictTests {
    @Test func `G5: TooManyRequests holds an update back a minute, doubling to fifteen, until one is accepted`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        for wait in [60.0, 120, 240, 480, 900, 900] {
            bench.refuse(.tooManyRequests)
            #expect(bench.pass(wait - 0.1).updates.isEmpty)
            #expect(bench.pass(0.1).updates.count == 1)
        }
        bench.verdict(.accepted)
        bench.pass(60)
        bench.score("g1")
        bench.refuse(.tooManyRequests)
        #expect(bench.pass(60).updates.count == 1)
    }

    @Test func `G5: TooManyRequests holds a start back a minute, doubling to fifteen`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        for wait in [60.0, 120, 240, 480, 900, 900] {
            bench.refuse(.tooManyRequests)
            #expect(bench.counts.sent == 0)
            #expect(bench.pass(wait - 0.1).starts.isEmpty)
            #expect(bench.pass(0.1).starts.count == 1)
        }
    }

    @Test(arguments: [RefusalReason.Known.internalServerError, .serviceUnavailable])
    func `G5: a 5xx holds starts and updates for a quarter of an hour`(reason: RefusalReason.Known) {
        var update = Bench.confirmed()
        update.score("g1")
        update.refuse(reason)
        #expect(update.pass(899.9).updates.isEmpty)
        #expect(update.pass(0.1).updates.count == 1)
        var start = Bench.following("g1")
        start.join("g1")
        start.refuse(reason)
        #expect(start.pass(899.9).starts.isEmpty)
        #expect(start.pass(0.1).starts.count == 1)
    }

    @Test func `G5: a hold of the gateway is over early when a fresh token comes`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        bench.refuse(.tooManyRequests)
        bench.register { $0.pushToStart = .value(PushAddress(token: [0xa9], gateway: .production)) }
        #expect(bench.apply(.owned(token: [0xa9], from: nil, handover: nil)).starts.count == 1)
    }

    @Test func `G3: an operator's fault charges nothing, and the start is tried again while its game is there`() {
        var bench = Bench.following("g1")
        bench.join("g1")
        for _ in 0..<20 {
            bench.refuse(.topicDisallowed)
            #expect(bench.counts.sent == 0)
            #expect(bench.pass(30).starts.count == 1)
        }
        bench.refuse(.invalidProviderToken)
        bench.leave("g1")
        #expect(bench.pass(3600).starts.isEmpty)
    }

    @Test func `a verdict of a push that nobody waits for changes nothing`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        let number = bench.sent.last?.number ?? PushNumber(0)
        bench.verdict(.accepted)
        let before = bench.lane.kept
        for verdict in [Verdict.accepted, .unknown, .notSent, .refused(Refusal(.known(.badDeviceToken), status: 400))] {
            #expect(bench.apply(.verdict(number, verdict)).isEmpty)
            #expect(bench.apply(.verdict(PushNumber(999), verdict)).isEmpty)
        }
        #expect(bench.lane.kept == before)
    }

    @Test func `A4: an update discarded for a newer selection makes room for the newer at once`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.lay("g2")
        bench.score("g1")
        bench.pass(20)
        bench.select(["g2", "g1"])
        #expect(bench.verdict(.notSent).updates.count == 1)
    }
}
