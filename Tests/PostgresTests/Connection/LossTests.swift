import Postgres
import PrivatePostgres
import Testing

@Suite struct LossTests {
    @Test func `a session that is terminated while idle ends its connection, which then refuses with the reason`()
        async throws
    {
        let database = try await TestDatabase()
        let connection = try await database.open()
        let other = try await database.open()
        try await other.sql("SELECT pg_terminate_backend(\(connection.backendPID))")
        await connection.closed()
        let error = await #expect(throws: PostgresError.self) { try await connection.sql("SELECT 1") }
        #expect(error?.nextStep == .reconnect)
        #expect(error?.endsConnection == true)
        #expect(connection.end == error)
    }

    @Test func `a session that is terminated in a statement leaves its outcome open`() async throws {
        let database = try await TestDatabase()
        let connection = try await database.open()
        let other = try await database.open()
        let sleeping = Task { try await connection.sql("SELECT pg_sleep(4)") }
        try await other.waitUntilActive(connection.backendPID)
        try await other.sql("SELECT pg_terminate_backend(\(connection.backendPID))")
        let error = await #expect(throws: PostgresError.self) { _ = try await sleeping.value }
        #expect(error?.outcome == .unknown)
        #expect(error?.nextStep == .reconnect)
        await connection.closed()
    }

    @Test func `a statement is cancelled from another thread, and the connection goes on`() async throws {
        let database = try await TestDatabase()
        let connection = try await database.open()
        let other = try await database.open()
        let sleeping = Task { try await connection.sql("SELECT pg_sleep(4)") }
        try await other.waitUntilActive(connection.backendPID)
        connection.cancel()
        let error = await #expect(throws: PostgresError.self) { _ = try await sleeping.value }
        guard case .server(let report)? = error else { throw error ?? .closed }
        #expect(report.sqlState == "57014")
        #expect(try await connection.sqlText("SELECT 1") == "1")
    }

    @Test func `closing ends a statement's wait, the job behind it, and the thread`() async throws {
        let database = try await TestDatabase()
        let connection = try await database.open()
        let other = try await database.open()
        let sleeping = Task { try await connection.sql("SELECT pg_sleep(4)") }
        try await other.waitUntilActive(connection.backendPID)
        connection.close()
        await connection.closed()
        await #expect(throws: PostgresError.closed) { _ = try await sleeping.value }
        await #expect(throws: PostgresError.closed) { try await connection.sql("SELECT 1") }
    }

    @Test func `silence while an answer is due ends the connection`() async throws {
        var settings = PostgresSettings()
        settings.silenceMilliseconds = 100
        let connection = try await TestDatabase().open(settings)
        await #expect(throws: PostgresError.silent(milliseconds: 100)) {
            try await connection.sql("SELECT pg_sleep(4)")
        }
        await connection.closed()
    }

    @Test func `a nudge ends a wait that may end empty-handed`() async throws {
        let connection = try await TestDatabase().open()
        async let waiting = connection.perform { (session) throws(PostgresError) in
            try session.waitForNotifications(timeoutMilliseconds: nil)
        }
        connection.nudge()
        #expect(try await waiting.isEmpty)
    }

    @Test func `the server's limits are those that were set`() async throws {
        var settings = PostgresSettings()
        settings.statementMilliseconds = 50
        let connection = try await TestDatabase().open(settings)
        let error = await #expect(throws: PostgresError.self) { try await connection.sql("SELECT pg_sleep(4)") }
        #expect(error?.nextStep == .repeatLater)
    }

    @Test func `a write in a read-only session says to connect anew (known fault 15)`() async throws {
        var settings = PostgresSettings()
        settings.parameters = ["default_transaction_read_only": "on"]
        let connection = try await TestDatabase().open(settings)
        let error = await #expect(throws: PostgresError.self) { try await connection.sql("CREATE TABLE t ()") }
        guard case .server(let report)? = error else { throw error ?? .closed }
        #expect(report.sqlState == "25006")
        #expect(error?.nextStep == .reconnect)
        #expect(error?.outcome == .notDone)
    }

    @Test func `nobody there is unreachable, and says so`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            _ = try await PostgresConnection.open(PostgresAddress("postgres://127.0.0.1:1/x"))
        }
        guard case .unreachable(let text)? = error else { throw error ?? .closed }
        #expect(text.contains("refused") && !text.contains { $0.isNewline || $0 == "\t" }, "one line: \(text)")
    }

    @Test(arguments: ["fast", "immediate"])
    func `a server that stops ends the connection, and takes another when it is back`(mode: String) async throws {
        let cluster = try await PrivateCluster.start()
        let database = try await TestDatabase(in: cluster)
        let connection = try await database.open()
        try await cluster.stop(mode)
        await connection.closed()
        let error = await #expect(throws: PostgresError.self) { try await connection.sql("SELECT 1") }
        #expect(error?.nextStep == .reconnect)
        await #expect(throws: PostgresError.self) { _ = try await database.open() }
        try await cluster.begin()
        let next = try await database.open()
        #expect(try await next.sqlText("SELECT 1") == "1")
    }
}

extension PostgresConnection {
    /// Until a backend runs a statement: asked by the server itself, so that nothing here sleeps.
    func waitUntilActive(_ pid: Int32) async throws {
        try await sql(
            """
            DO $$ BEGIN
              WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = \(pid) AND wait_event = 'PgSleep') LOOP
                PERFORM pg_sleep(0.002);
                PERFORM pg_stat_clear_snapshot();
              END LOOP;
            END $$
            """)
    }
}
