import CardRules
import LaneStore
import Lanes
import Postgres
import Testing

/// The dangerous orders of measured-store 1.2, and what else a fence must stop.
@Suite struct FenceTests {
    private let nothing = CommitOutcome.landed(refused: RefusedRows())
    private let device = DeviceID(unchecked: "d1")

    @Test func `order A: a newer owner waits for the older one's commit under way, and then reads it`() async throws {
        let schema = try await TestSchema()
        let old = try await schema.open()
        #expect(await old.landed { $0.lanes = [sampleLane("d1", user: "before")] } == nothing)
        // The old owner has passed the fence, and waits for a row.
        let holder = try await schema.connect()
        try await holder.sql("BEGIN; SELECT FROM lane WHERE device = 'd1' FOR UPDATE")
        async let late = old.landed { $0.lanes = [sampleLane("d1", user: "late")] }
        let watcher = try await schema.connect()
        try await watcher.wait(until: schema.isBlocked())
        async let opening = schema.open { $0.session.parameters["application_name"] = "taker_\(schema.name)" }
        try await watcher.wait(until: schema.isBlocked("taker_\(schema.name)"))
        try await holder.sql("COMMIT")
        #expect(await late == nothing)
        let new = try await opening
        #expect(try await new.loadLane(device) == sampleLane("d1", user: "late"))
        #expect(await old.landed { $0.lanes = [sampleLane("d1", user: "too late")] } == .failed(.fenced))
        #expect(try await new.loadLane(device) == sampleLane("d1", user: "late"))
        await old.close()
        await new.close()
    }

    @Test func `order B: a commit that meets a take under way waits for it, and is refused`() async throws {
        let schema = try await TestSchema()
        let old = try await schema.open()
        #expect(await old.landed { $0.lanes = [sampleLane("d1", user: "before")] } == nothing)
        let taker = try await schema.connect()
        try await taker.sql("BEGIN; UPDATE lease SET epoch = epoch + 1")
        async let late = old.landed { $0.lanes = [sampleLane("d1", user: "late"), sampleLane("d2")] }
        let watcher = try await schema.connect()
        try await watcher.wait(until: schema.isBlocked())
        try await taker.sql("COMMIT")
        #expect(await late == .failed(.fenced))
        #expect(try await old.allLanes() == [sampleLane("d1", user: "before")])
        await old.close()
    }

    @Test func `a partition that was taken is refused alone, the others are written`() async throws {
        let schema = try await TestSchema()
        let store = try await schema.open { $0.connections = 1 }
        let places = ["d1", "d2", "d3"].map { partition(of: DeviceID(unchecked: $0)) }
        #expect(Set(places).count == 3)
        _ = try await schema.sql("UPDATE lease SET epoch = epoch + 1 WHERE partition = \(places[1])")
        // Offered at once, they share a transaction.
        async let first = store.landed { $0.lanes = [sampleLane("d1")] }
        async let second = store.landed { $0.lanes = [sampleLane("d2")] }
        async let third = store.landed { $0.lanes = [sampleLane("d3")] }
        async let mixed = store.landed {
            $0.lanes = [sampleLane("d2", generation: 2), sampleLane("d3", generation: 2)]
        }
        #expect(await [first, second, third, mixed] == [nothing, .failed(.fenced), nothing, .failed(.fenced)])
        #expect(try await store.allLanes() == [sampleLane("d1"), sampleLane("d3")])
        #expect(store.held == (0..<partitionCount).filter { $0 != places[1] })
        await store.close()
    }

    @Test func `a partition is written by whoever holds it, from the last commit on`() async throws {
        let schema = try await TestSchema()
        let store = try await schema.open(.leases)
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == .failed(.fenced))
        let place = partition(of: device)
        _ = try await schema.sql("UPDATE lease SET epoch = 7, commit_seq = 41 WHERE partition = \(place)")
        store.hold(PartitionHold(partition: place, epoch: 7, sequence: 41))
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == nothing)
        #expect(await store.landed { $0.marks = [place: 3] } == nothing)
        #expect(try await schema.sql("SELECT commit_seq FROM lease WHERE partition = \(place)") == "43")
        // What belongs to no device needs no partition.
        #expect(await store.landed { $0.sessions = [sampleSession("nap")] } == nothing)
        store.letGo(place)
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == .failed(.fenced))
        await store.close()
    }

    @Test func `a database that was set back (a failover that lost commits) is not written on`() async throws {
        let schema = try await TestSchema()
        let store = try await schema.open()
        for _ in 0..<3 { #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == nothing) }
        _ = try await schema.sql("UPDATE lease SET commit_seq = commit_seq - 1 WHERE commit_seq > 0")
        #expect(await store.landed { $0.lanes = [sampleLane("d1", user: "on")] } == .failed(.fenced))
        #expect(try await store.loadLane(device) == sampleLane("d1"))
        await store.close()
    }

    @Test func `a node alone is refused where nodes of a cluster live`() async throws {
        let schema = try await TestSchema()
        try await PostgresStore.migrate(schema.address, schema: schema.name)
        _ = try await schema.sql("INSERT INTO node (name, expires) VALUES ('east', now() + interval '1 hour')")
        await #expect(throws: StoreError.inUse(path: "the database, by node east of a cluster")) {
            try await schema.open()
        }
        await (try await schema.open(.leases)).close()
        _ = try await schema.sql("UPDATE node SET expires = now()")
        await (try await schema.open()).close()
    }

    @Test func `the fence holds although the database's own default is another isolation`() async throws {
        let schema = try await TestSchema()
        let store = try await schema.open {
            $0.session.parameters["default_transaction_isolation"] = "repeatable read"
        }
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == nothing)
        let taker = try await schema.connect()
        let place = partition(of: device)
        try await taker.sql("BEGIN; UPDATE lease SET holder = holder WHERE partition = \(place)")
        async let outcome = store.landed { $0.lanes = [sampleLane("d1", user: "on")] }
        try await (try await schema.connect()).wait(until: schema.isBlocked())
        try await taker.sql("COMMIT")
        #expect(await outcome == nothing)
        await store.close()
    }
}
