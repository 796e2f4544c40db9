import Testing

@testable import CardRules

@Suite struct EndTests {
    @Test func `E1: the card ends when its last game leaves the window, with what it showed last`() throws {
        var bench = Bench.confirmed("g1", "g2")
        bench.join("g2")
        bench.verdict(.accepted)
        #expect(bench.leave("g2").ends.isEmpty)
        bench.pass(60)
        bench.verdict(.accepted)
        let end = try #require(bench.leave("g1").ends.first)
        #expect(end.content.games == ["g1"])
        #expect(end.kind == .end(dismissalDate: bench.now.unixSeconds))
        let age = try #require(bench.card?.ageBegan)
        #expect(end.expiration == age.unixSeconds + 12 * 3600)  // P10
        bench.verdict(.accepted)
        #expect(bench.card == nil)
    }

    @Test func `E1: an owed end is tried every minute until it is accepted`() {
        var bench = Bench.confirmed()
        bench.leave("g1")
        for verdict in [
            Verdict.notSent, .unknown, .refused(Refusal(.known(.serviceUnavailable), status: 503)),
            .refused(Refusal(.known(.tooManyRequests), status: 429)),
            .refused(Refusal(.known(.topicDisallowed), status: 400)),
        ] {
            bench.verdict(verdict)
            #expect(bench.state == .ending)
            #expect(bench.pass(59.9).ends.isEmpty)
            #expect(bench.pass(0.1).ends.count == 1)
        }
        bench.verdict(.accepted)
        #expect(bench.card == nil)
        #expect(bench.pass(600).orders.isEmpty)
    }

    @Test func `L5: an end that waits for its record does not leave once the app has reported the card over`() throws {
        var bench = Bench.confirmed()
        let end = try #require(bench.leave("g1").ends.first)
        bench.select(["g2"])
        #expect(bench.lane.isCurrent(end), "a newer selection holds no end back")
        bench.report(.ended)
        #expect(!bench.lane.isCurrent(end))
        #expect(bench.verdict(.notSent).orders.isEmpty && bench.pass(3600).orders.isEmpty)
    }

    @Test func `L3: the end of an older activity leaves whatever the app says of the newer one`() throws {
        var bench = Bench.confirmed()
        let end = try #require(bench.cardToken("a2", token: 9).ends.first)
        bench.report(.ended, "a2")
        #expect(bench.lane.isCurrent(end))
    }

    @Test func `L1: an owed end survives a restart`() {
        var bench = Bench.confirmed()
        #expect(bench.leave("g1").first == .save)
        #expect(bench.restart().ends.count == 1)
        bench.verdict(.accepted)
        #expect(bench.card == nil)
    }

    @Test func `E2: an end owed without a token waits for it`() {
        var bench = Bench.believed()
        #expect(bench.leave("g1").ends.isEmpty)
        #expect(bench.state == .ending)
        bench.pass(3600)
        #expect(bench.cardToken().ends.count == 1)
    }

    @Test func `E2: an end that waits past the card's limit is dropped`() {
        var bench = Bench.believed()
        bench.leave("g1")
        bench.pass(28_800)
        #expect(bench.card == nil)
        #expect(bench.sent.count == 1)
    }

    @Test func `E2: a card of which nothing is known is ended too`() {
        var bench = Bench.registered()
        let end = bench.cardToken(startedBy: .app).ends
        #expect(end.map(\.content.games) == [[]])
        bench.verdict(.accepted)
        #expect(bench.card == nil)
    }

    @Test func `E2: an end waits for the update in flight, and then follows at once`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        #expect(bench.leave("g1").ends.isEmpty)
        #expect(bench.verdict(.accepted).ends.count == 1)
    }

    @Test func `P5: an end is later than the update before it`() throws {
        var bench = Bench.confirmed()
        let update = try #require(bench.score("g1").updates.first)
        bench.verdict(.accepted)
        let end = try #require(bench.leave("g1").ends.first)
        #expect(end.timestamp > update.timestamp)
    }

    @Test func `L8: a card without a successor is ended one minute before its limit`() throws {
        var bench = Bench.confirmed()
        let age = try #require(bench.card?.ageBegan)
        bench.lane.kept.pushToStart?.address = nil
        bench.now = age.advanced(bySeconds: 28_740 - 1)
        bench.apply(.look)
        #expect(bench.effects.ends.isEmpty)
        #expect(bench.pass(1).ends.count == 1)
    }

    @Test func `L7: nothing is sent to an expired card, and it is absent`() {
        var bench = Bench.confirmed()
        bench.now = bench.now.advanced(bySeconds: 28_800)
        #expect(bench.score("g1").orders.isEmpty)
        #expect(bench.card == nil)
    }

    @Test(arguments: [PushEvent.update, .end])
    func `L7: a push refused after the limit is not tried on the other gateway`(event: PushEvent) {
        var bench = Bench.confirmed()
        if event == .update { bench.score("g1") } else { bench.leave("g1") }
        bench.now = bench.now.advanced(bySeconds: 28_800)
        #expect(bench.refuse(.badDeviceToken).orders.isEmpty)
        #expect(bench.card == nil)
    }

    @Test func `S1: signing out ends the cards, and another user's card is not taken over`() {
        var bench = Bench.confirmed()
        #expect(bench.patch { $0.user = .value("another") }.ends.count == 1)
        bench.verdict(.accepted)
        #expect(bench.card == nil)
    }

    @Test func `removal: the cards are ended first, then the record goes`() {
        var bench = Bench.confirmed()
        let effects = bench.apply(.removed)
        #expect(effects.ends.count == 1)
        #expect(!effects.contains(.erase))
        #expect(bench.verdict(.accepted).contains(.erase))
    }

    @Test func `removal: a device that comes back is a new one, but for its spend`() {
        var bench = Bench.confirmed()
        bench.patch { $0.sound = true }
        bench.apply(.removed)
        bench.register { $0.pushToStart = .absent }
        #expect(!bench.lane.kept.isRemoved)
        #expect(bench.lane.kept.selection == nil)
        #expect(bench.lane.kept.settings.sound == false)
        #expect(bench.counts.sent == 1)
        #expect(!bench.verdict(.accepted).contains(.erase))
    }
}
