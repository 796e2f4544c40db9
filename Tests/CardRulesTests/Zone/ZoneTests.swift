import CardRules
import Testing

@Suite struct ZoneTests {
    /// Two hours ahead from 1,000,000 on, one hour before and from 2,000,000 on.
    private let zone = Zone(
        name: "Test/Zone", offsetBefore: 3600,
        transitions: [
            .init(at: 1_000_000, offsetSeconds: 7200), .init(at: 1_500_000, offsetSeconds: 7200),
            .init(at: 2_000_000, offsetSeconds: 3600),
        ])

    @Test func `S5: a table that is out of order or out of bounds is refused`() {
        #expect(
            Zone(
                name: "x", offsetBefore: 0,
                transitions: [.init(at: 5, offsetSeconds: 60), .init(at: 5, offsetSeconds: 120)]) == nil)
        #expect(Zone(name: "x", offsetBefore: 26 * 3600, transitions: []) == nil)
    }

    @Test func `S5: local times in gaps and overlaps`() throws {
        let zone = try #require(zone)
        #expect(zone.offsetSeconds(at: WallTime(seconds: Int64(999_999))) == 3600)
        #expect(zone.offsetSeconds(at: WallTime(seconds: Int64(1_000_000))) == 7200)
        for occurrence in [Zone.Occurrence.first, .last] {
            #expect(zone.instant(localSeconds: 1_005_000, occurrence) == WallTime(seconds: Int64(1_000_000)))
            #expect(zone.instant(localSeconds: 1_000_000, occurrence) == WallTime(seconds: Int64(996_400)))
        }
        #expect(zone.instant(localSeconds: 2_005_000, .first) == WallTime(seconds: Int64(1_997_800)))
        #expect(zone.instant(localSeconds: 2_005_000, .last) == WallTime(seconds: Int64(2_001_400)))
    }

    @Test func `S5: equal ends are no quiet hours, and hours may span midnight`() throws {
        #expect(QuietHours(fromMinute: 60, toMinute: 60) == nil)
        #expect(QuietHours(fromMinute: -1, toMinute: 60) == nil)
        #expect(QuietHours(fromMinute: 0, toMinute: 1440) == nil)
        let hours = try #require(QuietHours(fromMinute: 1350, toMinute: 420))
        let day: Int64 = 86_400 * 20_000
        let span = hours.span(at: WallTime(seconds: day), in: .utc)
        #expect(span == QuietSpan(from: WallTime(seconds: day - 5400), to: WallTime(seconds: day + 25_200)))
        let next = hours.span(at: span.to, in: .utc)
        #expect(next.from == span.from.advanced(bySeconds: 86_400))
    }

    @Test func `S5: quiet hours begin with the first of two occurrences and end with the last`() throws {
        let zone = try #require(zone)
        let evening = WallTime(seconds: Int64(1_990_000))
        let until = try #require(QuietHours(fromMinute: 1320, toMinute: 300)).span(at: evening, in: zone)
        #expect(until.to == WallTime(seconds: Int64(2_001_600)))
        let from = try #require(QuietHours(fromMinute: 300, toMinute: 480)).span(at: evening, in: zone)
        #expect(from.from == WallTime(seconds: Int64(1_998_000)))
    }

    @Test func `S6: a night is from one roll-over to the next`() {
        let day: Int64 = 86_400 * 20_000
        let night = NightSpan(containing: WallTime(seconds: day + 3600), in: .utc, rollsAtMinute: 360)
        #expect(night.from == WallTime(seconds: day - 64_800) && night.to == WallTime(seconds: day + 21_600))
        #expect(NightSpan(containing: night.to, in: .utc, rollsAtMinute: 360).from == night.to)
    }

    @Test func `S5: the ends of time are survived`() {
        for now in [WallTime.distantPast, .distantFuture] {
            _ = NightSpan(containing: now, in: .utc, rollsAtMinute: 360)
            _ = QuietHours(fromMinute: 1350, toMinute: 420)?.span(at: now, in: .utc)
        }
    }
}
