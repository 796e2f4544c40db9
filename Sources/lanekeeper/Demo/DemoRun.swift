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
        let (profiles, pause, board) = (world.fleet.profiles, NightPause(of: scaled), SlateBoard())
        let watched = LiveNight.watched(of: profiles)
        let log = isViewed ? DecisionLog(watching: watched.flatMap { profiles[$0].records }) : nil
        let places = Dictionary(
            profiles.enumerated().flatMap { place, profile in profile.records.map { ($0, place) } },
            uniquingKeysWith: { first, _ in first })
        let trace = DemoTrace(log: log) { device, kind in
            guard let place = places[device] else { return }
            world.fleet.withJudge { judge in
                if kind == .moment {
                    judge.madeUpMoment(ofPhone: place, at: clock.now)
                } else {
                    judge.probe(ofPhone: place)
                }
            }
        }
        let played: NightPlayer
        do {
            let player = NightPlayer(night, world: world, manual: manual, tuning: tuning, pause: pause, board: board)
            played = try await play(player, in: world, speed: speed, tuning: tuning, trace: trace) { access in
                for line in access { say(line) }
                return try log.map { log in
                    try LiveView(
                        LiveNight(
                            world: world, trace: trace, log: log, board: board, begins: begins, end: player.end,
                            speed: options.speed.text, watched: watched, access: Array(access.dropFirst().prefix(2))),
                        pause: pause, environment: environment)
                }
            }
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
        if let path = options.reportFile { try writeFile(report.json(), to: path) }
        return report.hasViolations ? 1 : 0
    }

    /// - Parameter look: is given what people may want to know of the API, and makes the live view, if there is to be one.
    private func play(
        _ start: NightPlayer, in world: DemoWorld, speed: Double, tuning: Tuning, trace: DemoTrace,
        look: ([String]) throws -> LiveView?
    ) async throws -> NightPlayer {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let engine = try await DemoEngine(
                in: world, speed: speed, tuning: tuning, trace: trace, passesTime: options.speed != .max,
                log: { bytes in
                    // A live view has the terminal to itself.
                    if options.isHeadless { try? FileHandle.standardError.write(contentsOf: bytes) }
                }, group: &group)
            var view: LiveView?
            do {
                world.calls.connect(to: engine.api)
                let device = world.fleet.profiles.first?.device ?? DeviceID(unchecked: "d0")
                view = try look(engine.api.access.lines(device: device))
                if let view { group.addTask { await view.serve(engine, in: world, speed: speed) } }
                let player = try await play(start, on: engine, in: world, trace: trace, view: view)
                await view?.stopped()
                await engine.stop()
                group.cancelAll()
                return player
            } catch {
                await view?.stopped()
                await engine.stop()
                group.cancelAll()
                throw error
            }
        }
    }

    private func play(
        _ start: NightPlayer, on engine: DemoEngine, in world: DemoWorld, trace: DemoTrace, view: LiveView?
    ) async throws -> NightPlayer {
        let quit = options.isHeadless || view != nil ? nil : QuitKey()
        let isLeft = {
            view?.isLeft == true || quit?.isPressed == true || StopSignals.wereSent
                || isOutputClosed.load(ordering: .relaxed)
        }
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
        return player
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
