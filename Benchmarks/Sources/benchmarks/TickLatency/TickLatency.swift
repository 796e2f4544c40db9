import Measuring

/// How long a tick takes until the last lane has decided and the last push is with the pool, and what that costs beside a
/// plain loop over the same lanes.
struct TickLatency: Sendable {
    private let options: Options

    init(_ options: Options) { self.options = options }

    /// Of a lane with its floor's copy, its tokens and its pushes under way.
    private static let bytesPerLane = 12_000

    func run(_ empty: Report) throws -> Report {
        var report = empty
        let wanted = options.sizes ?? (options.isQuick ? [1000, 10_000] : [1000, 10_000, 100_000, 1_000_000])
        let room = Memory.availableBytes / TickLatency.bytesPerLane
        let sizes = wanted.filter { $0 <= room }
        for size in wanted where size > room {
            report.conditions.append("\(short(size)) lanes left out: too little memory")
        }
        report.conditions += [
            "\(MadeUpSlate.count) games under way, 5 to 8 followed, skewed (the most followed game has ten times the "
                + "followers of the least), three in five phones with a card; seed \(options.seed)",
            "\(LaneSystem.shards) shards, the timeline kept, the store answers at once, pushes are held until all is measured",
            "floor: one thread, the same lanes as values in an array, the same decisions; no records, no rendering",
        ]
        var outcomes: [TickRun.Outcome] = []
        for size in sizes {
            say("tick-latency: \(short(size)) lanes")
            // What an index saves grows with the lanes and no faster: one size tells.
            let comparesIndex = size == sizes.last { $0 <= 100_000 } || sizes.count == 1
            let run = TickRun(
                lanes: size, rounds: rounds(size), seed: options.seed, comparesIndex: comparesIndex)
            outcomes.append(try blocking { try await run.run() })
        }
        guard let largest = outcomes.last else { throw Failure("no size fits into memory") }
        let indexed = outcomes.filter { !$0.index.isEmpty }
        report.tables = [latencies(outcomes), costs(outcomes)] + indexed.map { index($0) }
        note(largest, indexed: indexed, in: &report)
        report.plots = plots(outcomes, largest)
        return report
    }

    private func rounds(_ lanes: Int) -> Int {
        switch lanes {
        case ...10_000: options.isQuick ? 5 : 40
        case ...100_000: options.isQuick ? 3 : 15
        default: options.isQuick ? 1 : 3
        }
    }

    // MARK: - Tables

    private func latencies(_ outcomes: [TickRun.Outcome]) -> Table {
        var table = Table(
            "Milliseconds from the tick's arrival",
            [
                "lanes, tick", "lanes concerned", "pushes", "decided p50", "p99", "max", "last push handed over p50",
                "p99", "max", "runs",
            ])
        for outcome in outcomes {
            for scenario in TickScenario.allCases {
                let samples = outcome.samples[scenario] ?? []
                let decided = Spread(samples.map { $0.decidedSeconds * 1e3 })
                let handed = Spread(samples.map { $0.handedSeconds * 1e3 })
                let hasPushes = samples.contains { $0.pushes > 0 }
                table.rows.append([
                    "\(short(outcome.lanes)), \(scenario.rawValue)",
                    "\(shown((outcome.shares[scenario] ?? 0) * 100)) %",
                    grouped(Int(median(samples.map { Double($0.pushes) }))),
                    shown(decided.p50), shown(decided.p99), shown(decided.max),
                    hasPushes ? shown(handed.p50) : "-", hasPushes ? shown(handed.p99) : "-",
                    hasPushes ? shown(handed.max) : "-", "\(decided.runs)",
                ])
            }
        }
        return table
    }

    private func costs(_ outcomes: [TickRun.Outcome]) -> Table {
        var table = Table(
            "CPU a lane, and what a tick asks of the allocator",
            [
                "lanes, tick", "decided, ns", "floor, ns", "to the floor", "wall, to the floor", "allocations",
                "of the floor", "a lane concerned",
            ])
        for outcome in outcomes {
            for scenario in TickScenario.allCases {
                let samples = outcome.samples[scenario] ?? []
                let lanes = Double(outcome.lanes)
                let concerned = (outcome.shares[scenario] ?? 0) * lanes
                let allocations = outcome.allocations[scenario] ?? 0
                table.rows.append([
                    "\(short(outcome.lanes)), \(scenario.rawValue)",
                    shown(median(samples.map { $0.decidedCPUSeconds / lanes * 1e9 })),
                    shown(median(samples.map { $0.floorCPUSeconds / lanes * 1e9 })),
                    shown(TickLatency.ratio(samples)),
                    shown(median(samples.map { $0.decidedSeconds / max($0.floorSeconds, 1e-9) })),
                    grouped(allocations), grouped(outcome.floorAllocations[scenario] ?? 0),
                    concerned > 0 ? shown(Double(allocations) / concerned) : "-",
                ])
            }
        }
        return table
    }

