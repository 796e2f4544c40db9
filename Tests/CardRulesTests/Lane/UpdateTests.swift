import Testing

@testable import CardRules

@Suite struct UpdateTests {
    @Test func `U1: nothing is sent when the card shows it already`() {
        var bench = Bench.confirmed()
        bench.tick("g1") { $0.worth = 60 }
        bench.pass(300)
        #expect(bench.sent.map(\.event) == [.start])
        #expect(bench.score("g1").updates.count == 1)
        bench.verdict(.accepted)
        bench.apply(.look)
        bench.pass(300)
        #expect(bench.sent.count == 2)
    }

    @Test func `U1, P2: a spoiler-free card has no news in a score or a moment`() {
        var bench = Bench.confirmed()
        bench.patch { $0.spoilerFree = true }
        #expect(bench.effects.updates.map(\.content.spoilerFree) == [true])
        bench.verdict(.accepted)
        bench.pass(60)
        bench.score("g1")
        bench.tick("g1") {
            $0.moments = [.overtime]
            $0.lift = 25
        }
        bench.pass(60)
        #expect(bench.sent.count == 2)
        #expect(bench.tick("g1") { $0.phase = .break }.updates.count == 1)
    }

    @Test func `U2: one update in flight, the latest waits, older ones are dropped`() {
        var bench = Bench.confirmed()
        #expect(bench.score("g1").updates.count == 1)
        for _ in 0..<5 {
            bench.pass(20)
            #expect(bench.score("g1").updates.isEmpty)
        }
        #expect(bench.verdict(.accepted).updates.count == 1)
        bench.verdict(.accepted)
        bench.pass(300)
        #expect(bench.sent.count == 3)
    }

    @Test func `U3: fault 14: ticks at t and t+3, then silence, give updates at t and t+15`() {
        var bench = Bench.confirmed()
        #expect(bench.score("g1").updates.count == 1)
        bench.verdict(.accepted)
        bench.pass(3)
        #expect(bench.score("g1").updates.isEmpty)
        #expect(bench.pass(11.999).updates.isEmpty)
        #expect(bench.pass(0.001).updates.count == 1)
    }

