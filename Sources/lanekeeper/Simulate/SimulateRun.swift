import CardRules
import Foundation
import Intake
import Simulation
import Synchronization

/// Runs days, as many at a time as there are cores, and says what they came to in the order of their seeds.
struct SimulateRun: Sendable {
    let options: SimulateOptions
    private let zones = ZoneDirectory()

    /// Lines of a phone's story that are printed.
    private static let storyLines = 60

    /// - Returns: the exit code: 1 when a day broke an invariant.
    func run() async -> Int32 {
        let began = SimulateRun.cpuSeconds()
        var totals = Totals()
        let width = options.jobs > 0 ? options.jobs : max(1, ProcessInfo.processInfo.activeProcessorCount)
        var waiting: [UInt64: WorldResult] = [:]
        var next = options.seeds.lowerBound
        var unstarted = options.seeds.lowerBound
        await withTaskGroup(of: WorldResult.self) { group in
            func start() {
                guard unstarted <= options.seeds.upperBound, !isOutputClosed.load(ordering: .relaxed) else { return }
                let seed = unstarted
                unstarted += 1
                group.addTask { live(options.world(of: seed)) }
            }
            for _ in 0..<width { start() }
            while let result = await group.next() {
                start()
                waiting[result.seed] = result
                while let result = waiting.removeValue(forKey: next) {
                    next += 1
                    totals.add(result)
                    tell(result)
                }
            }
        }
        totals.cpuSeconds = SimulateRun.cpuSeconds() - began
        say(options.isJSON ? SimulateText.json(totals) : SimulateText.line(totals))
        return totals.violations > 0 ? 1 : 0
    }

    struct Totals: Sendable {
        var seeds = 0
        var failed = 0
        var violations = 0
        var phoneNights = 0.0
        var jobs = 0
        var cpuSeconds = 0.0

        /// What a CPU hour is good for.
        var phoneNightsPerCPUHour: Double { cpuSeconds > 0 ? phoneNights / cpuSeconds * 3600 : 0 }

        mutating func add(_ result: WorldResult) {
            seeds += 1
            if result.judged.violationsInAll > 0 { failed += 1 }
            violations += result.judged.violationsInAll
            phoneNights += result.phoneNights
            jobs += result.jobs
        }
    }

    private func live(_ options: WorldOptions) -> WorldResult {
        World(options) { [zones] in zones.zone(named: $0) }.run()
    }

    private func tell(_ result: WorldResult) {
        if options.isJSON { return say(SimulateText.json(result)) }
        say(SimulateText.line(result))
        guard let first = result.violations.first else { return }
        for violation in result.violations.prefix(10) { say("  \(violation)") }
        let faults = shrink(result, breaking: first.invariant)
        say("  with \(faults.isEmpty ? "no faults" : faults.map(\.rawValue).joined(separator: ", ")) alone:")
        say("  \(options.command(for: result.seed, faults: faults))")
        let again = live(options.world(of: result.seed, faults: faults, storyLines: 100_000))
        guard let violation = again.violations.first(where: { $0.invariant == first.invariant }) else { return }
        say("  \(violation)")
        guard let phone = violation.phone, again.stories.indices.contains(phone) else { return }
        let before = again.stories[phone].prefix { $0.at <= violation.at.advanced(bySeconds: 1) }
        for line in before.suffix(SimulateRun.storyLines) { say("    \(line)") }
    }

    /// Leaves faults out one after the other, as long as the invariant is still broken.
    private func shrink(_ result: WorldResult, breaking invariant: Invariant) -> [FaultKind] {
        var kinds = result.faults
        for kind in result.faults {
            let fewer = kinds.filter { $0 != kind }
            if live(options.world(of: result.seed, faults: fewer)).violations.contains(where: {
                $0.invariant == invariant
            }) {
                kinds = fewer
            }
        }
        return kinds
    }

    private static func cpuSeconds() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
