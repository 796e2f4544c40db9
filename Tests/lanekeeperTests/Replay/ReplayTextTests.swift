import CardRules
import Intake
import Testing

@testable import lanekeeper

@Suite struct ReplayTextTests {
    private typealias Samples = ReplaySamples

    private let text = ReplayText(names: GameNames(ReplaySamples.evening))

    /// Bytes of payloads are the payload tests' business.
    private func withoutBytes(_ line: String) -> String {
        line.replacing(/\d+ bytes/, with: "# bytes").replacing(
            /bytes        \d+, at most \d+/, with: "bytes #, at most #"
        )
        .replacing(/^(  bytes)( +)\d+/, with: { "\($0.1)\($0.2)#" })
    }

    @Test func `replay: a night as people read it`() throws {
        let night = try #require(Samples.night())
        let expected = """

            phone, times in UTC
              2023-11-14
              22:18:20  front     T12  Ann at Bea 40.0 (worth 40.0)
              22:18:20  start     S4   priority 10, # bytes: a game was added
              22:23:20  update    U1   priority 5, # bytes
              22:24:10  withheld  S3   a card stands under this key
              22:24:10  update    U1   priority 5, # bytes
              22:25:00  update    U1   priority 5, # bytes
              22:25:20  update    U1   priority 5, # bytes
              22:26:40  front     T3   Ann at Bea 45.0 (worth 45.0) -> Cy at Dot 60.0 (worth 60.0)
              22:26:40  update    P6   priority 10, # bytes: another front
              22:26:50  front     T6   Cy at Dot 10.0 (worth 10.0) -> Ann at Bea 45.0 (worth 45.0)
              22:26:50  update    P6   priority 10, # bytes: another front
              22:28:20  update    P6   priority 10, # bytes: a game ended
              22:31:50  update    U1   priority 5, # bytes
              22:33:20  end       E1   priority 10, # bytes: nothing qualifies any more
            totals
              front        2 changes (T3 1, T6 1); 1 first front
              pushes       10: 1 start, 8 updates (3 of priority 10), 1 end
              bytes #, at most # in one push
              withheld     1 start (S3 1)
            forecast
              starts       1 of 4 a night once one is acknowledged (1 before); 1 of 10 of any kind
              priority 10  at worst 3 of 12 updates an hour, from 22:26:40
              pushes       at worst 10 an hour, from 22:18:20
            """
        #expect(text.lines(of: night).map(withoutBytes).joined(separator: "\n") == expected)
    }

    @Test func `replay: two tunings as people read them`() throws {
        var stubborn = Samples.tuning
        stubborn.takeover.marginPoints = 20
        let comparison = ReplayComparison(
            try #require(Samples.night()), try #require(Samples.night(tuning: stubborn)))
        let lines = text.lines(of: comparison, first: "defaults", second: "stubborn.json5")
        #expect(
            lines.prefix(4) == [
                "", "phone, times in UTC", "                             defaults  stubborn.json5",
                "  front changes                     2               0",
            ])
        #expect(lines.contains("  priority 10, worst hour     3 of 12         2 of 12"))
        #expect(
            lines.suffix(4) == [
                "front changes: 1 the same; - only defaults, + only stubborn.json5", "    2023-11-14",
                "  - 22:26:40  front     T3   Ann at Bea 45.0 (worth 45.0) -> Cy at Dot 60.0 (worth 60.0)",
                "  - 22:26:50  front     T6   Cy at Dot 10.0 (worth 10.0) -> Ann at Bea 45.0 (worth 45.0)",
            ])
        let same = ReplayComparison(comparison.first, comparison.first)
        #expect(text.lines(of: same, first: "a", second: "b").last == "front changes: all 3 are the same")
    }

    @Test func `replay: a step tells what its score is made of, in the phone's own time`() throws {
        let zone = Zone(name: "GMT-23", fixedOffsetSeconds: -23 * 3600)
        let clock = LocalClock(zone: zone)
        let change = FrontChange(
            from: FrontScore(game: Samples.c, worth: 48.14, taste: 0, lift: 0),
            to: FrontScore(game: Samples.b, worth: 51.25, taste: 7.5, lift: 20))
        let step = ReplayStep(at: Samples.begin, kind: .front, rule: .t3, detail: "", change: change)
        #expect(
            text.line(of: step, clock)
                == "23:13:20  front     T3   Eve at Fay 48.1 (worth 48.1) -> Cy at Dot 78.8 (worth 51.3, taste 7.5, lift 20.0)"
        )
        #expect(clock.day(Samples.begin) == "2023-11-13")
    }

    @Test(arguments: [
        (0, "1970-01-01"), (951_782_400, "2000-02-29"), (951_868_800, "2000-03-01"), (4_107_542_400, "2100-03-01"),
        (1_704_067_199, "2023-12-31"), (1_704_067_200, "2024-01-01"), (-1, "1969-12-31"),
    ])
    func `a day is that of the calendar`(second: Int64, day: String) {
        #expect(LocalClock(zone: .utc).day(WallTime(seconds: second)) == day)
    }

    @Test func `a game's name: both sides, with the id where they meet twice, else the id`() {
        let (d, e) = (GameID(unchecked: "d"), GameID(unchecked: "e"))
        let names = GameNames(
            Samples.evening + [Samples.game(d, "Ann", "Bea", at: 0, startsAt: 9000)])
        #expect(names[Samples.a] == "Ann at Bea (a)" && names[d] == "Ann at Bea (d)")
        #expect(names[Samples.b] == "Cy at Dot" && names[e] == "e")
    }

    @Test func `replay: the object of --json has its keys, and null where there is nothing`() throws {
        let night = try #require(Samples.night())
        let slate = ReplaySlate(
            file: "x", games: 3, lines: 9, rejected: 0, from: Samples.begin, to: nil)
        let json = ReplayJSON.value(
            slate: slate, runs: [("defaults", [night])], comparisons: [ReplayComparison(night, night)])
        #expect(json["slate"]?["from"] == .integer(1_700_000_000) && json["slate"]?["to"] == .null)
        let phone = json["runs"]?[0]?["phones"]?[0]
        #expect(phone?["name"] == .string("phone") && phone?["zone"] == .string("UTC"))
        let step = phone?["steps"]?[7]
        #expect(
            step?["to"]
                == .object([
                    "game": .string("b"), "worth": .number(60), "taste": .number(0), "lift": .number(0),
                    "effective": .number(60),
                ]))
        #expect(step?["kind"] == .string("front") && step?["rule"] == .string("T3") && step?["push"] == .null)
        #expect(step?["at"] == .integer(1_700_000_800) && step?["from"]?["game"] == .string("a"))
        #expect(phone?["steps"]?[1]?["push"]?["priority"] == .integer(10) && phone?["steps"]?[1]?["to"] == .null)
        #expect(phone?["totals"]?["withheld"] == .object(["S3": .integer(1)]))
        #expect(phone?["forecast"]?["urgentPerHour"] == .integer(12))
        #expect(json["differences"]?[0]?["same"] == .integer(3))
    }
}
