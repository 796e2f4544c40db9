import Testing

@testable import CardRules

/// R5, R6: quiet hours, and the slate.
@Suite struct QuietReissueTests {
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
}
