import CardRules
import Foundation
import Lanes
import Simulation
import Synchronization
import TLS

/// `lanekeeper demo`: one night from its first line to the summary.
struct DemoRun {
    let options: DemoOptions
    let night: DemoNight

    private static let quarterSeconds = 900.0

    /// - Returns: the exit code.
    func run() async throws -> Int32 {
        StopSignals.note()
        let tuning = Tuning()
        let fleetNight = FleetNight(lines: night.ticks.flatMap(\.lines))
        let begins = min(night.ticks.first?.at ?? fleetNight.begins, fleetNight.begins)
        let clock: any WallClock & SteadyClock
        var (manual, scaled, speed) = (ManualClock?.none, ScaledClock?.none, 1.0)
        switch options.speed {
        case .max:
            let moved = ManualClock(now: begins)
            (clock, manual) = (moved, moved)
        case .times(let times):
            let running = ScaledClock(start: begins, speed: times)
            (clock, scaled, speed) = (running, running, times)
        }
        let began = ContinuousClock.now

        let world = try DemoWorld(
            phones: options.phones, seed: options.seed, night: fleetNight, clock: clock, speed: speed, tuning: tuning)
        let environment = ProcessInfo.processInfo.environment
        let isViewed = !options.isHeadless && Terminal.obstacle(in: environment) == nil
        let trace: DemoTrace
        let played: NightPlayer
        do {
            let profiles = world.fleet.profiles
            let watched = LiveNight.watched(of: profiles)
            let (pause, board) = (NightPause(of: scaled), SlateBoard())
            let log = isViewed ? DecisionLog(watching: watched.flatMap { profiles[$0].records }) : nil
            trace = DemoTrace(log: log)
            let player = NightPlayer(
                night, world: world, manual: manual, tuning: tuning, pause: pause, board: board)
            let view = try log.map { log in
                try LiveView(
                    LiveNight(
                        world: world, trace: trace, log: log, board: board, begins: begins, end: player.end,
                        speed: options.speed.text, watched: watched),
                    pause: pause, environment: environment)
            }
            do {
                played = try await play(player, in: world, speed: speed, tuning: tuning, trace: trace, view: view)
            } catch {
                await view?.stopped()
                throw error
            }
            await view?.stopped()
        } catch {
            await world.close()
            throw error
        }
        let wall = began.duration(to: .now).components
        let judged = world.fleet.withJudge { $0.report(moments: played.moments.intervals, at: clock.now) }
        await world.close()

        let report = DemoReport(
            phones: world.fleet.count, night: night, played: played, leftAt: clock.now,
            virtualSeconds: clock.now.seconds(since: begins),
            wallSeconds: Double(wall.seconds) + Double(wall.attoseconds) * 1e-18, counts: trace.counts, judged: judged)
        say(report.summary(first: Array(judged.violations.prefix(10))))
        if let path = options.reportFile { try write(report, to: path) }
        return report.hasViolations ? 1 : 0
    }

    private func write(_ report: DemoReport, to path: String) throws {
        do {
            try report.json().write(to: URL(fileURLWithPath: path))
        } catch {
            throw CannotWrite(path: path)
        }
    }

    private func play(
        _ start: NightPlayer, in world: DemoWorld, speed: Double, tuning: Tuning, trace: DemoTrace,
        view: LiveView?
    ) async throws -> NightPlayer {
        let engine = try DemoEngine(in: world, speed: speed, tuning: tuning, trace: trace)
        let quit = options.isHeadless || view != nil ? nil : QuitKey()
        let isLeft = {
            view?.isLeft == true || quit?.isPressed == true || StopSignals.wereSent
                || isOutputClosed.load(ordering: .relaxed)
        }
        do {
            try await engine.supervisor.restore()
            let player = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await engine.supervisor.run() }
                if let view { group.addTask { await view.serve(engine, in: world, speed: speed) } }
                var player = start
                var printed = trace.counts
                while world.clock.now < player.end, !isLeft() {
                    let quarter = world.clock.now.advanced(bySeconds: DemoRun.quarterSeconds)
                    try await player.play(until: min(quarter, player.end), on: engine, isOver: isLeft)
                    guard world.clock.now >= quarter else { break }  // the summary tells the rest
                    if view != nil { continue }
                    let counts = trace.counts
                    printQuarter(live: player.live, world, from: printed, to: counts)
                    printed = counts
                }
                player.closeMoments()
                group.cancelAll()
                return player
            }
            await engine.close()
            return player
        } catch {
            await engine.close()
            throw error
        }
    }

    private func printQuarter(live: Int, _ world: DemoWorld, from: DemoTrace.Counts, to: DemoTrace.Counts) {
        func since(_ event: PushEvent) -> Int { (to.sent[event] ?? 0) - (from.sent[event] ?? 0) }
        let now = world.clock.now
        let standing = world.fleet.withJudge { $0.report(at: now).standing }
        say(
            "\(clockText(now))  live \(live)  cards \(standing)  start \(since(.start))  update \(since(.update))  "
                + "end \(since(.end))  front changes \(to.frontChanges - from.frontChanges)")
    }
}

/// A file that the demo was to write: it could not.
struct CannotWrite: Error, CustomStringConvertible {
    let path: String
    var description: String { "\(path) cannot be written: is there such a folder, and may it be written to?" }
}
