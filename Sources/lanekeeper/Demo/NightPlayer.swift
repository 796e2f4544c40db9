import CardRules
import Lanes
import Simulation

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
    /// Lines of the tick that is being posted which the server does not have yet, and when they are tried again.
    private var unposted: ArraySlice<SlateLine> = []
    private var postsAgainAt: WallTime?
    private var postFailures = 0
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
    /// - Throws: `DemoFault` when the server refuses a tick; `CancellationError`.
    mutating func play(until limit: WallTime, on engine: DemoEngine, isOver: () -> Bool = { false }) async throws {
        let clock = world.clock
        while clock.now < limit, !isOver() {
            if let pause, pause.isPaused {
                await pause.passed()
                continue
            }
            let now = clock.now
            try await step(on: engine, at: now)
            if manual != nil { await engine.settle() }
            if now >= judging {
                judging = now.advanced(bySeconds: NightPlayer.judgeSeconds)
                world.fleet.withJudge { $0.check(at: now) }
            }
            let wakes = [
                postsAgainAt ?? (next < ticks.count ? ticks[next].at : limit), world.fleet.nextTime,
                world.calls.nextRetry, await engine.supervisor.nextDeadline, judging, limit,
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
        while try await post(to: engine, at: now), next < ticks.count, ticks[next].at <= now {
            let lines = ticks[next].lines
            next += 1
            linesPlayed += lines.count
            world.fleet.withJudge { judge in for line in lines { judge.sees(line, at: now) } }
            moments.sees(lines, at: now)
            board?.snapshot = moments.snapshot
            unposted = lines[...]
        }
        for report in world.fleet.run(until: now) { world.calls.take(report) }
        world.calls.passTime()
        if manual != nil { await engine.supervisor.passTime() }
    }

    /// A body of that many lines stays well under the API's 1 MiB.
    private static let linesAtOnce = 500

    /// Sends what the server does not have yet, as a feed would.
    /// - Returns: whether it has everything now; else it is tried again later.
    private mutating func post(to engine: DemoEngine, at now: WallTime) async throws -> Bool {
        if let postsAgainAt, now < postsAgainAt { return false }
        postsAgainAt = nil
        while !unposted.isEmpty {
            let lines = unposted.prefix(NightPlayer.linesAtOnce)
            let answer = await engine.api.answer(to: .ticks(lines), as: .feed)
            switch CallOutcome(answer, failures: postFailures) {
            // None of them can be used as the slate is (400): a feed goes on.
            case .done, .refused(status: 400):
                unposted = unposted.dropFirst(lines.count)
                postFailures = 0
            case .again(let seconds):
                postFailures += 1
                postsAgainAt = now.advanced(bySeconds: seconds)
                return false
            case .refused(let status):
                throw DemoFault(description: "the daemon refused a tick: \(status)")
            }
        }
        return true
    }

    /// Another daemon, built over the store of the one before: the apps repeat what that one never answered.
    func serverRestarted(_ engine: DemoEngine) {
        world.fleet.withJudge { $0.serverRestarts(at: world.clock.now) }
        world.calls.connect(to: engine.api)
    }

    mutating func closeMoments() { moments.close(at: world.clock.now) }
}
