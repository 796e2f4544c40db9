import CardRules
import Lanes
import Simulation
import Synchronization

/// Plays a night against a system: the feed, the phones and the passing of time, in one loop for every speed.
struct NightPlayer {
    private let ticks: [SlateTick]
    private let world: DemoWorld
    /// The clock, where nothing but this player moves it: it then jumps whenever nothing is in flight.
    private let manual: ManualClock?
    /// A quarter of an hour after the last line: the last game has left the window by then, and every card that could
    /// be ended has been. One without an update token may still stand (E2).
    let end: WallTime
    private(set) var moments: MomentWatch
    private var next = 0
    private(set) var linesPlayed = 0
    private var judging: WallTime
    private let unanswered = UnansweredReports()
    private let pause: NightPause?
    private let board: SlateBoard?

    private static let judgeSeconds = 15.0
    private static let afterglowSeconds = 900.0

    /// - Parameters:
    ///   - pause: holds the night.
    ///   - board: is given each new snapshot of the slate.
    init(
        _ night: DemoNight, world: DemoWorld, manual: ManualClock?, tuning: Tuning, pause: NightPause? = nil,
        board: SlateBoard? = nil
    ) {
        self.pause = pause
        self.board = board
        ticks = night.ticks
        self.world = world
        self.manual = manual
        moments = MomentWatch(tuning: tuning)
        end = (ticks.last?.at ?? world.clock.now).advanced(bySeconds: NightPlayer.afterglowSeconds)
        judging = world.clock.now.advanced(bySeconds: NightPlayer.judgeSeconds)
    }

    /// Games under way.
    var live: Int { moments.live }

    /// Plays until then, or until `isOver` says so.
    /// - Throws: `StoreError` when a tick cannot be kept; `CancellationError`.
    mutating func play(until limit: WallTime, on engine: DemoEngine, isOver: () -> Bool = { false }) async throws {
        let clock = world.clock
        while clock.now < limit, !isOver() {
            if let pause, pause.isPaused {
                await pause.passed()
                continue
            }
            let now = clock.now
            try await step(on: engine, at: now)
            if manual != nil { await engine.supervisor.settle() }
            if now >= judging {
                judging = now.advanced(bySeconds: NightPlayer.judgeSeconds)
                world.fleet.withJudge { $0.check(at: now) }
            }
            let wakes = [
                next < ticks.count ? ticks[next].at : limit, world.fleet.nextTime,
                await engine.supervisor.nextDeadline, judging, limit,
            ]
            let wake = max(wakes.compactMap { $0 }.min() ?? limit, now.advanced(bySeconds: 0.001))
            if let manual {
                manual.set(wake)
            } else {
                try await clock.sleep(until: min(wake, now.advanced(bySeconds: 1)))
            }
        }
    }

    /// Everything that is due now is set going; nothing is awaited but that ticks are durable.
    mutating func step(on engine: DemoEngine, at now: WallTime) async throws {
        while next < ticks.count, ticks[next].at <= now {
            let lines = ticks[next].lines
            next += 1
            linesPlayed += lines.count
            world.fleet.withJudge { judge in for line in lines { judge.sees(line, at: now) } }
            moments.sees(lines, at: now)
            board?.snapshot = moments.snapshot
            try await engine.supervisor.tick(lines)
        }
        for report in world.fleet.run(until: now) { unanswered.send(report, to: engine) }
        await engine.supervisor.passTime()
    }

    /// The system was dropped and built again: the apps repeat what it never answered.
    func serverRestarted(_ engine: DemoEngine) {
        world.fleet.withJudge { $0.serverRestarts(at: world.clock.now) }
        unanswered.repeatAll(to: engine)
    }

    mutating func closeMoments() { moments.close(at: world.clock.now) }
}

/// What apps have reported and the system has not confirmed: an app repeats it until it is.
private final class UnansweredReports: Sendable {
    private struct State {
        var reports: [Int: PhoneReport] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    func send(_ report: PhoneReport, to engine: DemoEngine) {
        let number = state.withLock { state in
            state.count += 1
            state.reports[state.count] = report
            return state.count
        }
        engine.take(report) { [self] in state.withLock { $0.reports[number] = nil } }
    }

    func repeatAll(to engine: DemoEngine) {
        let open = state.withLock { $0.reports.sorted { $0.key < $1.key } }
        for (number, report) in open {
            engine.take(report) { [self] in state.withLock { $0.reports[number] = nil } }
        }
    }
}
