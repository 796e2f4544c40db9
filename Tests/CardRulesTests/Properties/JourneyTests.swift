import Testing

@testable import CardRules

/// 10,000 journeys, each from its seed alone; a failure names the seed. See `Journey`.
@Suite struct JourneyTests {
    static let perRange = 250
    static let ranges = stride(from: 0, to: 10_000, by: perRange).map { UInt64($0)..<UInt64($0 + perRange) }

    @Test(arguments: ranges)
    func `I1, I2, I3, I5, I6, I7, I8, I9, I10: whatever happens, what must hold holds`(seeds: Range<UInt64>) {
        var seen = Journey.Seen()
        for seed in seeds {
            var journey = Journey(seed: seed)
            journey.run()
            if let breach = journey.breach {
                Issue.record("seed \(seed): \(breach)")
                return
            }
            seen.add(journey.seen)
        }
        // They get somewhere: every kind of thing happens in every range.
        #expect(seen.starts > 100 && seen.updates > 300 && seen.ends > 50 && seen.settled > 200, "\(seen)")
        #expect(seen.restarts > 50 && seen.crashes > 10 && seen.reissues > 5 && seen.takeovers > 50, "\(seen)")
    }

    @Test func `the same seed gives the same journey`() {
        var (one, other) = (Journey(seed: 7), Journey(seed: 7))
        one.run()
        other.run()
        #expect(one.bench.sent == other.bench.sent)
        #expect(one.bench.lane.kept == other.bench.lane.kept)
    }
}
