import CardRules
import Intake
import LaneStore
import Lanes
import Measuring
import Operations
import Postgres
import PushWire
import Simulation

/// A node as `serve` makes it, over a store of a benchmark's: alone on SQLite, one of a cluster on PostgreSQL. Its clock
/// runs from the evening on.
final class StoreNode: Sendable {
    let system: Supervisor
    let pusher = HoldingPusher()
    private let store: any Store
    private let cluster: PostgresCluster?
    private let work: Task<Void, Never>

    /// Restored; in a cluster partitions come from here on.
    init(_ name: String, at place: StorePlace, zones: ZoneDirectory, clock: ScaledClock) async throws {
        let cluster: PostgresCluster?
        if let address = try place.address {
            let store = try await PostgresStore.open(
                address, settings: place.settings, ownership: .leases, migrate: true, random: MachineRandom(seed: 1))
            var settings = PostgresCluster.Settings()
            settings.name = name
            cluster = try PostgresCluster(
                address, store: store, settings: settings, storeSettings: place.settings, clock: clock,
                random: MachineRandom(seed: 2))
            self.store = store
        } else {
            cluster = nil
            store = try await place.open()
        }
        self.cluster = cluster
        let system = Supervisor(
            configuration: Supervisor.Configuration(
                tuning: Tuning(), apps: [LaneSystem.profile], shards: LaneSystem.shards),
            store: store, cluster: cluster, pusher: pusher, clock: clock, random: MachineRandom(seed: 7),
            zone: { zones.zone(named: $0) })
        self.system = system
        try await system.restore()
        try cluster?.begin()
        work = Task.detached {
            await withDiscardingTaskGroup { group in
                group.addTask { await system.run() }
                group.addTask { await system.run(by: clock) }
            }
        }
    }

    /// Of the partitions here, those whose lanes are in their places.
    var running: Int {
        let partitions = system.partitions
        return partitions.owned - partitions.loading
    }

    func stop(_ place: StorePlace) async {
        await system.leave(withinSeconds: 5)
        work.cancel()
        await work.value
        await cluster?.close()
        await place.close(store)
    }
}
