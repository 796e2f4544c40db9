import Testing

@testable import CardRules

@Suite struct AuthorityTests {
    @Test func `A1: the server adds nothing to the app's list and reorders it only for the front`() throws {
        var bench = Bench.confirmed("g3", "g1", "g2")
        bench.lay("g9") { $0.worth = 100 }
        bench.lay("g2")
        bench.join("g3")
        let games = try #require(bench.effects.updates.first?.content.games)
        #expect(games == ["g1", "g3", "g2"])
        bench.verdict(.accepted)
        bench.pass(60)
        let after = bench.tick("g2") { $0.worth = 90 }.updates
        #expect(after.map(\.content.games) == [["g2", "g3", "g1"]])
    }

    @Test func `A2: no takeover within thirty seconds of a selection, then at once`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.select(["g1", "g2"])
        bench.tick("g2") { $0.worth = 90 }
        #expect(bench.front == "g1")
        bench.pass(29.9)
        #expect(bench.front == "g1")
        #expect(bench.pass(0.1).takeovers == [.t3])
        #expect(bench.front == "g2")
    }

    @Test func `A2: nothing takes over from a pinned game, whose pin ends when it is final`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.select(["g1", "g2"], pinned: "g1")
        bench.pass(31)
        bench.tick("g2") { $0.worth = 100 }
        bench.pass(600)
        #expect(bench.front == "g1")
        bench.tick("g1") { $0.phase = .final }
        #expect(bench.front == "g2")
    }

    @Test func `A2: a muted game never takes the front, and a muted front goes at once`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.lay("g2")
        bench.select(["g1", "g2"], muted: ["g2"])
        bench.pass(31)
        bench.tick("g2") { $0.worth = 100 }
        bench.pass(600)
        #expect(bench.front == "g1")
        bench.select(["g1", "g2"])
        bench.pass(31)
        #expect(bench.front == "g2")
        bench.verdict(.accepted)
        bench.pass(20)
        bench.verdict(.accepted)  // the phone shows it
        #expect(bench.select(["g1", "g2"], muted: ["g2"]).takeovers == [.t6])
        #expect(bench.front == "g1")
    }

    @Test func `A2: with a personalisation that cannot be read nothing takes over`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.patch { $0.personalisation = .unreadable("{\"version\":9}") }
        bench.tick("g2") { $0.worth = 100 }
        bench.pass(600)
        #expect(bench.front == "g1")
        bench.tick("g1") { $0.phase = .final }
        #expect(bench.front == "g2")  // T6 is no takeover
    }

    @Test func `A3: a selection counts for a day; then taste fills the set; without one nothing new joins`() {
        var bench = Bench.following("g1", "g2")
        bench.pass(24 * 3600)
        bench.join("g1")
        #expect(bench.lane.kept.members.isEmpty)
        bench.patch {
            $0.personalisation = .readable(Taste(teams: [:], leagues: [:], minimumWorth: 60, maxGames: 2))
        }
        #expect(bench.lane.kept.members.isEmpty)
        #expect(bench.tick("g1") { $0.worth = 60 }.starts.count == 1)
    }

    @Test func `A3: a game taken off the app's list leaves the card`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.join("g2")
        bench.verdict(.accepted)
        bench.pass(60)
        #expect(bench.select(["g2"]).updates.map(\.content.games) == [["g2"]])
    }

    @Test func `A3: a game that falls below minimumWorth stays on the card`() {
        var bench = Bench.registered()
        bench.patch {
            $0.personalisation = .readable(Taste(teams: [:], leagues: [:], minimumWorth: 60, maxGames: 2))
        }
        bench.tick("g1") { $0.worth = 61 }
        bench.tick("g1") { $0.worth = 10 }
        #expect(bench.lane.kept.members == ["g1"])
    }

    @Test func `A4: an older selection is refused and changes nothing; one ahead of our clock counts as now`() {
        var bench = Bench.registered()
        bench.select(["g1"], syncedAt: bench.now.advanced(bySeconds: 9999))
        #expect(bench.lane.kept.selection?.syncedAt == bench.now)
        let held = bench.now
        bench.pass(10)
        let effects = bench.select(["g2"], syncedAt: held.advanced(bySeconds: -1))
        #expect(effects.contains(.refuseSelection(held: held)))
        #expect(bench.lane.kept.selection?.games == ["g1"])
        #expect(
            !bench.select(["g2"], syncedAt: held).contains { if case .refuseSelection = $0 { true } else { false } })
    }

    @Test func `A4: a takeover not yet on the card gives way to a newer selection`() {
        var bench = Bench.confirmed("g1", "g2")
        bench.score("g1")  // under way, with g1 in front
        bench.tick("g2") { $0.worth = 90 }
        #expect(bench.front == "g2")
        bench.select(["g1", "g2"])
        #expect(bench.front == "g1")
    }

    @Test func `A4: an order carries the selection it was computed from`() {
        var bench = Bench.confirmed("g1", "g2")
        let first = bench.score("g1").updates.first?.selectionRevision
        bench.verdict(.accepted)
        bench.lay("g2")
        bench.select(["g2", "g1"])
        bench.pass(20)
        let second = bench.sent.last?.selectionRevision
        #expect(first != nil && second != first && second == bench.lane.selectionRevision)
    }
}

extension AuthorityTests {
    @Test func `A2: a card that the app started keeps the app's own front while its selection is fresh`() {
        var bench = Bench.registered()
        bench.lay("g1") { $0.worth = 20 }
        bench.lay("g2") { $0.worth = 90 }
        bench.select(["g1", "g2"])
        bench.pass(4)
        bench.cardToken(startedBy: .app)
        #expect(bench.front == "g1")
        bench.pass(30)
        #expect(bench.front == "g2")
    }
}
