import CardRules
import Foundation
import Intake
import Simulation
import Testing

/// Whole days of the system, in one process, from seeds.
@Suite struct WorldTests {
    private static let zones = ZoneDirectory()

    private static func day(_ seed: UInt64, phones: Int = 4, _ change: (inout WorldOptions) -> Void = { _ in })
        -> WorldResult
    {
        var options = WorldOptions(seed: seed)
        options.phones = phones
        options.games = 3
        change(&options)
        return World(options) { zones.zone(named: $0) }.run()
    }

    /// Days of twenty phones that once broke an invariant.
    static let corpus: [UInt64] = [11, 36, 48, 97, 118, 149, 232, 236, 338, 361, 387, 430, 468, 471, 585]

    /// Fresh ones for each commit: the number of the first comes from outside.
    static let fresh: [UInt64] = {
        let first = ProcessInfo.processInfo.environment["LANEKEEPER_SEED"].flatMap { UInt64($0, radix: 16) } ?? 1000
        return (0..<4).map { first &+ $0 }
    }()

    @Test func `a day with no faults starts, updates and ends cards, and breaks nothing`() {
        let result = Self.day(1) { $0.faults = [] }
        #expect(result.violations.isEmpty)
        #expect(result.judged.tally.startedByPush > 0 && result.judged.tally.updates > 100)
        #expect(result.tally.verdicts.keys.sorted() == ["accepted"])
    }

    @Test func `the same seed gives the same day, event for event; another gives another`() {
        let first = Self.day(5)
        let second = Self.day(5)
        #expect(second.hash == first.hash && second.jobs == first.jobs)
        #expect(Self.day(6).hash != first.hash)
    }

    @Test func `a seed draws some of the faults, and every kind strikes when all are asked for`() {
        let drawn = Self.day(9).faults
        #expect(!drawn.isEmpty && drawn.count < FaultKind.allCases.count)
        let result = Self.day(11, phones: 6) { $0.hasAllFaults = true }
        #expect(result.faults == FaultKind.allCases)
        #expect(result.violations.isEmpty, "\(result.violations)")
        #expect(result.tally.laneRestarts > 0 && result.tally.processDeaths > 1 && result.tally.deploys > 0)
        #expect(result.tally.verdicts["unknown"] ?? 0 > 0 && result.tally.verdicts["not sent"] ?? 0 > 0)
    }

    @Test(arguments: corpus) func `a day that once failed holds`(seed: UInt64) {
        let result = Self.day(seed, phones: 20) { $0.games = 6 }
        #expect(result.violations.isEmpty, "seed \(seed): \(result.violations)")
    }

    @Test(arguments: fresh) func `I1 to I10 hold on a fresh day, whatever goes wrong`(seed: UInt64) {
        let result = Self.day(seed, phones: 6)
        #expect(
            result.violations.isEmpty,
            "lanekeeper simulate --seeds \(seed) --phones 6: \(result.violations)")
    }
}
