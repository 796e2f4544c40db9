import CardRules
import Lanes
import Simulation
import Testing

@testable import lanekeeper

/// The whole system, over TLS and HTTP/2 and with its store file, dropped in mid-night while gateway and phones live on.
@Suite struct RestartTests {
    private static let announced = WallTime(seconds: 1_794_699_000)

    @Test(arguments: [UInt64(3), 4])
    func
        `L1, L10: dropped without warning and built again from its file, it starts nothing twice and is right again within a minute`(
            seed: UInt64
        ) async throws
    {
        let night = DemoNight(NightGenerator(seed: seed, announcedAt: Self.announced, games: 6).lines())
        let (tuning, trace) = (Tuning(), DemoTrace())
        let fleetNight = FleetNight(lines: night.ticks.flatMap(\.lines))
        let clock = ManualClock(now: fleetNight.begins)
        let world = try DemoWorld(phones: 30, seed: seed, night: fleetNight, clock: clock, speed: 1, tuning: tuning)
        var player = NightPlayer(night, world: world, manual: clock, tuning: tuning)

        var drops = 0
        var standing: [Int] = []
        for minutes in [25.03, 25.3, 60, 85, 86] {
            let limit = fleetNight.begins.advanced(bySeconds: minutes * 60)
            player = try await withThrowingTaskGroup(of: Void.self) { [player, drops] group in
                var player = player
                let engine = try await DemoEngine(
                    in: world, speed: 1, tuning: tuning, trace: trace, passesTime: false,
                    incarnation: UInt64(drops), group: &group)
                do {
                    player.serverRestarted(engine)
                    try await player.play(until: limit, on: engine)
                    // In the middle of things: a tick and reports are on their way, pushes may be.
                    try await player.step(on: engine, at: clock.now)
                } catch {
                    await engine.crash()
                    throw error
                }
                await engine.crash()
                return player
            }
            drops += 1
            standing.append(world.fleet.withJudge { $0.report(at: clock.now).standing })
            clock.advance(bySeconds: 1)
        }
        let judged = world.fleet.withJudge { $0.report(at: clock.now) }
        await world.close()
        #expect(judged.violationsInAll == 0, "seed \(seed): \(judged.violations.prefix(5))")
        #expect(standing.max() ?? 0 > 10, "seed \(seed): \(standing)")
        #expect(judged.tally.updates > 100)
        #expect(drops == 5)
    }
}
