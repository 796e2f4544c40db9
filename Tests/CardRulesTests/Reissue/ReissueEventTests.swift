import Testing

@testable import CardRules

/// What else happens while a card is replaced; R7.
@Suite struct ReissueEventTests {
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
