import CardRules
import Foundation
import Lanes
import PushWire
import Simulation

/// Plays a night: the feed, the phones and the passing of time, in one loop for every speed.
struct DemoRun {
    let options: DemoOptions
    let night: DemoNight

    /// - Returns: the exit code.
    func run() async throws -> Int32 {
        let tuning = Tuning()
        let fleetNight = FleetNight(lines: night.ticks.flatMap(\.lines))
        let begins = min(night.ticks.first?.at ?? fleetNight.begins, fleetNight.begins)
        let trace = DemoTrace()
        let manual = ManualClock(now: begins)
        let clock: any WallClock
        let speed: Double
        switch options.speed {
        case .max: (clock, speed) = (manual, 1)
        case .times(let times): (clock, speed) = (ScaledClock(start: begins, speed: times), times)
        }
        let system = try DemoSystem(
            options: options, night: fleetNight, clock: clock, speed: speed, trace: trace, tuning: tuning)
        try await system.supervisor.restore()
        let began = ContinuousClock.now
        let quit = options.isHeadless ? nil : QuitKey()

        let ends = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await system.supervisor.run() }
            let ends = try await play(system, clock, options.speed == .max ? manual : nil, trace, tuning, quit)
            group.cancelAll()
            return ends
        }
        let wall = began.duration(to: .now).components
        let judged = system.fleet.withJudge { $0.report(moments: ends.intervals, at: clock.now) }
        await system.close()

        let report = DemoReport(
            phones: system.fleet.count, night: night, virtualSeconds: clock.now.seconds(since: begins),
            wallSeconds: Double(wall.seconds) + Double(wall.attoseconds) * 1e-18, counts: trace.counts, judged: judged)
        print(report.summary(faults: night.faults, first: Array(judged.violations.prefix(10))))
        if let path = options.reportFile {
            try report.json().write(to: URL(fileURLWithPath: path))
        }
        return report.hasViolations ? 1 : 0
    }

    /// How long after the last line the night goes on: until the last game has left the window and cards have ended.
    private static let afterglowSeconds = 900.0
    private static let quarterSeconds = 900.0
    private static let judgeSeconds = 15.0

    private func play(
        _ system: DemoSystem, _ clock: any WallClock, _ manual: ManualClock?, _ trace: DemoTrace, _ tuning: Tuning,
        _ quit: QuitKey?
    ) async throws -> MomentWatch {
        var moments = MomentWatch(tuning: tuning)
        var next = 0
        var quarter = clock.now.advanced(bySeconds: DemoRun.quarterSeconds)
        var judging = clock.now.advanced(bySeconds: DemoRun.judgeSeconds)
        let end = (night.ticks.last?.at ?? clock.now).advanced(bySeconds: DemoRun.afterglowSeconds)
        var printed = trace.counts
        while clock.now < end, quit?.isPressed != true {
            let now = clock.now
            while next < night.ticks.count, night.ticks[next].at <= now {
                let lines = night.ticks[next].lines
                system.fleet.withJudge { judge in for line in lines { judge.sees(line, at: now) } }
                moments.sees(lines, at: now)
                try await system.supervisor.tick(lines)
                next += 1
            }
            for report in system.fleet.run(until: now) {
                system.supervisor.submit(call(for: report, app: DemoSystem.app.id, zones: system.zones))
            }
            await system.supervisor.passTime()
            if manual != nil { await system.supervisor.settle() }
            if now >= judging {
                judging = now.advanced(bySeconds: DemoRun.judgeSeconds)
                system.fleet.withJudge { $0.check(at: now) }
            }
            if now >= quarter {
                quarter = quarter.advanced(bySeconds: DemoRun.quarterSeconds)
                let counts = trace.counts
                printQuarter(at: now, live: moments.live, standing: system.fleet, from: printed, to: counts)
                printed = counts
            }
            let wakes = [
                next < night.ticks.count ? night.ticks[next].at : end, system.fleet.nextTime,
                await system.supervisor.nextDeadline, judging, quarter, end,
            ]
            let wake = max(wakes.compactMap { $0 }.min() ?? end, now.advanced(bySeconds: 0.001))
            if let manual {
                manual.set(wake)
            } else {
                try await clock.sleep(until: min(wake, now.advanced(bySeconds: 1)))
            }
        }
        moments.close(at: clock.now)
        return moments
    }

    private func printQuarter(
        at now: WallTime, live: Int, standing fleet: PhoneFleet, from: DemoTrace.Counts, to: DemoTrace.Counts
    ) {
        func since(_ event: PushEvent) -> Int { (to.sent[event] ?? 0) - (from.sent[event] ?? 0) }
        let standing = fleet.withJudge { $0.report(at: now).standing }
        let seconds = now.unixSeconds % 86_400
        let clock = [seconds / 3600, seconds % 3600 / 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        print(
            "\(clock) UTC  live \(live)  cards \(standing)  start \(since(.start))  update \(since(.update))  "
                + "end \(since(.end))  front changes \(to.frontChanges - from.frontChanges)")
    }
}
