import CardRules
import LaneStore
import Lanes
import Postgres
import PrivatePostgres
import Simulation
import Synchronization
import Testing

/// A schema of one test in the private cluster.
struct TestSchema: Sendable {
    let cluster: PrivateCluster
    let name: String
    let address: PostgresAddress

    init(in cluster: PrivateCluster? = nil) async throws {
        if let cluster { self.cluster = cluster } else { self.cluster = try await PrivateCluster.shared() }
        name = self.cluster.freshName("store")
        address = try PostgresAddress(self.cluster.url())
    }

    var settings: PostgresStore.Settings {
        var settings = PostgresStore.Settings()
        settings.schema = name
        settings.session.parameters["application_name"] = name
        return settings
    }

    /// For `PostgresConnection.wait`: a session of this store waits for somebody's lock.
    func isBlocked(_ application: String? = nil) -> String {
        "EXISTS (SELECT FROM pg_stat_activity WHERE application_name = '\(application ?? name)' AND wait_event_type = 'Lock')"
    }

    /// - Parameter port: of something that stands between.
    func open(
        _ ownership: PostgresStore.Ownership = .everything, migrate: Bool = true, port: Int? = nil,
        change: (inout PostgresStore.Settings) -> Void = { _ in }
    ) async throws -> PostgresStore {
        var settings = settings
        change(&settings)
        let through = port.map { address.setting("port", "\($0)").setting("host", "127.0.0.1") } ?? address
        return try await PostgresStore.open(
            through, settings: settings, ownership: ownership, migrate: migrate, random: SeededSource(seed: 1))
    }

    /// Somebody else at the same tables.
    func connect() async throws -> PostgresConnection {
        var settings = PostgresSettings()
        settings.parameters["search_path"] = name
        settings.statementMilliseconds = 20_000
        settings.idleInTransactionMilliseconds = 0
        return try await PostgresConnection.open(address, settings: settings)
    }

    func sql(_ text: String) async throws -> String? {
        let connection = try await connect()
        defer { connection.close() }
        return try await connection.sql(text)
    }
}

extension PostgresConnection {
    @discardableResult
    func sql(_ text: String) async throws(PostgresError) -> String? {
        try await perform { (session) throws(PostgresError) in try session.query(text).last?.text(0, 0) }
    }

    /// Until the server says yes: asked by itself, so that nothing here sleeps. Fails after the statement's time.
    func wait(until condition: String) async throws {
        try await sql(
            """
            DO $$ BEGIN
              WHILE NOT (\(condition)) LOOP
                PERFORM pg_sleep(0.002);
                PERFORM pg_stat_clear_snapshot();
              END LOOP;
            END $$
            """)
    }
}

/// A store under test, which can be closed and opened again on what it has kept.
struct StoreBench {
    enum Kind: String, CaseIterable, Sendable { case memory, sqlite, postgres }

    let kind: Kind
    private let folder: TemporaryFolder
    private let schema: TestSchema?
    private let memory = MemoryStore()

    init(_ kind: Kind) async throws {
        self.kind = kind
        folder = try TemporaryFolder()
        schema = kind == .postgres ? try await TestSchema() : nil
    }

    func open() async throws -> any Store {
        switch (kind, schema) {
        case (.postgres, let schema?): try await schema.open()
        case (.sqlite, _): try SQLiteStore.open(path: folder.store)
        case (.memory, _), (.postgres, nil): memory
        }
    }

    /// Closed in order, and opened by the next program.
    func reopen(_ store: any Store) async throws -> any Store {
        await close(store)
        return try await open()
    }

    func close(_ store: any Store) async {
        if let store = store as? SQLiteStore { await store.close() }
        if let store = store as? PostgresStore { await store.close() }
    }

    /// Damages a row from outside.
    /// - Parameter sql: understood by both databases.
    func meddle(_ sql: String) async throws {
        if let schema { _ = try await schema.sql(sql) } else { try runSQLite(sql, path: folder.store) }
    }
}
