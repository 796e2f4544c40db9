import Measuring

/// Lanes that die while the night goes on: how many a second come back, and what the others notice.
struct Recovery: Sendable {
    private let options: Options
    private let lanes: Int

    init(_ options: Options) {
        self.options = options
        lanes = options.sizes?.first ?? (options.isQuick ? 5000 : 100_000)
    }

    func run(_ empty: Report) throws -> Report {
        var report = empty
        let run = RecoveryRun(lanes: lanes, seconds: options.isQuick ? 2 : 8, seed: options.seed)
        let outcome = try blocking { try await run.run() }
        report.conditions = [
            "\(grouped(lanes)) lanes, three in five with a card, over SQLite in a file; \(LaneSystem.shards) shards",
            "five ticks a second of one game in the middle, \(shown(outcome.share * 100)) % of the lanes concerned; "
                + "\(shown(run.seconds)) s without deaths, then as long with 64 lanes dying at any time",
            "a death: the lane is thrown away between two turns, its row is read, its successor takes its place",
        ]
        var table = Table(
            "Ticks while lanes die", ["", "ticks", "decided p50 ms", "p99", "max", "CPU s a second"])
        for (name, phase) in [("nobody dies", outcome.calm), ("lanes die", outcome.storm)] {
            let spread = Spread(phase.tickMilliseconds)
            table.rows.append([
                name, "\(spread.runs)", shown(spread.p50), shown(spread.p99), shown(spread.max),
                shown(phase.cpuSeconds / phase.seconds),
            ])
        }
        var deaths = Table("Deaths", ["what", "value"])
        let back = Spread(outcome.storm.deathMilliseconds)
        let killed = outcome.storm.deathMilliseconds.count
        let perDeath =
            (outcome.storm.cpuSeconds - outcome.calm.cpuSeconds * outcome.storm.seconds / outcome.calm.seconds)
            / Double(max(killed, 1)) * 1e6
        deaths.rows = [
            ["lanes killed and back", grouped(killed)],
            ["a second", shown(Double(killed) / outcome.storm.seconds)],
            ["back after, ms, p50", shown(back.p50)],
            ["p99", shown(back.p99)],
            ["max", shown(back.max)],
            ["CPU us a death, the ticks' own taken off", shown(perDeath)],
            ["lanes lost", "\(outcome.lost)"],
        ]
        report.tables = [table, deaths]
        report.figure("deaths-per-second", Double(killed) / outcome.storm.seconds, .time)
        report.figure("lanes-lost", Double(outcome.lost), .count)
        report.figure("deaths-not-restarted", Double(killed - outcome.restarted), .count)
        report.figure(
            "tick-p50-over-calm",
            median(outcome.storm.tickMilliseconds) / max(median(outcome.calm.tickMilliseconds), 1e-9), .ratio)
        report.figure("cpu-us-per-death", perDeath, .time)
        var plot = Plot(
            "recovery-ticks", title: "Ticks decided within, with and without deaths", across: .init("ms", .logarithmic),
            up: .init("% of ticks"))
        plot.series = [
            .init("nobody dies", Plot.shares(outcome.calm.tickMilliseconds), isReference: true),
            .init("lanes die", Plot.shares(outcome.storm.tickMilliseconds)),
        ]
        report.plots = [plot]
        return report
    }
}
