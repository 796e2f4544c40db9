import CardRules
import Lanes
import Simulation

/// Plays a night against a system: the feed, the phones and the passing of time, in one loop for every speed.
struct NightPlayer {
    private let ticks: [DemoNight.Tick]
    private let world: DemoWorld
    /// The clock, where nothing but this player moves it: it then jumps whenever nothing is in flight.
    private let manual: ManualClock?
    /// When the last game has left the window and its cards have ended.
    let end: WallTime
    private(set) var moments: MomentWatch
    private var next = 0
    private var judging: WallTime

    private static let judgeSeconds = 15.0
    private static let afterglowSeconds = 900.0

    init(_ night: DemoNight, world: DemoWorld, manual: ManualClock?, tuning: Tuning) {
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
            world.fleet.withJudge { judge in for line in lines { judge.sees(line, at: now) } }
            moments.sees(lines, at: now)
            try await engine.supervisor.tick(lines)
        }
        for report in world.fleet.run(until: now) { engine.take(report) }
        await engine.supervisor.passTime()
    }

    mutating func closeMoments() { moments.close(at: world.clock.now) }
}
