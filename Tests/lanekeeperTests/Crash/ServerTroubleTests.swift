import CardRules
import Foundation
import Lanes
import Operations
import PrivatePostgres
import Simulation
import Testing

@testable import lanekeeper

/// PostgreSQL goes away, stands still, ends sessions, or is another one, in the middle of waves; the program lives on. Then
/// nothing may be lost at all: no start, no end, no registration.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil)) struct ServerTroubleTests {
    private static let game = "g1"
    private static let phones = 1200

    /// The whole night of a wave, with these troubles in its start wave.
    private func night(_ world: CrashWorld, troubles: [Wave.Trouble]) async throws {
        try await world.live {
            var wave = Wave(world, game: Self.game, seed: world.seed)
            try await world.begin()
            try await wave.register([])
            try await wave.start(troubles)
            let lost = try await world.lostRegistrations()
            #expect(lost.isEmpty, "\(lost.prefix(3))")
            try await wave.show([])
            try await wave.end([])
        }
    }

    private static func world(_ store: ServerStore) async throws -> CrashWorld {
        // A lease that outlives the trouble: the program keeps its lanes, and whatever it had in hand.
        try await CrashWorld({ _ in store }, seed: 5, leaseSeconds: 20) { Wave.profiles(phones, of: game, at: $0) }
    }

    @Test func `sessions terminated, the server paused and restarted in mid-wave: nothing is lost, nothing sent twice`()
        async throws
    {
        let cluster = try await PrivateCluster.start()
        let store = try await ServerStore(in: cluster)
        let world = try await Self.world(store)
        try await night(
            world,
            troubles: [
                .other("sessions terminated") {
                    try await store.sql(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                        """)
                },
                .other("server paused") {
                    try cluster.signalAll(SIGSTOP)
                    defer { try? cluster.signalAll(SIGCONT) }  // one that stands still cannot be stopped either
                    // Less than the lease: beyond it, starts are spent unsent (L10).
                    try await world.clock.sleep(until: world.clock.now.advanced(bySeconds: 3))
                },
                .other("server restarted") { try await cluster.restart("immediate") },
            ])
        try await cluster.stop("fast")
    }

    @Test func `the primary is killed under load and its synchronous standby promoted: nothing acknowledged is lost`()
        async throws
    {
        let primary = try await PrivateCluster.start()
        let store = try await ServerStore(in: primary)
        let standby = try await primary.standby()
        try await store.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try await store.sql("SELECT pg_reload_conf()")
        let both = store.through(hosts: [primary.port, standby.port])
        let world = try await Self.world(store)
        world.useStore(url: both)
        try await night(
            world,
            troubles: [
                .other("failover") {
                    try await primary.stop("immediate")
                    try await standby.promote()
                }
            ])
        try await standby.stop("fast")
    }

    @Test
    func
        `The database moved and the pool clings to the read-only node (known fault 15): 503 or durable, no start without its row, soon normal`()
        async throws
    {
        let old = try await PrivateCluster.start()
        let store = try await ServerStore(in: old)
        let new = try await old.standby()
        let world = try await CrashWorld({ _ in store }, seed: 6, leaseSeconds: 20) { now in
            var profiles = Wave.profiles(20, of: Self.game, at: now)
            profiles += Wave.profiles(20, of: "g2", at: now, from: 20)
            return profiles
        }
        try await world.live {
            try await world.begin()
            try await world.until("the phones are registered") { world.calls.counts.answered >= 80 }
            try await world.post { [CrashWorld.game(Self.game, at: $0), CrashWorld.score(Self.game, 0, at: $0)] }
            try await world.post { [CrashWorld.game("g2", at: $0)] }
            try await world.until("cards stand") { world.cards == 20 }
            try await world.until("the apps have told everything") { world.calls.isIdle }

            // All sessions there are become read-only; its name goes on leading there.
            try await store.sql("ALTER SYSTEM SET default_transaction_read_only = on")
            try await store.sql("SELECT pg_reload_conf()")
            try await world.until("readyz says why") {
                await world.whyNotReady().contains("read-only")
            }
            #expect(await world.once("PUT", "/v1/devices/new", "{\"user\":\"u\"}") == 503)
            async let posted: Void = world.post { [CrashWorld.score("g2", 0, at: $0)] }
            async let registered: Void = world.call("PUT", "/v1/devices/new", "{\"user\":\"u\"}")
            #expect(world.witness.accepted(.start) == 20)

            // A writable node under the same name.
            try await new.promote()
            store.wire.lead(to: new.port)
            let since = world.clock.uptime
            try await world.until("it is well again") { await world.isReady() == true }
            print("known fault 15: ready again after \(world.clock.uptime.seconds(since: since)) s")
            try await posted
            try await registered
            try await world.until("the others' cards stand") { world.cards == 40 }
            #expect(world.witness.accepted(.start) == 40)
            let rows = try await ServerStore.sql(
                "SELECT count(*) FROM lanekeeper.lane", at: new.url(database: store.database))
            #expect(rows == "41")
        }
        try await new.stop("fast")
        try await old.stop("immediate")
    }
}
