import CardRules
import Intake
import Lanes
import Measuring
import Simulation
import Synchronization

struct RecoveryRun: Sendable {
    struct Phase: Sendable {
        var tickMilliseconds: [Double] = []
        var deathMilliseconds: [Double] = []
        var seconds = 0.0
        var cpuSeconds = 0.0
    }

    struct Outcome: Sendable {
        var calm = Phase()
        var storm = Phase()
        var share = 0.0
        var restarted = 0
        var lost = 0
    }

    let lanes: Int
    let seconds: Double
    let seed: UInt64

    private static let ticksASecond = 5.0
    private static let dyingAtOnce = 64

    func run() async throws -> Outcome {
        let folder = try StoreFolder()
        defer { folder.remove() }
        let place = try await StorePlace(.sqlite, folder)
        let zones = ZoneDirectory()
        let slate = MadeUpSlate()
        let phones = MadeUpPhones(seed: seed, games: slate.ids, zone: { zones.zone(named: $0) ?? .utc })
        say("recovery: \(grouped(lanes)) lanes are filled in")
        let store = try await place.open()
        try await fill(store, phones, lanes, opening: slate.opening())
        let system = try await LaneSystem(store: store, zones: zones)
        var outcome = Outcome()
        let game = MadeUpSlate.count / 2
        let followers = (0..<lanes).count { phones.followed($0).contains(game) }
        outcome.share = Double(followers) / Double(lanes)
        let player = Player(system, slate, game: game)
        try await player.play(seconds: 1)  // warms up
        outcome.calm = try await phase { try await player.play(seconds: seconds) }
        let flag = Flag()
        let storm = Storm()
        outcome.storm = try await phase {
            try await withThrowingTaskGroup(of: (ticks: [Double], deaths: [Double]).self) { group in
                for killer in 0..<RecoveryRun.dyingAtOnce {
                    group.addTask { (ticks: [], deaths: try await kill(killer, phones, system, until: flag)) }
                }
                group.addTask {
                    defer { flag.raise() }
                    return (ticks: try await player.play(seconds: seconds), deaths: [])
                }
                var all: (ticks: [Double], deaths: [Double]) = ([], [])
                for try await one in group {
                    all.ticks += one.ticks
                    all.deaths += one.deaths
                }
                storm.note(all.deaths)
                return all.ticks
            }
        }
        outcome.storm.deathMilliseconds = storm.deaths
        await system.supervisor.flush()
        outcome.restarted = system.watch.restarted
        outcome.lost = lanes - (await system.supervisor.laneCount())
        await system.stop()
        await place.close(store)
        return outcome
    }

    private func phase(_ body: () async throws -> [Double]) async throws -> Phase {
        let before = Usage.now
        var phase = Phase(tickMilliseconds: try await body())
        let took = Usage.now - before
        (phase.seconds, phase.cpuSeconds) = (took.wallSeconds, took.cpuSeconds)
        return phase
    }

    /// Each killer has phones of its own, one after the other: a lane that died too often would be parked.
    private func kill(
        _ killer: Int, _ phones: MadeUpPhones, _ system: LaneSystem, until isOver: Flag
    ) async throws -> [Double] {
        var milliseconds: [Double] = []
        var number = killer
        while !isOver.isUp {
            let device = phones.device(number)
            let began = uptimeSeconds()
            guard try await system.supervisor.kill(device) else { throw Failure("\(device) could not be killed") }
            milliseconds.append((uptimeSeconds() - began) * 1e3)
            number += RecoveryRun.dyingAtOnce
            if number >= lanes { number = killer }
        }
        return milliseconds
    }

    /// Sends ticks, five a second, and says how long each took.
    private final class Player: Sendable {
        private let system: LaneSystem
        private let slate: Mutex<MadeUpSlate>
        private let game: Int

        init(_ system: LaneSystem, _ slate: MadeUpSlate, game: Int) {
            self.system = system
            self.slate = Mutex(slate)
            self.game = game
        }

        @discardableResult
        func play(seconds: Double) async throws -> [Double] {
            var milliseconds: [Double] = []
            let end = uptimeSeconds() + seconds
            var next = uptimeSeconds()
            while next < end {
                let wait = next - uptimeSeconds()
                if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
                next = max(next + 1 / RecoveryRun.ticksASecond, uptimeSeconds())
                // So much of the night for each, that every update may go.
                system.clock.advance(bySeconds: 20)
                await system.supervisor.passTime()
                let (decided, decide) = AsyncStream<Double>.makeStream()
                system.watch.next { usage in
                    decide.yield(usage.wallSeconds)
                    decide.finish()
                }
                let now = system.clock.now
                let lines = slate.withLock { [game] in $0.play([game], at: now) }
                let began = uptimeSeconds()
                try await system.supervisor.tick(lines)
                for await time in decided { milliseconds.append((time - began) * 1e3) }
            }
            return milliseconds
        }
    }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isUp: Bool { value.load(ordering: .relaxed) }
    func raise() { value.store(true, ordering: .relaxed) }
}

private final class Storm: Sendable {
    private let state = Mutex<[Double]>([])
    var deaths: [Double] { state.withLock { $0 } }
    func note(_ deaths: [Double]) { state.withLock { $0 = deaths } }
}
