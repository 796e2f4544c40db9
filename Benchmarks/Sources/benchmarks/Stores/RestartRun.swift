import CardRules
import Intake
import Lanes
import Measuring
import Operations

/// A node that starts on what another one left: from the opened store to lanes that are all in their places.
struct RestartRun: Sendable {
    struct Outcome: Sendable {
        let kind: StoreKind
        let lanes: Int
        let seconds: Double
        let cpuSeconds: Double
        let serverCPUSeconds: Double?
        let diskBytesPerLane: Double
    }

    let place: StorePlace
    let lanes: Int
    let seed: UInt64

    func run() async throws -> Outcome {
        say("store: \(place.kind.rawValue), a restart with \(grouped(lanes)) lanes")
        let place = place.fresh("restart_\(lanes)")
        let zones = ZoneDirectory()
        let slate = MadeUpSlate()
        let phones = MadeUpPhones(seed: seed, games: slate.ids, zone: { zones.zone(named: $0) ?? .utc })
        let first = try await place.open()
        try await fill(first, phones, lanes, opening: slate.opening())
        await place.close(first)
        let disk = await place.diskBytes()
        let server = place.serverCPUSeconds
        let before = Usage.now
        let store = try await place.open()
        let supervisor = Supervisor(
            configuration: Supervisor.Configuration(
                tuning: Tuning(), apps: [LaneSystem.profile], shards: LaneSystem.shards),
            store: store, pusher: HoldingPusher(), clock: SetClock(MadeUpSlate.evening), random: MachineRandom(seed: 7),
            zone: { zones.zone(named: $0) })
        try await supervisor.restore()
        let took = Usage.now - before
        let late = place.serverCPUSeconds
        let count = await supervisor.laneCount()
        guard count == lanes else { throw Failure("\(count) of \(lanes) lanes came back") }
        await place.close(store)
        return Outcome(
            kind: place.kind, lanes: lanes, seconds: took.wallSeconds, cpuSeconds: took.cpuSeconds,
            serverCPUSeconds: server.flatMap { early in late.map { $0 - early } },
            diskBytesPerLane: Double(disk) / Double(lanes))
    }
}
