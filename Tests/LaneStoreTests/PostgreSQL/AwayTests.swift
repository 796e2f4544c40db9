import CardRules
import LaneStore
import Lanes
import Postgres
import PrivatePostgres
import Simulation
import Testing

/// The server restarts, moves, ends sessions, or says no.
@Suite struct AwayTests {
    private let nothing = CommitOutcome.landed(refused: RefusedRows())

    /// Tries again as a shard does, until it lands.
    private func landed(_ store: PostgresStore, _ change: (inout CommitBatch) -> Void) async -> CommitOutcome {
        while true {
            let outcome = await store.landed(change)
            guard case .failed(.unavailable) = outcome else { return outcome }
        }
    }

    @Test(arguments: ["fast", "immediate"])
    func `the server restarts: meanwhile nothing is written, then it goes on, and nothing is lost`(mode: String)
        async throws
    {
        let cluster = try await PrivateCluster.start()
        let schema = try await TestSchema(in: cluster)
        let store = try await schema.open()
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == nothing)
        try await cluster.stop(mode)
        guard case .failed(.unavailable) = await store.landed({ $0.lanes = [sampleLane("d2")] }) else {
            Issue.record("not failed")
            return
        }
        while store.trouble == nil { await Task.yield() }  // the other connections look by themselves
        await #expect(throws: StoreError.self) { try await store.loadLane(DeviceID(unchecked: "d1")) }
        try await cluster.begin()
        #expect(await landed(store) { $0.lanes = [sampleLane("d2")] } == nothing)
        #expect(try await store.allLanes() == [sampleLane("d1"), sampleLane("d2")])
        #expect(store.trouble == nil)
        await store.close()
    }

    @Test func `sessions that are terminated in mid-wave lose nothing`() async throws {
        let schema = try await TestSchema()
        let store = try await schema.open()
        let enemy = try await schema.connect()
        for wave in 0..<8 {
            async let outcomes = withTaskGroup(of: CommitOutcome.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        await landed(store) {
                            $0.lanes = [sampleLane("w\(number)", generation: UInt32(wave))]
                            $0.claims = [sampleClaim("w\(number)", wave)]
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            try await enemy.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '\(schema.name)'")
            #expect(await outcomes == Array(repeating: nothing, count: 30), "wave \(wave)")
        }
        #expect(try await store.allLanes().count == 30)
        #expect(try await schema.sql("SELECT count(*) FROM claim") == "240")
        await store.close()
    }

    @Test func `The database moved and the pool clings to the read-only node (known fault 15)`() async throws {
        let schema = try await TestSchema()
        let store = try await schema.open { $0.connections = 1 }
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == nothing)
        let before = try await schema.sql("SELECT pid FROM pg_stat_activity WHERE application_name = '\(schema.name)'")
        // A session that has become read-only, as on a server that was demoted: only this one.
        let enemy = try await schema.connect()
        try await enemy.sql(
            """
            CREATE FUNCTION demoted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF pg_backend_pid() = \(before ?? "0") THEN
                    RAISE EXCEPTION 'cannot execute INSERT in a read-only transaction' USING ERRCODE = '25006';
                END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER demoted BEFORE INSERT ON lane FOR EACH ROW EXECUTE FUNCTION demoted();
            """)
        #expect(await store.landed { $0.lanes = [sampleLane("d2")] } == nothing)
        let after = try await schema.sql("SELECT pid FROM pg_stat_activity WHERE application_name = '\(schema.name)'")
        #expect(before != after)
        await store.close()
    }

    @Test func `one batch that cannot be written fails alone, those that shared its transaction land`() async throws {
        let schema = try await TestSchema()
        let store = try await schema.open { $0.connections = 1 }
        _ = try await schema.sql("ALTER TABLE lane ADD CHECK (device <> 'd2')")
        let outcomes = await withTaskGroup(of: (Int, CommitOutcome).self) { group in
            for number in 0..<6 {
                group.addTask { (number, await store.landed { $0.lanes = [sampleLane("d\(number)")] }) }
            }
            return await group.reduce(into: [Int: CommitOutcome]()) { $0[$1.0] = $1.1 }
        }
        for (number, outcome) in outcomes where number != 2 { #expect(outcome == nothing, "\(number)") }
        guard case .failed(.unavailable(let detail))? = outcomes[2] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(detail.contains("23514"))
        #expect(try await store.allLanes().count == 5)
        await store.close()
    }

    @Test func `L1: a commit is durable whatever the database's own setting is`() async throws {
        let schema = try await TestSchema()
        let store = try await schema.open { $0.session.parameters["synchronous_commit"] = "off" }
        // Seen by a trigger inside the commit.
        _ = try await schema.sql(
            """
            CREATE TABLE seen (setting text);
            CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO seen VALUES (current_setting('synchronous_commit'));
                RETURN NEW;
            END $$;
            CREATE TRIGGER look BEFORE INSERT ON lane FOR EACH ROW EXECUTE FUNCTION look();
            """)
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == nothing)
        #expect(try await schema.sql("SELECT string_agg(setting, ',') FROM seen") == "on")
        await store.close()
    }

    @Test func `a store that is closed while the database is away ends`() async throws {
        let schema = try await TestSchema()
        let line = try CutLine(to: schema.cluster.port)
        let store = try await schema.open(port: line.port) { $0.connections = 1 }
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == nothing)
        line.refuse(true)
        line.cutNext(.message)
        async let outcome = store.landed { $0.lanes = [sampleLane("d1", generation: 2)] }
        while store.trouble == nil {
            await Task.yield()
            if line.cuts > 0 { break }
        }
        await store.close()
        line.close()
        guard case .failed(.unavailable) = await outcome else {
            Issue.record("not failed")
            return
        }
    }

    @Test func `nobody there, no such database: said at the opening`() async throws {
        let nobody = try PostgresAddress("postgres://127.0.0.1:1/x")
        let error = await #expect(throws: StoreError.self) {
            try await PostgresStore.open(nobody, random: SeededSource(seed: 1))
        }
        guard case .unavailable(let detail)? = error else { return }
        #expect(detail.contains("refused"))
    }
}
