import CardRules
import Foundation
import Intake
import Testing

private let directory = ZoneDirectory()

@Suite struct ZoneDirectoryTests {
    @Test(arguments: [
        "", "america/new_york", "Europe/Berlin ", "../../etc/passwd", "/etc/passwd", "/Europe/Berlin", "Europe/../UTC",
        "Z",
        "UTC+25", "posix/Europe/Berlin", "right/Europe/Berlin", "posixrules", "localtime", "Europe", "Europe/",
        "zone.tab",
        "tzdata.zi", "leapseconds", "Europe//Berlin", "GMT+19", "GMT+5:60", "GMT+:30", "GMT+", "GMT+12345", "GMT+5:3",
        "Europe/Berlin\0", "Straße",
    ])
    func `S5: what is no zone is refused`(name: String) { #expect(directory.zone(named: name) == nil) }

    @Test(arguments: [
        ("UTC", 0), ("GMT", 0), ("GMT+5", 18_000), ("GMT-3:30", -12_600), ("GMT+0530", 19_800), ("GMT+530", 19_800),
        ("GMT+00", 0), ("GMT-11", -39_600), ("GMT+18:00", 64_800),
    ])
    func `S5: fixed offsets as an iPhone reports them are known`(name: String, seconds: Int) throws {
        let zone = try #require(directory.zone(named: name))
        #expect(zone.offsetSeconds(at: WallTime(seconds: Int64(1_780_000_000))) == seconds)
        #expect(zone.name == name)
    }

    @Test func `S5: a file with leap seconds, or of the first version only, is refused`() throws {
        var header = Array("TZif".utf8) + [UInt8](repeating: 0, count: 40)
        #expect(throws: TZifFault.versionOne) { try read(header) }
        header[4] = UInt8(ascii: "2")
        #expect(throws: TZifFault.notTZif) { try read(header + [UInt8](repeating: 1, count: 44)) }
        #expect(throws: TZifFault.notTZif) { try read([]) }
        var second = header
        second[31] = 1
        #expect(throws: TZifFault.leapSeconds) { try read(header + second) }
        second[31] = 0
        second[36] = 0x7F  // a count of types beyond the file
        #expect(throws: TZifFault.truncated) { try read(header + second) }
    }

    private func read(_ bytes: [UInt8]) throws -> Zone { try TZifReader.zone(named: "Test/Zone", from: bytes.span) }
}

@Suite(.enabled(if: directory.hasZones, "needs the system's tzdata"))
struct SystemZoneTests {
    private func zone(_ name: String) throws -> Zone { try #require(directory.zone(named: name)) }

    /// An instant from ISO text, by Foundation.
    private func instant(_ text: String) throws -> WallTime {
        WallTime(seconds: Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970))
    }

    private func local(_ text: String) throws -> Int64 { try instant("\(text)Z").unixSeconds }