    @Test func `U3: an urgent update goes at once, at most one a second, and takes what waited with it`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        bench.verdict(.accepted)
        bench.pass(2)
        bench.score("g1")
        let urgent = bench.tick("g1") { $0.moments = [.overtime] }.updates
        #expect(urgent.map(\.priority) == [.immediate])
        bench.verdict(.accepted)
        bench.pass(0.5)
        #expect(bench.tick("g1") { $0.moments = [.overtime, .comeback] }.updates.isEmpty)
        #expect(bench.pass(0.5).updates.map(\.priority) == [.immediate])
        bench.verdict(.accepted)
        #expect(bench.pass(60).updates.isEmpty)
    }

    @Test func `U4: without an update token the content waits; the token brings the latest, if it differs`() {
        var bench = Bench.believed()
        bench.pass(60)
        for _ in 0..<3 { #expect(bench.score("g1").updates.isEmpty) }
        #expect(bench.cardToken().updates.count == 1)
        var same = Bench.believed()
        same.pass(60)
        #expect(same.cardToken().orders.isEmpty)
    }

    @Test func `U5: a push is made of the selection and the slate as they are then`() {
        var bench = Bench.confirmed("g1", "g2", "g3")
        bench.lay("g2")
        bench.join("g3")
        bench.verdict(.accepted)
        bench.pass(60)
        #expect(bench.select(["g3", "g2", "g1"]).updates.map(\.content.games) == [["g1", "g3", "g2"]])
        bench.verdict(.accepted)
        #expect(bench.select([]).ends.count == 1)
    }

    @Test(arguments: [Verdict.unknown, .notSent, .refused(Refusal(.unlisted("NewWord"), status: 400))])
    func `U6: after a lost answer or a fault the latest goes a minute later, and nothing older`(verdict: Verdict) {
        var bench = Bench.confirmed()
        bench.score("g1")
        bench.verdict(verdict)
        bench.pass(30)
        bench.score("g1")
        #expect(bench.pass(29.9).updates.isEmpty)
        #expect(bench.pass(0.1).updates.count == 1)
        bench.verdict(.accepted)
        #expect(bench.pass(600).updates.isEmpty)
    }

    @Test func `U6: an unknown update is repeated even when the game has gone back to what was shown before`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        bench.verdict(.unknown)
        bench.tick("g1") {
            $0.homeScore -= 1
        }
        #expect(bench.pass(60).updates.count == 1)
    }

    @Test func `U6: what was held does not hold a fresh token back`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        bench.refuse(.tooManyRequests)
        bench.pass(5)
        #expect(bench.cardToken(token: 2).updates.isEmpty)  // U3
        #expect(bench.pass(10).updates.map(\.address.token) == [[2]])
    }

    @Test(arguments: Phase.allCases)
    func `P4: a stale date stands only while a game of the card is under way`(phase: Phase) {
        var bench = Bench.confirmed()
        bench.lay("g1") { $0.phase = phase }
        let update = bench.score("g1").updates.first
        let stale = phase == .live || phase == .break ? bench.now.unixSeconds + 600 : nil
        #expect(update?.kind == .update(staleDate: stale))
        #expect(update?.expiration == bench.now.unixSeconds + 600)  // P10
    }

    @Test func `P5: timestamps of one card rise within a second, when the clock goes back, and over a restart`() {
        var bench = Bench.confirmed()
        for step in [0.0, 0, -3600, 0.2, -5, 40] {
            bench.now = bench.now.advanced(bySeconds: step)
            bench.tick("g1") { $0.moments.append(.overtime) }
            bench.pass(60)
            bench.verdict(.accepted)
        }
        let floor = bench.sent.map(\.timestamp).max() ?? 0
        bench.restart(timestampFloor: floor + 60)
        bench.verdict(.accepted)
        bench.score("g1")
        bench.pass(60)
        let timestamps = bench.sent.map(\.timestamp)
        #expect(timestamps.count >= 8)
        #expect(zip(timestamps, timestamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `P5, L3: the end of an older activity comes after its last update, within the same second`() throws {
        var bench = Bench.confirmed()
        let update = try #require(bench.score("g1").updates.first)
        bench.verdict(.accepted)
        let end = try #require(bench.cardToken("a2", token: 2).ends.first)
        #expect(end.address.token == [1])
        #expect(end.timestamp > update.timestamp)
    }

    @Test func `P6: a moment, a final and another front go at priority 10, a goal at 5`() {
        var bench = Bench.confirmed("g1", "g2")
        #expect(bench.score("g1").updates.map(\.priority) == [.conserving])
        bench.verdict(.accepted)
        bench.pass(20)
        #expect(bench.tick("g1") { $0.moments = [.upset] }.updates.map(\.priority) == [.immediate])
        bench.verdict(.accepted)
        bench.pass(20)
        #expect(bench.tick("g1") { $0.phase = .final }.updates.map(\.priority) == [.immediate])
        bench.verdict(.accepted)
        bench.pass(20)
        #expect(bench.join("g2").updates.map(\.priority) == [.immediate])
        #expect(bench.front == "g2")
    }

    @Test(arguments: [(false, 12), (true, 200)])
    func `P6: above the hourly allowance a moment goes at 5, and is not dropped`(frequent: Bool, allowance: Int) {
        var bench = Bench.confirmed()
        bench.patch { $0.frequentUpdates = frequent }
        for _ in 0..<(allowance + 3) {
            bench.tick("g1") { $0.moments.append(.overtime) }
            bench.pass(15)
            bench.verdict(.accepted)
        }
        let updates = bench.sent.filter { $0.event == .update }
        #expect(updates.count == allowance + 3)
        #expect(updates.count { $0.priority == .immediate } == allowance)
        bench.pass(3600)
        #expect(bench.tick("g1") { $0.moments.append(.overtime) }.updates.map(\.priority) == [.immediate])
    }

    @Test func `P7: the relevance of a push is its front's effective score`() {
        var bench = Bench.registered()
        bench.patch {
            $0.personalisation = .readable(
                Taste(teams: ["g1-home": 1], leagues: ["league": 2], minimumWorth: 60, maxGames: 4))
        }
        let starts = bench.tick("g1") {
            $0.worth = 70
            $0.lift = 20
        }.starts
        let worthTasteAndLift: Double? = 107  // 70 + 15 + 2 + 20
        #expect(starts.map(\.relevance) == [worthTasteAndLift])
    }

    @Test func `R7: a clock set back an hour holds no update for an hour`() {
        var bench = Bench.confirmed()
        bench.score("g1")
        bench.verdict(.accepted)
        bench.now = bench.now.advanced(bySeconds: -3600)
        bench.score("g1")
        #expect(bench.pass(15).updates.count == 1)
    }
}