    private func index(_ outcome: TickRun.Outcome) -> Table {
        var table = Table(
            "An index from game to lanes, on the floor of \(short(outcome.lanes)) lanes (CPU ms a tick)",
            ["what changed", "lanes concerned", "every lane looked at", "by the index", "to looking at all"])
        for sample in outcome.index {
            table.rows.append([
                sample.what, "\(shown(sample.share * 100)) %", shown(sample.scanSeconds * 1e3),
                shown(sample.indexSeconds * 1e3), shown(sample.indexSeconds / max(sample.scanSeconds, 1e-9)),
            ])
        }
        return table
    }

    // MARK: - Figures

    private static func ratio(_ samples: [TickRun.Sample]) -> Double {
        median(samples.map { $0.decidedCPUSeconds / max($0.floorCPUSeconds, 1e-9) })
    }

    private func note(
        _ outcome: TickRun.Outcome, indexed: [TickRun.Outcome], in report: inout Report
    ) {
        for scenario in TickScenario.allCases {
            let samples = outcome.samples[scenario] ?? []
            report.figure("cpu-over-floor.\(scenario.key)", TickLatency.ratio(samples), .ratio)
            report.figure("decided-p50-ms.\(scenario.key)", median(samples.map { $0.decidedSeconds * 1e3 }), .time)
            report.figure("decided-max-ms.\(scenario.key)", samples.map { $0.decidedSeconds * 1e3 }.max() ?? 0, .time)
            let concerned = (outcome.shares[scenario] ?? 0) * Double(outcome.lanes)
            if concerned > 0 {
                report.figure(
                    "allocations-per-concerned-lane.\(scenario.key)",
                    Double(outcome.allocations[scenario] ?? 0) / concerned, .count)
            }
        }
        report.figure(
            "allocations-per-unaffected-lane",
            Double(outcome.allocations[.nothing] ?? 0) / Double(outcome.lanes), .count)
        guard let indexed = indexed.last else { return }
        for sample in indexed.index {
            report.figure(
                "index-over-scan.\(sample.what.replacing(" ", with: "-"))",
                sample.indexSeconds / max(sample.scanSeconds, 1e-9), .ratio)
        }
        let saved = indexed.index.map { "\($0.what): \(shown(($0.scanSeconds - $0.indexSeconds) * 1e3)) ms" }
        report.findings.append(
            "What an index would save of each tick at \(short(indexed.lanes)) lanes, in CPU: \(saved.joined(separator: "; ")). "
                + "It costs 26 bytes a lane (4 for each game followed) and its upkeep.")
    }

    private func plots(_ outcomes: [TickRun.Outcome], _ largest: TickRun.Outcome) -> [Plot] {
        var growth = Plot(
            "tick-latency-growth", title: "From a tick to the last lane decided", across: .init("lanes", .logarithmic),
            up: .init("ms, median", .logarithmic))
        for scenario in TickScenario.allCases {
            growth.series.append(
                .init(
                    scenario.rawValue,
                    outcomes.map {
                        .init(
                            Double($0.lanes), median(($0.samples[scenario] ?? []).map { $0.decidedSeconds * 1e3 }))
                    }))
        }
        growth.series.append(
            .init(
                "floor, one game",
                outcomes.map {
                    .init(Double($0.lanes), median(($0.samples[.oneGame] ?? []).map { $0.floorSeconds * 1e3 }))
                }, isReference: true))
        var spread = Plot(
            "tick-latency-spread", title: "Ticks decided within, 10k lanes or the nearest",
            across: .init("ms", .logarithmic), up: .init("% of ticks"))
        let shownSize = outcomes.min { abs($0.lanes - 10_000) < abs($1.lanes - 10_000) } ?? largest
        for scenario in TickScenario.allCases {
            spread.series.append(
                .init(
                    scenario.rawValue,
                    Plot.shares((shownSize.samples[scenario] ?? []).map { $0.decidedSeconds * 1e3 })))
        }
        return [growth, spread]
    }
}
