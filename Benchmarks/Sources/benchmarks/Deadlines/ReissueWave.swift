import CardRules
import Intake
import Lanes
import Measuring
import Synchronization

/// A restart with so many cards overdue: R7 paces them, and the wheel brings each when its turn has come.
struct ReissueWave: Sendable {
    struct Outcome: Sendable {
        let phones: Int
        var starts = 0
        var seconds = 0.0
        var mostInASecond = 0
        var perSecond: [Int] = []
        var cpuSeconds = 0.0
        var wakes = 0
    }

    let phones: Int
    let seed: UInt64

    /// Due since a little while, so that all come before iOS ends the first.
    private static let cardAgeSeconds = 27_950.0

    func run() async throws -> Outcome {
        let zones = ZoneDirectory()
        let slate = MadeUpSlate()
        let made = MadeUpPhones(
            seed: seed, withCard: 1, cardAgeSeconds: ReissueWave.cardAgeSeconds, games: slate.ids,
            zone: { zones.zone(named: $0) ?? .utc })
        let store = MadeUpStore(phones: made, count: phones, opening: slate.opening())
        let system = try await LaneSystem(store: store, zones: zones)
        let start = system.clock.now
        var outcome = Outcome(phones: phones)
        let before = Usage.now
        var sent = system.pusher.starts
        var bySecond: [Int: Int] = [:]
        bySecond[0] = sent
        let limit = start.advanced(bySeconds: 28_800 - ReissueWave.cardAgeSeconds - 60)
        while let next = await system.supervisor.nextDeadline, next < limit {
            system.clock.advance(bySeconds: max(0.001, next.seconds(since: system.clock.now)))
            await system.supervisor.passTime()
            await system.supervisor.settle()
            outcome.wakes += 1
            let now = system.pusher.starts
            guard now > sent else { continue }
            let second = Int(system.clock.now.seconds(since: start))
            bySecond[second, default: 0] += now - sent
            sent = now
            outcome.seconds = system.clock.now.seconds(since: start)
            if sent >= phones { break }
        }
        outcome.cpuSeconds = (Usage.now - before).cpuSeconds
        outcome.starts = sent
        outcome.mostInASecond = bySecond.values.max() ?? 0
        outcome.perSecond = (0...(bySecond.keys.max() ?? 0)).map { bySecond[$0] ?? 0 }
        await system.stop()
        return outcome
    }
}
