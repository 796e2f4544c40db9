import CardRules
import Lanes
import Postgres
import Testing

@testable import LaneStore

@Suite struct MigrationTests {
    @Test func `an older schema is refused, with what to do, unless it is to be migrated`() async throws {
        let schema = try await TestSchema()
        let error = await #expect(throws: StoreError.self) { try await schema.open(migrate: false) }
        guard case .unavailable(let detail)? = error else { return }
        #expect(
            detail.contains("version 0, this program needs \(PostgresSchema.steps.count): run `lanekeeper migrate`"))
        #expect(try await schema.sql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema.name)'") == "0")
        #expect(try await PostgresStore.migrate(schema.address, schema: schema.name) == 0)
        await (try await schema.open(migrate: false)).close()
    }

    @Test func `a newer schema is refused and left alone`() async throws {
        let schema = try await TestSchema()
        try await PostgresStore.migrate(schema.address, schema: schema.name)
        _ = try await schema.sql("INSERT INTO store_version VALUES (99)")
        let newer = StoreError.newerSchema(found: 99, known: PostgresSchema.steps.count)
        await #expect(throws: newer) { try await PostgresStore.migrate(schema.address, schema: schema.name) }
        await #expect(throws: newer) { try await schema.open(migrate: true) }
        await #expect(throws: newer) { try await schema.open(migrate: false) }
    }

    @Test func `migrated twice, and by many at once, it is migrated once`() async throws {
        let schema = try await TestSchema()
        let found = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 {
                group.addTask { try await PostgresStore.migrate(schema.address, schema: schema.name) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found.sorted() == [0] + Array(repeating: PostgresSchema.steps.count, count: 5))
        #expect(try await schema.sql("SELECT count(*) FROM store_version") == "\(PostgresSchema.steps.count)")
        #expect(try await schema.sql("SELECT count(*) FROM lease") == "\(partitionCount)")
    }

    @Test(arguments: PostgresSchema.steps.indices)
    func `an upgrade from every earlier version leads to the same tables`(version: Int) async throws {
        let (old, fresh) = (try await TestSchema(), try await TestSchema())
        let connection = try await old.connect()
        try await connection.perform { (session) throws(PostgresError) in
            _ = try PostgresSchema.migrate(&session, schema: old.name, upTo: version)
        }
        #expect(try await PostgresStore.migrate(old.address, schema: old.name) == version)
        try await PostgresStore.migrate(fresh.address, schema: fresh.name)
        func shape(_ schema: TestSchema) async throws -> String? {
            try await schema.sql(
                """
                SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
                    SELECT concat_ws(' ', table_name, column_name, data_type, collation_name, is_nullable,
                        replace(column_default, '\(schema.name)', '')) line
                    FROM information_schema.columns WHERE table_schema = '\(schema.name)'
                    UNION ALL SELECT replace(indexdef, '\(schema.name)', '') FROM pg_indexes
                    WHERE schemaname = '\(schema.name)') lines
                """)
        }
        #expect(try await shape(old) == shape(fresh))
        let store = try await old.open(migrate: false)
        #expect(await store.landed { $0.lanes = [sampleLane("d1")] } == .landed(refused: RefusedRows()))
        await store.close()
    }

    @Test func `no index stands on a column that an update of a lane changes`() async throws {
        let schema = try await TestSchema()
        let store = try await schema.open()
        let lanes = (0..<2000).map { sampleLane("d\($0)") }
        for generation in 1...3 {
            let batch = lanes.map { StoredLane(record: $0.record, generation: Generation(UInt32(generation))) }
            #expect(await store.landed { $0.lanes = batch } == .landed(refused: RefusedRows()))
        }
        await store.close()  // sessions tell the statistics when they end
        let connection = try await schema.connect()
        try await connection.wait(
            until:
                "(SELECT n_tup_upd FROM pg_stat_user_tables WHERE schemaname = '\(schema.name)' AND relname = 'lane') >= 4000"
        )
        let hot = try await connection.sql(
            "SELECT n_tup_hot_upd * 100 / n_tup_upd >= 30 FROM pg_stat_user_tables WHERE schemaname = '\(schema.name)' AND relname = 'lane'"
        )
        #expect(hot == "t")
    }

    @Test func `lanes stand in the order of their bytes, whatever the database's own collation is`() async throws {
        let schema = try await TestSchema()
        try await PostgresStore.migrate(schema.address, schema: schema.name)
        let columns = try await schema.sql(
            """
            SELECT string_agg(DISTINCT table_name || ' ' || coalesce(collation_name, 'default'), ', ')
            FROM information_schema.columns WHERE table_schema = '\(schema.name)' AND column_name IN ('device', 'id')
            AND data_type = 'text'
            """)
        #expect(columns == "claim C, inbox C, lane C, owner C, session C, timeline C")
    }
}
