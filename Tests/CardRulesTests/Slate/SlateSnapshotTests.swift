import CardRules
import Testing

@Suite struct SlateSnapshotTests {
    @Test func `S11: a pre game is in the window from 5 min before its start for 3 h after it`() {
        let slate = Evening(tuning: Tuning())
        _ = slate.apply(SlateSample.announce(), at: 8000)
        #expect(slate.nextChange == 9700)
        for (now, isIn) in [(Int64(9699), false), (9700, true), (10_000, true), (20_799, true), (20_800, false)] {
            #expect(slate.ranked(at: now)?.isInWindow == isIn, "at \(now)")
        }
    }

    @Test func `S11: no start named, no window; postponed is out; live and break are in`() {
        let slate = Evening(tuning: Tuning())
        _ = slate.apply(SlateSample.announce(startsAt: nil), at: 8000)
        #expect(slate.ranked(at: 10_000)?.isInWindow == false)
        for (second, phase, isIn) in [(1, Phase.live, true), (2, .break, true), (3, .postponed, false)] {
            _ = slate.apply(SlateSample.score(10_000 + Int64(second)) { $0.phase = .value(phase) })
            #expect(slate.ranked(at: 40_000)?.isInWindow == isIn, "\(phase)")
        }
    }

    @Test(arguments: [(Int64(12_000), Int64(12_300)), (12_500, 12_310)])
    func `S11: a final stays 5 min from its line's t or from its arrival, whichever is earlier`(t: Int64, leaves: Int64)
    {
        let slate = SlateSample.liveSlate()
        let final = SlateSample.row(t, home: 90, away: 80, period: 4, clock: "00:00", phase: .final)
        _ = slate.apply(final, at: 12_010)
        _ = slate.apply(
            SlateSample.row(t + 60, home: 90, away: 80, period: 4, clock: "00:00", phase: .final),
            at: t < 12_100 ? 12_100 : 12_200)
        _ = slate.ranked(at: 12_200)
        #expect(slate.nextChange == leaves)
        #expect(slate.ranked(atMilliseconds: leaves * 1000 - 1)?.isInWindow == true)
        #expect(slate.ranked(at: leaves)?.isInWindow == false)
    }

    @Test func `A3: the windows' version rises when a game joins, enters or leaves the window, and with nothing else`()
    {
        let slate = Evening(tuning: Tuning())
        var seen: [UInt64] = []
        func note(at now: Int64) { seen.append(slate.snapshot(at: now).windows) }
        _ = slate.apply(SlateSample.announce(), at: 8000)
        note(at: 8000)
        note(at: 9000)  // nothing
        note(at: 9700)  // enters
        _ = slate.apply(SlateSample.score(10_010) { $0.phase = .value(.live) })
        note(at: 10_010)  // a change, but no window
        _ = slate.apply(SlateSample.score(10_020) { $0.phase = .value(.postponed) })
        note(at: 10_020)  // leaves
        #expect(seen[0] == seen[1])
        #expect(seen[1] < seen[2])
        #expect(seen[2] == seen[3])
        #expect(seen[3] < seen[4])
    }

    @Test func `S11: a clock that is set back is believed`() {
        let slate = Evening(tuning: Tuning())
        _ = slate.apply(SlateSample.announce(), at: 8000)
        #expect(slate.ranked(at: 9800)?.isInWindow == true)
        #expect(slate.ranked(at: 9000)?.isInWindow == false)
    }

    @Test func `P2: a spoiler-free face moves with phase, period and clock, and not with scores`() throws {
        let slate = SlateSample.liveSlate()
        let first = try #require(slate.ranked(at: 10_000))
        _ = slate.apply(SlateSample.score(10_010) { $0.home = .value(4) })
        let scored = try #require(slate.ranked(at: 10_010))
        #expect(scored.face != first.face)
        #expect(scored.spoilerFreeFace == first.spoilerFreeFace)
        _ = slate.apply(SlateSample.score(10_020) { $0.clock = .value("10:30") })
        let ticked = try #require(slate.ranked(at: 10_020))
        #expect(ticked.spoilerFreeFace != scored.spoilerFreeFace)
        #expect(ticked.changeVersion > scored.changeVersion && scored.changeVersion > first.changeVersion)
    }

