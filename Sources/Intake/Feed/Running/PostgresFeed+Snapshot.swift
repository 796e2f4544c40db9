internal import CardRules
internal import Lanes
internal import Postgres

extension PostgresFeed {
    static let snapshotRows = 500

    /// Hands on what the table holds at one point of the log, and leaves a slot that begins at that point.
    ///
    /// The slot comes last: a temporary one marks the point while the rows are read, goes away by itself when anything
    /// fails, and is copied when all is durable. So a slot means that its snapshot is complete.
    func takeSnapshot(_ connection: PostgresConnection, _ progress: inout Progress) async throws(FeedStop) {
        notice(.snapshotBegins)
        progress.machine.begin()
        let temporary = String(settings.slot.prefix(58)) + "_init"
        try await run(connection, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try await run(
            connection,
            "CREATE_REPLICATION_SLOT \(PostgresText.identifier(temporary)) TEMPORARY LOGICAL pgoutput USE_SNAPSHOT")
        let columns = progress.machine.columns.map { PostgresText.identifier($0) }
        let table = "\(PostgresText.identifier(settings.schema)).\(PostgresText.identifier(settings.table))"
        try await run(
            connection,
            "DECLARE feed NO SCROLL CURSOR FOR SELECT \((["now()"] + columns).joined(separator: ", ")) FROM \(table)")
        var rows = 0
        while true {
            guard let portion = try await run(connection, "FETCH \(PostgresFeed.snapshotRows) FROM feed").last else {
                break
            }
            rows += portion.rows
            try await handOn(portion, &progress)
            if portion.rows < PostgresFeed.snapshotRows || Task.isCancelled { break }
        }
        if Task.isCancelled { throw .trouble(.database(.closed)) }
        try await run(connection, "COMMIT")
        try await run(
            connection,
            "SELECT pg_copy_logical_replication_slot(\(PostgresText.literal(temporary)), "
                + "\(PostgresText.literal(settings.slot)), false)")
        try await run(connection, "DROP_REPLICATION_SLOT \(PostgresText.identifier(temporary))")
        notice(.snapshotDone(rows: rows))
    }

    private func handOn(_ portion: PostgresResult, _ progress: inout Progress) async throws(FeedStop) {
        for row in 0..<portion.rows {
            let time = portion.text(row, 0).flatMap { ServerTimestamp.read($0) } ?? clock.now
            let values = (1..<max(1, portion.columns)).map { column in
                portion.text(row, column).map { ColumnValue.text($0) } ?? .null
            }
            progress.machine.take(row: values, at: time)
        }
        for notice in progress.machine.takeNotices() { self.notice(notice) }
        // The server has no clock on a transaction that waits here.
        try await keep(progress.machine.takeTick()) {}
    }

    @discardableResult
    private func run(_ connection: PostgresConnection, _ sql: String) async throws(FeedStop) -> [PostgresResult] {
        try await FeedStop.database { () async throws(PostgresError) in
            try await connection.perform { (session) throws(PostgresError) in try session.query(sql) }
        }
    }
}
