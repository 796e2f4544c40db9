import Testing

@testable import CardRules

/// S5 on real clocks: what a wall clock shows decides, whatever it does at night.
@Suite struct QuietHoursTests {
    private func hours(_ from: Int, _ to: Int) -> QuietHours? { QuietHours(fromMinute: from, toMinute: to) }

    private func span(_ from: Int, _ to: Int, at now: String, in zone: Zone) -> QuietSpan? {
        hours(from, to)?.span(at: utc(now), in: zone)
    }

    @Test func `S5: quiet hours over midnight keep their wall times through a gap and through an overlap`() {
        // 22:30-07:00: an hour shorter in the night of the gap, an hour longer in the night of the overlap.
        #expect(
            span(1350, 420, at: "2026-03-08T05:00", in: ZoneSample.newYork)
                == QuietSpan(from: utc("2026-03-08T03:30"), to: utc("2026-03-08T11:00")))
        #expect(
            span(1350, 420, at: "2026-11-01T05:00", in: ZoneSample.newYork)
                == QuietSpan(from: utc("2026-11-01T02:30"), to: utc("2026-11-01T12:00")))
        #expect(
            span(1350, 420, at: "2026-03-29T00:00", in: ZoneSample.berlin)
                == QuietSpan(from: utc("2026-03-28T21:30"), to: utc("2026-03-29T05:00")))
        #expect(
            span(1350, 420, at: "2026-04-04T16:00", in: ZoneSample.lordHowe)
                == QuietSpan(from: utc("2026-04-04T11:30"), to: utc("2026-04-04T20:30")))
    }

    @Test func `S5: of an hour that comes twice they begin with the first and end with the last`() {
        // New York, 1 November: 01:00-02:00 comes at 05:00 UTC and again at 06:00 UTC.
        #expect(
            span(75, 300, at: "2026-11-01T03:00", in: ZoneSample.newYork)
                == QuietSpan(from: utc("2026-11-01T05:15"), to: utc("2026-11-01T10:00")))
        #expect(
            span(1320, 90, at: "2026-11-01T05:45", in: ZoneSample.newYork)
                == QuietSpan(from: utc("2026-11-01T02:00"), to: utc("2026-11-01T06:30")))
        // Both ends inside the hour that comes twice: from the first beginning to the last end.
        #expect(
            span(75, 90, at: "2026-11-01T05:45", in: ZoneSample.newYork)
                == QuietSpan(from: utc("2026-11-01T05:15"), to: utc("2026-11-01T06:30")))
        // Lord Howe, 5 April: 01:30-02:00 comes twice, half an hour apart.
        #expect(
            span(105, 115, at: "2026-04-04T14:00", in: ZoneSample.lordHowe)
                == QuietSpan(from: utc("2026-04-04T14:45"), to: utc("2026-04-04T15:25")))
    }

    @Test func `S5: a gap shortens them, and hours that lie in it altogether are left out that day`() {
        // Berlin, 29 March: 02:00-03:00 does not come; it would have begun at 01:00 UTC.
        #expect(
            span(150, 300, at: "2026-03-29T00:00", in: ZoneSample.berlin)
                == QuietSpan(from: utc("2026-03-29T01:00"), to: utc("2026-03-29T03:00")))
        #expect(
            span(60, 150, at: "2026-03-29T00:30", in: ZoneSample.berlin)
                == QuietSpan(from: utc("2026-03-29T00:00"), to: utc("2026-03-29T01:00")))
        #expect(
            span(130, 170, at: "2026-03-29T00:30", in: ZoneSample.berlin)
                == QuietSpan(from: utc("2026-03-30T00:10"), to: utc("2026-03-30T00:50")))
        // Lord Howe, 4 October: 02:00-02:30 does not come.
        #expect(
            span(120, 150, at: "2026-10-03T15:00", in: ZoneSample.lordHowe)
                == QuietSpan(from: utc("2026-10-04T15:00"), to: utc("2026-10-04T15:30")))
    }

    @Test(arguments: ZoneSample.all)
    func `S5: quiet is what the wall clock says, minute by minute through both changes of the year`(zone: Zone) throws {
        var wrong: [String] = []
        for (from, to) in [(1350, 420), (90, 150), (0, 1439), (720, 60)] {
            let hours = try #require(QuietHours(fromMinute: from, toMinute: to))
            for begin in [
                "2026-03-07T12:00", "2026-03-28T12:00", "2026-04-04T00:00", "2026-10-03T00:00",
                "2026-10-24T12:00", "2026-10-31T12:00",
            ] {
                for minute in stride(from: 0, to: 2 * 1440, by: 5) {
                    let now = utc(begin).advanced(bySeconds: Double(minute) * 60)
                    let local = zone.localSeconds(at: now)
                    let shown = Int((local - localDay(local) * 86_400) / 60)
                    let isInside = from < to ? from <= shown && shown < to : shown >= from || shown < to
                    // In an hour that comes twice quiet hours may last longer than the clock says, never shorter.
                    let before = zone.offsetSeconds(at: now.advanced(bySeconds: -7200))
                    let isTwice = zone.offsetSeconds(at: now.advanced(bySeconds: 7200)) < before
                    let isQuiet = hours.contains(now, in: zone)
                    if isInside != isQuiet, isInside || !isTwice { wrong.append("\(from)-\(to) at \(now.unixSeconds)") }
                }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test(arguments: ZoneSample.all)
    func `S6: nights join, each lasts about a day, and each has a day of its own`(zone: Zone) {
        var now = utc("2026-01-01T00:00")
        var last: NightSpan?
        while now < utc("2027-01-01T00:00") {
            let night = NightSpan(containing: now, in: zone, rollsAtMinute: 360)
            #expect(night.contains(now))
            #expect(abs(night.to.seconds(since: night.from) - 86_400) <= 3600)
            if let last { #expect(night == last || night.from == last.to) }
            let day = NightSpan.day(ofBegin: night.from, in: zone, rollsAtMinute: 360)
            #expect(NightSpan.begin(ofDay: day, in: zone, rollsAtMinute: 360) == night.from)
            last = night
            now = now.advanced(bySeconds: 3 * 3600)
        }
    }
}

/// S5 in the lane: what is withheld, what is sent when it is over, and what a change of the wishes does.
@Suite struct QuietCardTests {
    /// Quiet 22:00-07:00 UTC; at 23:00 `g1` is added.
    private func withheld() -> Bench {
        var bench = Bench.following("g1", "g2", at: utc("2026-01-10T22:59"))
        bench.patch { $0.quietHours = QuietHours(fromMinute: 1320, toMinute: 420).map { .value($0) } ?? .absent }
        bench.pass(29)
        bench.join("g1")
        return bench
    }

    @Test func `S5: what was withheld is sent when quiet hours are over, if a game is eligible then`() {
        var bench = withheld()
        #expect(bench.starts == 0 && bench.effects.withheld == [.s5])
        #expect(bench.lane.nextLook == utc("2026-01-11T07:00"))
        #expect(bench.pass(8 * 3600 - 1).starts.isEmpty)
        #expect(bench.pass(1).starts.count == 1)
        var gone = withheld()
        gone.leave("g1")
        #expect(gone.pass(12 * 3600).starts.isEmpty)
    }

    @Test func `S5: of a slate all games eligible when quiet hours are over count as just added`() {
        var bench = withheld()
        bench.join("g2")
        let start = bench.pass(9 * 3600).starts
        #expect(start.map(\.content.games) == [["g1", "g2"]])
    }

    @Test func `S5: quiet hours taken off let the start go at once, others hold it for longer`() {
        var off = withheld()
        #expect(off.patch { $0.quietHours = .null }.starts.count == 1)
        var longer = withheld()
        longer.patch { $0.quietHours = QuietHours(fromMinute: 1320, toMinute: 480).map { .value($0) } ?? .absent }
        #expect(longer.pass(9 * 3600 - 60).starts.isEmpty)
        #expect(longer.pass(60).starts.count == 1)
    }

    @Test func `S5: quiet hours apply in the zone that the phone is in now`() {
        var bench = withheld()
        // 23:00 UTC is 15:00 in Los Angeles.
        #expect(bench.patch { $0.zone = ZoneSample.losAngeles }.starts.count == 1)
        var east = Bench.following("g1", at: utc("2026-01-10T20:00"))
        east.patch { $0.quietHours = QuietHours(fromMinute: 1320, toMinute: 420).map { .value($0) } ?? .absent }
        east.patch { $0.zone = ZoneSample.tokyo }  // 05:00 there
        east.join("g1")
        #expect(east.effects.withheld == [.s5])
        #expect(east.pass(2 * 3600).starts.count == 1)
    }

    @Test func `S5: a clock set back does not keep a start withheld for longer`() {
        var bench = withheld()
        bench.now = utc("2026-01-10T20:00")
        bench.apply(.look)
        #expect(bench.pass(30).starts.count == 1)  // S8 holds as long as its rule says
    }

    @Test func `S5: quiet hours are worked out when they begin to matter, and not again before they are over`() throws {
        var bench = withheld()
        let span = try #require(bench.lane.quiet)
        // Another span than the wall clock would give is believed: nothing is computed on a tick.
        bench.lane.quiet = QuietSpan(from: span.from, to: span.to.advanced(bySeconds: 1))
        for _ in 0..<10 {
            bench.pass(60)
            bench.score("g1")
            bench.join("g2")
        }
        #expect(bench.lane.quiet?.to == span.to.advanced(bySeconds: 1))
        bench.patch { $0.zone = ZoneSample.berlin }
        #expect(bench.lane.quiet?.to == utc("2026-01-11T06:00"))
    }

    @Test func `S5: a zone that was not known at the restart applies as soon as the app names it again`() {
        var bench = Bench.following("g1", at: utc("2026-07-10T10:29"))
        bench.patch {
            $0.zone = ZoneSample.newYork
            $0.quietHours = QuietHours(fromMinute: 1350, toMinute: 420).map { .value($0) } ?? .absent
        }
        bench.lane = LaneState(restoring: bench.lane.kept, zone: .utc, timestampFloor: 0)
        bench.apply(.look)
        bench.patch { $0.zone = ZoneSample.newYork }
        #expect(bench.lane.zone == ZoneSample.newYork)
        bench.join("g1")
        #expect(bench.effects.withheld == [.s5])  // half past six in New York
    }
}