    @Test(arguments: [
        ("America/New_York", "2026-03-08T02:30:00", "2026-03-08T07:00:00Z", "2026-03-08T07:00:00Z"),
        ("America/New_York", "2026-11-01T01:30:00", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"),
        ("America/New_York", "2026-07-01T12:00:00", "2026-07-01T16:00:00Z", "2026-07-01T16:00:00Z"),
        ("Europe/Berlin", "2026-03-29T02:30:00", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", "2026-10-25T02:30:00", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),
        ("Australia/Lord_Howe", "2026-10-04T02:15:00", "2026-10-03T15:30:00Z", "2026-10-03T15:30:00Z"),
        ("Australia/Lord_Howe", "2026-04-05T01:45:00", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"),
        ("Europe/Berlin", "2060-07-01T12:00:00", "2060-07-01T10:00:00Z", "2060-07-01T10:00:00Z"),
    ])
    func `S5: a local time in a gap is the jump, one that comes twice is the one asked for`(
        name: String, text: String, first: String, last: String
    ) throws {
        let zone = try zone(name)
        let asked = try local(text)
        #expect(try zone.instant(localSeconds: asked, .first) == (instant(first)))
        #expect(try zone.instant(localSeconds: asked, .last) == (instant(last)))
    }

    @Test(arguments: [
        "America/New_York", "Europe/Berlin", "Europe/London", "America/Sao_Paulo", "Asia/Kolkata", "Asia/Tehran",
        "Australia/Sydney", "Pacific/Auckland", "America/St_Johns", "Europe/Dublin", "Africa/Casablanca", "US/Pacific",
    ])
    func `S5: offsets are Foundation's, hour by hour`(name: String) throws {
        let ours = try zone(name)
        let theirs = try #require(TimeZone(identifier: name))
        // 2024-2026, and 2050, where only the closing rule counts.
        for begin in [1_704_067_200, 2_524_608_000] as [Int64] {
            for hour in 0..<(begin < 2_000_000_000 ? 3 * 8766 : 8766) as Range<Int64> {
                let second = begin + hour * 3600
                let offset = theirs.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
                #expect(ours.offsetSeconds(at: WallTime(seconds: second)) == offset, "\(name) at \(second)")
            }
        }
    }

    @Test func `S5: quiet hours saved in winter hold in summer, fault 11`() throws {
        let zone = try zone("America/New_York")
        let hours = try #require(QuietHours(fromMinute: 22 * 60 + 30, toMinute: 7 * 60))
        for (text, isQuiet) in [
            ("2026-07-10T02:15:00Z", false), ("2026-07-10T02:45:00Z", true), ("2026-07-10T10:30:00Z", true),
            ("2026-07-10T11:15:00Z", false), ("2026-01-10T03:45:00Z", true), ("2026-01-10T03:15:00Z", false),
        ] {
            let now = try instant(text)
            #expect(hours.contains(now, in: zone) == isQuiet, "\(text)")
        }
        let moved = try self.zone("America/Los_Angeles")
        let evening = try instant("2026-07-10T05:15:00Z")
        #expect(!hours.contains(evening, in: moved) && hours.contains(evening, in: zone))
    }

    @Test func `S5: of an hour that comes twice quiet hours begin with the first and end with the last`() throws {
        let zone = try zone("America/New_York")
        let begins = try #require(QuietHours(fromMinute: 90, toMinute: 300)).span(
            at: try instant("2026-11-01T05:00:00Z"), in: zone)
        #expect(try begins.from == (instant("2026-11-01T05:30:00Z")))
        let hours = try #require(QuietHours(fromMinute: 22 * 60, toMinute: 90))
        for text in ["2026-11-01T02:00:00Z", "2026-11-01T05:45:00Z", "2026-11-01T06:29:59Z"] {
            let span = hours.span(at: try instant(text), in: zone)
            #expect(try span.from == (instant("2026-11-01T02:00:00Z")) && span.to == (instant("2026-11-01T06:30:00Z")))
        }
    }

    @Test func `S5: a gap shortens quiet hours, and swallows those inside it`() throws {
        let zone = try zone("America/New_York")
        let night = try #require(QuietHours(fromMinute: 150, toMinute: 420))
        let span = night.span(at: try instant("2026-03-08T06:00:00Z"), in: zone)
        #expect(try span.from == (instant("2026-03-08T07:00:00Z")) && span.to == (instant("2026-03-08T11:00:00Z")))
        let inside = try #require(QuietHours(fromMinute: 125, toMinute: 170))
        let next = inside.span(at: try instant("2026-03-08T06:00:00Z"), in: zone)
        #expect(try next.from == (instant("2026-03-09T06:05:00Z")))
    }

    /// Every quarter of an hour of a year, in zones with odd changes.
    @Test(arguments: ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"])
    func `S6: nights join without a hole and hold the instant asked for`(name: String) throws {
        let zone = try zone(name)
        let hours = try #require(QuietHours(fromMinute: 110, toMinute: 100))
        for rollsAt in [0, 90, 105, 150, 360, 1439] {
            var last = NightSpan(containing: WallTime(seconds: Int64(1_767_225_600)), in: zone, rollsAtMinute: rollsAt)
            for quarter in 0..<(365 * 96) as Range<Int64> {
                let now = WallTime(seconds: 1_767_225_600 + quarter * 900)
                let night = NightSpan(containing: now, in: zone, rollsAtMinute: rollsAt)
                guard night.contains(now), night == last || night.from == last.to else {
                    Issue.record("\(name), \(rollsAt) at \(now.unixSeconds): \(night) after \(last)")
                    return
                }
                last = night
                if rollsAt == 0, hours.span(at: now, in: zone).to <= now { Issue.record("at \(now.unixSeconds)") }
            }
        }
    }
}
