import Testing

@testable import CardRules

/// A moment made up for one phone by an operator.
@Suite struct MadeUpMomentTests {
    /// Two live games, the first in front for a minute and more.
    private func card() -> Bench {
        var bench = Bench.confirmed("g1", "g2")
        bench.join("g2")
        bench.pass(60)
        bench.verdict(.accepted)
        return bench
    }

    private func moment(_ bench: Bench, _ game: GameID, _ kind: MomentKind = .overtime, seconds: Double = 30)
        -> LaneEvent
    {
        .madeUpMoment(game: game, kind: kind, until: bench.now.advanced(bySeconds: seconds))
    }

    private func notes(_ effects: [LaneEffect]) -> [TimelineEntry] {
        effects.compactMap { if case .note(let entry) = $0 { entry } else { nil } }
    }

    @Test func `T1, T2: it lifts its game by its kind's boost until a tail after it, then the card settles back`() {
        var bench = card()
        let front = bench.lane.card(.slate)?.front?.game
        #expect(front == "g1")
        let said = notes(bench.apply(moment(bench, "g2")))
        #expect(bench.lane.card(.slate)?.front?.game == "g2")
        #expect(said.first { $0.kind == .moment }?.detail == "made up: overtime of g2 for 30 s")
        #expect(said.first { $0.kind == .takeover }?.rule == .t3)
        bench.verdict(.accepted)
        bench.pass(89)
        #expect(bench.lane.card(.slate)?.front?.game == "g2")
        bench.pass(2)
        #expect(bench.lane.card(.slate)?.front?.game == "g1")
        #expect(bench.lane.madeUp == nil)
    }

    @Test(arguments: [(MomentKind.upset, "g1"), (.comeback, "g2")] as [(MomentKind, GameID)])
    func `T3: a boost that does not reach the margin takes nothing over`(kind: MomentKind, front: GameID) {
        var bench = card()
        bench.tick("g2") { $0.worth = 45 }
        bench.apply(moment(bench, "g2", kind))
        #expect(bench.lane.card(.slate)?.front?.game == front)
    }

    @Test func `A2: it takes nothing from a pinned game`() {
        var bench = card()
        bench.apply(.selected(games: ["g1", "g2"], pinned: "g1", muted: [], syncedAt: bench.now))
        bench.pass(60)
        bench.apply(moment(bench, "g2", .shootout))
        #expect(bench.lane.card(.slate)?.front?.game == "g1")
    }

    @Test func `P2: nothing of it is in the content, on any phone`() {
        var bench = card()
        let sent = bench.sent.count
        bench.apply(moment(bench, "g1"))
        #expect(bench.sent.count == sent)
    }

    @Test func `a game that is not this phone's is noted and lifts nothing`() {
        var bench = card()
        let said = notes(bench.apply(moment(bench, "g9")))
        #expect(said.map(\.kind) == [.moment])
        #expect(bench.lane.madeUp == nil)
        bench.apply(moment(bench, "g2", seconds: 0))
        #expect(bench.lane.madeUp == nil)
    }

    @Test func `R7: a clock that is set back makes it last no longer`() {
        var bench = card()
        bench.apply(moment(bench, "g2"))
        bench.now = bench.now.advanced(bySeconds: -3600)
        bench.apply(.look)
        #expect(bench.lane.madeUp?.until == bench.now.advanced(bySeconds: 30))
    }
}
