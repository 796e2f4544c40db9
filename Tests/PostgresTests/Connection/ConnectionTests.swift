import Postgres
import PrivatePostgres
import Testing

@Suite struct ConnectionTests {
    @Test func `a session begins with its limits, in UTF-8, under its name`() async throws {
        var settings = PostgresSettings()
        settings.parameters = ["timezone": "UTC"]
        let connection = try await TestDatabase().open(settings)
        let row = try await connection.sql(
            """
            SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
              current_setting('idle_in_transaction_session_timeout'), current_setting('client_encoding'),
              current_setting('application_name'), current_setting('timezone'), pg_backend_pid()
            """
        ).last
        let texts = (0..<6).map { row?.text(0, $0) }
        #expect(texts == ["5s", "2s", "5s", "UTF8", "lanekeeper", "UTC"])
        #expect(try row?.integer(0, 6) == Int64(connection.backendPID))
        #expect(connection.serverVersion >= 150_000)
    }

    @Test func `values go there and back in binary`() async throws {
        let connection = try await TestDatabase().open()
        let statement = PostgresStatement(
            "all", "SELECT $1, $2, $3, $4, $5, $6, $7", [.int2, .int4, .int8, .text, .bytea, .bool, .text])
        let result = try await connection.run(statement) { parameters in
            parameters.int16(-7)
            parameters.int32(.min)
            parameters.int64(.max)
            parameters.text("São Paulo 🏒")
            parameters.bytea([0, 255, 39, 92])
            parameters.bool(true)
            parameters.null()
        }
        #expect(try result.integer(0, 0) == -7)
        #expect(try result.integer(0, 1) == Int64(Int32.min))
        #expect(try result.integer(0, 2) == .max)
        #expect(result.text(0, 3) == "São Paulo 🏒")
        #expect(result.bytes(0, 4) == [0, 255, 39, 92])
        #expect(try result.bool(0, 5) == true)
        #expect(result.isNull(0, 6))
        #expect(result.text(0, 6) == nil)
        #expect(result.text(1, 0) == nil, "a row that is not there")
        #expect(throws: PostgresError.self) { try result.integer(0, 3) }
    }

    @Test func `arrays are unnested, with NULL and empty ones`() async throws {
        let connection = try await TestDatabase().open()
        try await connection.sql("CREATE TABLE lane (device text PRIMARY KEY, due int8, body bytea)")
        let insert = PostgresStatement(
            "insert", "INSERT INTO lane SELECT * FROM unnest($1, $2, $3)", [.textArray, .int8Array, .byteaArray])
        let names = (0..<1000).map { "d\($0)" }
        let written = try await connection.run(insert) { parameters in
            parameters.array(of: .text, names) { $1.text($0) }
            parameters.array(of: .int8, 0..<1000) { if $0 % 3 != 0 { $1.int64(Int64($0)) } }
            parameters.array(of: .bytea, 0..<1000) { $1.bytea([UInt8]($0.description.utf8)) }
        }
        #expect(written.affected == 1000)
        let sums = try await connection.sql(
            "SELECT count(*), count(due), sum(due), sum(length(body)), max(encode(body, 'escape')) FROM lane"
        ).last
        #expect((0..<5).map { sums?.text(0, $0) } == ["1000", "666", "332667", "2890", "999"])
        let none = try await connection.run(insert) { parameters in
            for type in [PostgresType.text, .int8, .bytea] { parameters.array(of: type, [Int]()) { _, _ in } }
        }
        #expect(none.affected == 0)
    }

    @Test func `a pipeline is one transaction: an error in it leaves nothing behind, and the connection goes on`()
        async throws
    {
        let connection = try await TestDatabase().open()
        try await connection.sql("CREATE TABLE t (n int8 PRIMARY KEY)")
        let insert = PostgresStatement("insert", "INSERT INTO t VALUES ($1)", [.int8])
        func write(_ numbers: [Int64]) async throws(PostgresError) -> Int {
            try await connection.perform { (session) throws(PostgresError) in
                try session.pipeline(
                    numbers.map { number in
                        var parameters = PostgresParameters()
                        parameters.int64(number)
                        return PostgresCall(insert, parameters)
                    }
                ).count
            }
        }
        #expect(try await write([1, 2, 3]) == 3)
        let error = await #expect(throws: PostgresError.self) { _ = try await write([4, 2, 5]) }
        guard case .server(let report)? = error else { throw error ?? .closed }
        #expect(report.sqlState == "23505")
        #expect(report.table == "t" && report.constraint == "t_pkey")
        #expect(try await connection.sqlText("SELECT string_agg(n::text, ',' ORDER BY n) FROM t") == "1,2,3")
        #expect(try await write([4]) == 1)
    }

