import CardRules
import Intake
import Postgres
import PrivatePostgres
import Testing

/// What needs a person ends the feed, named, with what to do.
@Suite(.timeLimit(.minutes(10))) struct PostgresFeedFaultTests {
    private func fault(of rig: FeedRig, _ tables: FeedTables = FeedTables()) async -> FeedFault? {
        await rig.addFeed(tables).value
    }

    @Test func `what is missing is named before anything is made`() async throws {
        let rig = try await FeedRig()
        var wrong = rig
        wrong.settings.table = "match"
        #expect(await fault(of: wrong) == .tableMissing(table: "\(rig.name).match"))
        wrong = rig
        wrong.settings.publication = "none"
        #expect(await fault(of: wrong) == .publicationMissing(publication: "none", table: rig.table))
        wrong = rig
        wrong.settings.sources[.clock] = .column("clock_text", words: [:])
        let table = rig.table
        guard case .columnMissing("clock_text", table, let columns)? = await fault(of: wrong) else {
            throw PostgresError.closed
        }
        #expect(columns.first == "id" && columns.last == "internal")
        try await rig.admin.sql("CREATE PUBLICATION \(rig.name)_empty")
        wrong = rig
        wrong.settings.publication = "\(rig.name)_empty"
        #expect(await fault(of: wrong) == .tableNotPublished(publication: "\(rig.name)_empty", table: rig.table))
        let slots = try await rig.admin.sql(
            "SELECT count(*) FROM pg_replication_slots WHERE slot_name IN ('\(rig.name)', '\(rig.name)_init')")
        #expect(slots.last?.text(0, 0) == "0")
    }

    @Test func `a role that may not replicate or not read is told so`() async throws {
        let rig = try await FeedRig()
        let role = rig.cluster.freshName("reader")
        try await rig.admin.sql("CREATE ROLE \(role) LOGIN")
        var other = rig
        other.settings.address = try PostgresAddress(rig.cluster.url(user: role))
        #expect(await fault(of: other) == .mayNotReplicate(user: role))
        try await rig.admin.sql(
            """
            ALTER ROLE \(role) REPLICATION; GRANT USAGE ON SCHEMA \(rig.name) TO \(role);
            GRANT SELECT (id, sport, home, away) ON game TO \(role)
            """)
        let table = rig.table
        guard case .mayNotRead(table, let columns, role)? = await fault(of: other) else {
            throw PostgresError.closed
        }
        #expect(columns == ["starts_at", "home_score", "away_score", "period", "status", "detail"])
        try await rig.admin.sql("GRANT SELECT ON game TO \(role)")
        let tables = FeedTables()
        let feed = other.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        feed.cancel()
        #expect(await feed.value == nil)
    }

    @Test func `a slot dropped under the feed is told, and a new beginning mends it`() async throws {
        let rig = try await FeedRig()
        try await rig.insert("a")
        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        // As one transaction's end, so that the feed is not back before.
        try await rig.admin.sql(
            """
            DO $$ DECLARE pid int; BEGIN
              FOR attempt IN 1..100 LOOP
                SELECT active_pid INTO pid FROM pg_replication_slots WHERE slot_name = '\(rig.name)';
                PERFORM pg_terminate_backend(pid, 5000);
                BEGIN
                  PERFORM pg_drop_replication_slot('\(rig.name)');
                  RETURN;
                EXCEPTION WHEN object_in_use THEN NULL;  -- the feed was back before
                END;
              END LOOP;
            END $$
            """)
        #expect(await feed.value == .slotMissing(slot: rig.name))
        try await rig.admin.sql("UPDATE game SET home_score = 7 WHERE id = 'a'")
        let again = rig.addFeed(tables)
        await tables.wait { $0.home("a") == 7 }
        again.cancel()
        _ = await again.value
    }

    @Test func `a publication dropped under the feed is told, also when it is back`() async throws {
        let rig = try await FeedRig()
        try await rig.insert("a")
        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        try await rig.admin.sql("DROP PUBLICATION \(rig.name)")
        try await rig.admin.sql("UPDATE game SET home_score = 7 WHERE id = 'a'")
        #expect(await feed.value == .publicationMissing(publication: rig.name, table: rig.table))
        try await rig.admin.sql("CREATE PUBLICATION \(rig.name) FOR TABLE game")
        #expect(await fault(of: rig) == .publicationWasMissing(publication: rig.name, slot: rig.name))
    }

    @Test func `a column renamed under the feed is named`() async throws {
        let rig = try await FeedRig()
        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        try await rig.insert("a")
        try await rig.admin.sql("ALTER TABLE game RENAME COLUMN home_score TO goals_home")
        try await rig.admin.sql("UPDATE game SET goals_home = 3 WHERE id = 'a'")
        let table = rig.table
        guard case .columnMissing("home_score", table, let columns)? = await feed.value else {
            throw PostgresError.closed
        }
        #expect(columns.contains("goals_home"))
        #expect("\(FeedFault.columnMissing(column: "home_score", table: "t", columns: columns))".contains("goals_home"))
    }

    @Test func `somebody else's slot is left alone`() async throws {
        let rig = try await FeedRig()
        try await rig.admin.sql("SELECT pg_create_physical_replication_slot('\(rig.name)')")
        #expect(await fault(of: rig) == .slotForeign(slot: rig.name, plugin: "", database: ""))
        try await rig.admin.sql("SELECT pg_drop_replication_slot('\(rig.name)')")
    }

    @Test func `a temporary slot that an earlier life has left is waited for`() async throws {
        let rig = try await FeedRig()
        try await rig.insert("a")
        try await rig.admin.sql("SELECT pg_create_logical_replication_slot('\(rig.name)_init', 'pgoutput')")
        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        let name = rig.name
        await tables.wait { state in
            state.notices.contains { if case .waiting(.slotInUse(name), _) = $0 { true } else { false } }
        }
        try await rig.admin.sql("SELECT pg_drop_replication_slot('\(rig.name)_init')")
        await tables.wait { $0.notices.contains(.streaming) }
        feed.cancel()
        _ = await feed.value
    }

    @Test func `two feeds of one slot: the second waits, and takes over`() async throws {
        let rig = try await FeedRig()
        try await rig.insert("a")
        let (first, second) = (FeedTables(), FeedTables())
        let leading = rig.addFeed(first)
        await first.wait { $0.notices.contains(.streaming) }
        let following = rig.addFeed(second)
        let name = rig.name
        await second.wait { state in
            state.notices.contains { if case .waiting(.slotInUse(name), _) = $0 { true } else { false } }
        }
        leading.cancel()
        _ = await leading.value
        try await rig.admin.sql("UPDATE game SET home_score = 4 WHERE id = 'a'")
        await second.wait { $0.ticks.count == 1 }
        #expect(second.homeScores(of: "a") == [4])
        following.cancel()
        _ = await following.value
    }

    @Test func `a server without logical decoding is told what to set, and a restart is waited out`() async throws {
        let cluster = try await PrivateCluster.start(settings: "wal_level = replica\n")
        let rig = try await FeedRig(in: cluster)
        #expect(await fault(of: rig) == .walLevel("replica"))
        try await rig.admin.sql("ALTER SYSTEM SET wal_level = logical")
        try await cluster.restart("fast")
        let after = try await FeedRig(in: cluster)
        try await after.insert("a")
        let tables = FeedTables()
        let feed = after.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        try await after.admin.sql("UPDATE game SET home_score = 1 WHERE id = 'a'")
        await tables.wait { $0.home("a") == 1 }
        try await cluster.stop("immediate")
        await tables.wait { state in state.notices.contains { if case .waiting = $0 { true } else { false } } }
        try await cluster.begin()
        let admin = try await after.connect()
        try await admin.sql("UPDATE game SET home_score = 2 WHERE id = 'a'")
        await tables.wait { $0.home("a") == 2 }
        #expect(tables.notices.filter { $0 == .snapshotBegins }.count == 1)
        feed.cancel()
        #expect(await feed.value == nil)
    }
}
