import CardRules
import Simulation
import Testing

@testable import lanekeeper

@Suite struct LiveNightTests {
    private func entry(_ second: Int, _ kind: TimelineEntry.Kind, _ rule: Rule?) -> TimelineEntry {
        TimelineEntry(
            at: WallTime(seconds: Int64(second)), key: .slate, kind: kind, rule: rule, detail: "entry \(second)")
    }

    @Test func `decisions are kept of watched devices, fifty of each, and takeovers of all`() {
        let (one, two, other) = (
            DeviceID(unchecked: "one"), DeviceID(unchecked: "two"), DeviceID(unchecked: "other")
        )
        let log = DecisionLog(watching: [one, two])
        for second in 0..<60 { log.record(one, entry(2 * second, .withheld, .s3)) }
        log.record(two, entry(111, .start, .s4))
        log.record(other, entry(1, .takeover, .t3))
        log.record(other, entry(2, .takeover, .t12))
        #expect(log.decisions(of: [one]).map(\.at.unixSeconds) == (10..<60).map { Int64(2 * $0) })
        // One phone under two records is one list, in order of time.
        let both = log.decisions(of: [one, two])
        #expect(both.count == 50 && both.map(\.at) == both.map(\.at).sorted() && both.contains { $0.kind == .start })
        #expect(log.decisions(of: [other]).isEmpty)
        #expect(log.takeovers.map(\.entry.rule) == [.t3] && log.takeovers.map(\.device) == [other])
    }

    @Test func `pushes by the second are those of the last two seconds`() {
        var meter = RateMeter()
        let start = ContinuousClock.now
        #expect(meter.rates(pushes: 100, verdicts: 90, at: start) == (0, 0))
        #expect(meter.rates(pushes: 150, verdicts: 100, at: start + .seconds(1)) == (50, 10))
        for second in 2...9 { _ = meter.rates(pushes: 150, verdicts: 100, at: start + .seconds(second)) }
        #expect(meter.rates(pushes: 150, verdicts: 104, at: start + .seconds(10)) == (0, 2))
    }

    @Test func `the first phones are of several kinds, each phone is there once, and only so many`() {
        let night = FleetNight(
            lines: NightGenerator(seed: 1, announcedAt: DemoNight.madeUpAt).lines())
        let fleet = PhoneFleet(handsets: 300, night: night, seed: 1)
        let (profiles, watched) = (fleet.profiles, LiveNight.watched(of: fleet.profiles))
        #expect(watched.count == 200 && Set(watched).count == 200)
        #expect(!profiles[watched[0]].spoilerFree && profiles[watched[1]].spoilerFree)
        #expect(profiles[watched[5]].osVersion < .withPushToStart)
        #expect(LiveNight.watched(of: Array(profiles.prefix(1))) == [0] && LiveNight.watched(of: []).isEmpty)
    }

    @Test func `paused, a clock stands and a player waits; it goes on from there, and for good once the night is left`()
        async throws
    {
        let clock = ScaledClock(start: WallTime(seconds: 1000), speed: 1_000_000)
        let pause = NightPause(of: clock)
        await pause.passed()
        pause.toggle()
        let standing = clock.now
        #expect(pause.isPaused && clock.now == standing && standing > WallTime(seconds: 1000))
        async let waits: Void = pause.passed()
        pause.toggle()
        await waits
        while clock.now <= standing { await Task.yield() }
        pause.toggle()
        async let leaves: Void = pause.passed()
        pause.end()
        await leaves
        #expect(!pause.isPaused)
        pause.toggle()
        await pause.passed()
    }
}