    @Test func `U1: a change and back is the same face again`() throws {
        let slate = SlateSample.liveSlate()
        let first = try #require(slate.ranked(at: 10_000))
        _ = slate.apply(SlateSample.score(10_010) { $0.detail = .value(.object(["play": .string("timeout")])) })
        let between = try #require(slate.ranked(at: 10_010))
        _ = slate.apply(SlateSample.score(10_020) { $0.detail = first.detail.map { .value($0) } ?? .null })
        let last = try #require(slate.ranked(at: 10_020))
        #expect(between.face != first.face)
        #expect(last.face == first.face)
        #expect(last.changeVersion > between.changeVersion)
    }

    @Test(arguments: [Sport.basketball, .hockey, .soccer, .football])
    func `P2: beyond regulation neither period nor clock move a spoiler-free face`(sport: Sport) throws {
        let slate = SlateSample.liveSlate(sport: sport)
        _ = slate.apply(SlateSample.row(13_000, home: 2, away: 2, period: 5, clock: "05:00"))
        let first = try #require(slate.ranked(at: 13_000))
        #expect(first.isBeyondRegulation)
        _ = slate.apply(SlateSample.row(13_100, home: 4, away: 4, period: 6, clock: "03:00"))
        let second = try #require(slate.ranked(at: 13_100))
        #expect(second.face != first.face)
        #expect(second.spoilerFreeFace == first.spoilerFreeFace)
    }

    @Test func `slates: only what changed gets a new version, and unchanged games keep theirs`() throws {
        let slate = SlateSample.liveSlate()
        let other = GameID(unchecked: "g2")
        _ = slate.apply(SlateSample.announce(other), at: 8000)
        let first = slate.snapshot(at: 10_000)
        _ = slate.apply(SlateSample.score(10_010) { $0.clock = .value("10:45") })
        let second = slate.snapshot(at: 10_010)
        #expect(second.version == first.version + 1 && second.roster == first.roster)
        #expect(second.game(other) == first.game(other))
        #expect(second.game(SlateSample.game) != first.game(SlateSample.game))
    }

    @Test func `slates: the roster changes when a game joins and when one is forgotten`() {
        let slate = SlateSample.liveSlate()
        let first = slate.snapshot(at: 10_000).roster
        let other = GameID(unchecked: "g2")
        _ = slate.apply(SlateSample.announce(other, at: 10_001))
        let second = slate.snapshot(at: 10_001)
        #expect(second.roster > first)
        _ = slate.apply(SlateSample.row(12_000, home: 9, away: 8, period: 4, clock: "00:00", phase: .final))
        let third = slate.snapshot(at: 12_300 + 86_400)
        #expect(third.roster > second.roster)
        #expect(third.game(SlateSample.game) == nil && third.slots[other] == 0)
    }

    @Test func `T1: a lift outlasts its moment by the tail, and a final has no moments but the tail`() throws {
        let slate = SlateSample.liveSlate()
        _ = slate.apply(SlateSample.row(13_000, home: 90, away: 90, period: 5, clock: "05:00"))
        let on = try #require(slate.ranked(at: 13_000))
        #expect(on.moments == [.overtime, .closeFinish] && on.lift == 25 && on.momentsBegun == 2)
        _ = slate.apply(SlateSample.row(13_300, home: 99, away: 90, period: 5, clock: "00:00", phase: .final))
        let ended = try #require(slate.ranked(at: 13_300))
        #expect(ended.moments.isEmpty && ended.lift == 25)
        #expect(slate.nextChange == 13_360)
        #expect(slate.ranked(atMilliseconds: 13_359_999)?.lift == 25)
        #expect(slate.ranked(at: 13_360)?.lift == 0)
        #expect(slate.nextChange == 13_600)
    }

    @Test func `T1: an ignored line does not lose the end of a tail`() {
        let slate = SlateSample.liveSlate()
        _ = slate.apply(SlateSample.row(13_000, home: 90, away: 90, period: 5, clock: "05:00"))
        _ = slate.apply(SlateSample.row(13_300, home: 99, away: 90, period: 5, clock: "00:00", phase: .final))
        #expect(slate.ranked(at: 13_300)?.lift == 25)
        #expect(
            slate.apply(SlateSample.score(13_000) { $0.clock = .value("05:00") }, at: 13_370) == .ignored(.outdated))
        #expect(slate.ranked(at: 13_371)?.lift == 0)
    }
}