    @Test func `an error of the commit itself is the pipeline's error`() async throws {
        let connection = try await TestDatabase().open()
        try await connection.sql(
            "CREATE TABLE a (n int8 PRIMARY KEY); CREATE TABLE b (n int8 REFERENCES a DEFERRABLE INITIALLY DEFERRED)")
        let insert = PostgresStatement("b", "INSERT INTO b VALUES (1)")
        let error = await #expect(throws: PostgresError.self) { _ = try await connection.run(insert) }
        guard case .server(let report)? = error else { throw error ?? .closed }
        #expect(report.sqlState == "23503")
        #expect(try await connection.sqlText("SELECT count(*) FROM b") == "0")
    }

    @Test func `a fence that raises has its own next step`() async throws {
        let connection = try await TestDatabase().open()
        let fence = PostgresStatement("fence", "SELECT fence()")
        try await connection.sql(
            """
            CREATE FUNCTION fence() RETURNS void LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'fenced' USING ERRCODE = 'LK001'; END $$
            """)
        let error = await #expect(throws: PostgresError.self) { _ = try await connection.run(fence) }
        #expect(error?.nextStep == .fenced)
        #expect(error?.outcome == .notDone)
    }

    @Test func `more than both sides' buffers goes through a pipeline both ways`() async throws {
        let connection = try await TestDatabase().open()
        let echo = PostgresStatement("echo", "SELECT $1", [.bytea])
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        let counts = try await connection.perform { (session) throws(PostgresError) in
            var parameters = PostgresParameters()
            parameters.bytea(bytes)
            let results = try session.pipeline(Array(repeating: PostgresCall(echo, parameters), count: 24))
            return results.map { $0.withBytes(0, 0) { $0?.count ?? 0 } }
        }
        #expect(counts == Array(repeating: 1 << 20, count: 24))
    }

    @Test func `plain SQL of several statements stops at the first error`() async throws {
        let connection = try await TestDatabase().open()
        await #expect(throws: PostgresError.self) {
            try await connection.sql("CREATE TABLE t (); SELECT 1/0; SELECT 2")
        }
        #expect(try await connection.sqlText("SELECT to_regclass('t') IS NULL") == "t")
    }

    @Test func `a copy out comes in chunks and ends`() async throws {
        let connection = try await TestDatabase().open()
        let rows = try await connection.perform { (session) throws(PostgresError) in
            _ = try session.query("COPY (SELECT repeat('x', 100) FROM generate_series(1, 5000)) TO STDOUT")
            var chunks = 0
            var rows = 0
            while session.isCopying {
                let chunk = try session.readCopy(maximumBytes: 50_000, waitMilliseconds: 5000)
                chunks += 1
                rows += chunk.ranges.count
                if chunk.bytes.count > 50_101 { throw .unexpected("\(chunk.bytes.count) bytes") }
            }
            if chunks < 10 { throw .unexpected("\(chunks) chunks") }
            return rows
        }
        #expect(rows == 5000)
        #expect(try await connection.sqlText("SELECT 1") == "1")
    }

    @Test func `an error in the middle of a copy is told, and the connection goes on`() async throws {
        let connection = try await TestDatabase().open()
        let error = await #expect(throws: PostgresError.self) {
            _ = try await connection.perform { (session) throws(PostgresError) in
                _ = try session.query("COPY (SELECT 1/(5000 - n) FROM generate_series(1, 6000) n) TO STDOUT")
                while session.isCopying { _ = try session.readCopy(maximumBytes: 1 << 20, waitMilliseconds: 5000) }
            }
        }
        guard case .server(let report)? = error else { throw error ?? .closed }
        #expect(report.sqlState == "22012")
        #expect(try await connection.sqlText("SELECT 1") == "1")
    }

    @Test func `notices go to their receiver, not to standard error`() async throws {
        let heard = Mailbox<PostgresServerError>()
        var settings = PostgresSettings()
        settings.notice = { heard.put($0) }
        let connection = try await TestDatabase().open(settings)
        try await connection.sql("DO $$ BEGIN RAISE WARNING 'careful' USING HINT = 'slowly'; END $$")
        let notice = await heard.next()
        #expect(notice?.message == "careful")
        #expect(notice?.hint == "slowly")
    }

    @Test func `what NOTIFY tells reaches an idle connection, in order`() async throws {
        let heard = Mailbox<[PostgresNotification]>()
        let database = try await TestDatabase()
        let listener = try await database.open(notified: { heard.put($0) })
        try await listener.perform { (session) throws(PostgresError) in try session.listen(to: "Slate") }
        let speaker = try await database.open()
        for number in 1...5 { try await speaker.sql("SELECT pg_notify('Slate', '\(number)')") }
        var payloads: [String] = []
        while payloads.count < 5, let some = await heard.next() {
            payloads += some.map(\.payload)
            #expect(some.allSatisfy { $0.channel == "Slate" && $0.backendPID == speaker.backendPID })
        }
        #expect(payloads == ["1", "2", "3", "4", "5"])
    }
}
