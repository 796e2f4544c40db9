import CardRules
import Intake
import Simulation
import Testing

@testable import lanekeeper

/// A demo as `lanekeeper demo` runs it, with a clock that the test moves: feed, phones and operator talk to its API over
/// loopback.
@Suite struct MomentDemoTests {
    private static let announced = WallTime(seconds: 1_794_699_000)
    private static let starts = announced.advanced(bySeconds: 1800)
    private static let games = ["g1", "g2"].map { GameID(unchecked: $0) }
    private static let device = DeviceID(unchecked: "d1")

    /// Two games alike, both under way and then without news.
    private static let night = DemoNight(
        games.map { game in
            var patch = GamePatch(game: game, at: announced)
            (patch.sport, patch.league) = (.value(.basketball), .value("NBA"))
            (patch.home, patch.away) = (.value("Home \(game)"), .value("Away \(game)"))
            patch.startsAt = .value(starts)
            return .game(patch)
        }
            + games.map { game in
                var patch = ScorePatch(game: game, at: starts)
                patch.phase = .value(.live)
                (patch.home, patch.away, patch.period) = (.value(30), .value(31), .value(2))
                patch.clock = .value("08:00")
                return .score(patch)
            })

    private static func world(_ clock: ManualClock) throws -> DemoWorld {
        var profile = PhoneProfile(
            handset: 0, bundleID: DemoWorld.bundleID, osVersion: OSVersion(major: 18, minor: 1), timeZone: "UTC",
            user: "u1", device: device,
            openings: [
                PhoneProfile.Opening(
                    at: announced.advanced(bySeconds: 60), seconds: 60, choice: PhoneProfile.Choice(games: games))
            ])
        profile.personalisation = .none
        return try DemoWorld(fleet: PhoneFleet(profiles: [profile], seed: 1), seed: 1, clock: clock)
    }

    @Test
    func
        `T1, T11: a moment posted to a running demo turns the card of its phone within 3 s, and after its tail it goes back`()
        async throws
    {
        let clock = ManualClock(now: Self.announced)
        let world = try Self.world(clock)
        let (tuning, trace) = (Tuning(), DemoTrace())
        func front() -> GameID? { world.fleet.phone(0).cardInSight?.content.front }
        try await withThrowingTaskGroup(of: Void.self) { group in
            var player = NightPlayer(Self.night, world: world, manual: clock, tuning: tuning)
            let engine = try await DemoEngine(
                in: world, speed: 1, tuning: tuning, trace: trace, passesTime: false, group: &group)
            do {
                world.calls.connect(to: engine.api)
                try await player.play(until: Self.starts.advanced(bySeconds: 120), on: engine)
                let before = try #require(front())
                let other = try #require(Self.games.first { $0 != before })

                let posted = clock.now
                let moment = ClientRequest.moment(.shootout, of: other, seconds: 30, for: [Self.device])
                #expect(try await engine.api.answer(to: moment, as: .phones).get().status == 403)
                #expect(try await engine.api.answer(to: moment, as: .demo).get().status == 202)
                try await player.play(until: posted.advanced(bySeconds: 3), on: engine)
                #expect(front() == other)
                let told = try await Self.state(engine)
                #expect(told["cards"]?[0]?["front"]?.text == other.text)
                #expect(trace.counts.frontChanges == 1)

                // The moment, and the 60 s by which its lift outlasts it.
                try await player.play(
                    until: posted.advanced(bySeconds: 30 + tuning.takeover.tailSeconds - 1), on: engine)
                #expect(front() == other)
                try await player.play(
                    until: posted.advanced(bySeconds: 30 + tuning.takeover.tailSeconds + 3), on: engine)
                #expect(front() == before)
                #expect(trace.counts.frontChanges == 2)

                let judged = world.fleet.withJudge { $0.report(at: clock.now) }
                #expect(judged.violationsInAll == 0, "\(judged.violations.prefix(5))")
                // It registered, chose, and reported its card's token; nothing was refused.
                #expect(world.calls.counts.answered >= 3 && world.calls.counts.refused == 0)
                await engine.stop()
            } catch {
                await engine.stop()
                throw error
            }
        }
        await world.close()
    }

    private static func state(_ engine: DemoEngine) async throws -> JSONValue {
        let answer = try await engine.api.answer(to: ClientRequest("GET", "/v1/devices/\(device)"), as: .demo).get()
        return try JSONDocument(answer.body).root
    }
}
