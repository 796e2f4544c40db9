import Measuring
import PrivatePostgres

/// From a tick that comes in over HTTP to the last push at the gateway: daemon, PostgreSQL and gateway as they are, each in a
/// process of its own.
struct TickToApns: Sendable {
    private let options: Options

    init(_ options: Options) { self.options = options }

    func run(_ empty: Report) throws -> Report {
        var report = empty
        guard let program = options.program else { throw WrongUse("tick-to-apns needs --program") }
        let sizes = options.sizes ?? (options.isQuick ? [500] : [10_000, 100_000])
        let changes = options.isQuick ? 2 : 4
        report.conditions = [
            "the daemon over TLS with the gateway of the simulation (in the benchmark's process, one thread), over HTTP with "
                + "its feed and its phones, and with a PostgreSQL 15 that flushes to disk",
            "30 games, 5 to 8 followed; all phones start a card in one slot, then all games score \(changes) times",
            "apns.perSecond raised to 1,000,000, authority.syncHoldSeconds 0; all else as configured by default",
        ]
        var table = Table(
            "Seconds from the call of the tick until the push is at the gateway",
            [
                "phones, tick", "pushes", "phones reached", "p50 of the phones", "p99", "last", "CPU ms a push: daemon",
                "database", "pushes a second",
            ])
        var plot = Plot(
            "tick-to-apns", title: "Phones reached since the tick", across: .init("seconds"), up: .init("% of phones"))
        for size in sizes {
            let outcome: ApnsRun.Outcome
            do {
                outcome = try blocking {
                    try await ApnsRun(program: program, phones: size, changes: changes, seed: options.seed).run()
                }
            } catch let fault as ClusterFault { throw Skipped(fault.what) }
            for (name, slots) in [("all start", [outcome.start]), ("all games score", outcome.updates)] {
                let all = slots.flatMap(\.seconds)
                let pushes = Double(slots.map(\.pushes).reduce(0, +))
                let last = slots.map { $0.seconds.max() ?? 0 }
                table.rows.append([
                    "\(short(size)), \(name)", grouped(Int(pushes) / slots.count),
                    "\(shown(Double(all.count) / Double(size * slots.count) * 100)) %", shown(median(all)),
                    shown(percentile(all, 0.99)), shown(median(last)),
                    shown(slots.map(\.daemonCPUSeconds).reduce(0, +) / pushes * 1e3),
                    shown(slots.map(\.databaseCPUSeconds).reduce(0, +) / pushes * 1e3),
                    shown(median(slots.map { Double($0.pushes) / max($0.seconds.max() ?? 1, 1e-9) })),
                ])
                plot.series.append(.init("\(short(size)), \(name)", ApnsRun.thin(Plot.shares(all))))
            }
            guard size == sizes.last else { continue }
            report.figure("starts-per-phone", Double(outcome.start.pushes) / Double(size), .count)
            report.figure("phones-started", Double(outcome.start.seconds.count) / Double(size), .ratio)
            let updates = outcome.updates.map { Double($0.pushes) / Double(size) }
            report.figure("updates-per-phone-and-change", median(updates), .count)
            report.figure("refused", Double(outcome.refused), .count)
            report.figure("start-last-seconds", outcome.start.seconds.max() ?? 0, .time)
            report.figure("update-last-seconds", median(outcome.updates.map { $0.seconds.max() ?? 0 }), .time)
            report.figure("daemon-bytes-per-phone", Double(outcome.residentBytes) / Double(size), .bytes)
            report.findings.append(
                "\(grouped(size)) phones: registered in \(shown(outcome.registrationSeconds)) s (two calls each), tokens of their "
                    + "cards in \(shown(outcome.tokenSeconds)) s; the daemon then held \(grouped(outcome.residentBytes / size)) "
                    + "bytes a phone, all of the process counted.")
        }
        report.tables = [table]
        report.plots = [plot]
        return report
    }
}
