internal import Postgres

/// Looks at the server before the stream begins, so that what is missing is named, with what to do about it. On an ordinary
/// connection: a replication one takes no parameters, and its refusals carry no code.
struct FeedPreflight: Hashable, Sendable {
    var walLevel: String
    var user: String
    var mayReplicate: Bool
    var isTableThere: Bool
    /// In the table's order.
    var columns: [Column]
    var isPublicationThere: Bool
    var isTablePublished: Bool
    /// `nil`: there is none.
    var slot: Slot?

    struct Column: Hashable, Sendable {
        var name: String
        var mayRead: Bool
    }

    struct Slot: Hashable, Sendable {
        var plugin: String
        var database: String
        var isOfThisDatabase: Bool
        var isLost: Bool
    }

    /// What stands in the way; `nil` when nothing does.
    /// - Parameter expectsSlot: the feed was using it a moment ago.
    func fault(_ settings: FeedSettings, expectsSlot: Bool) -> FeedFault? {
        let table = "\(settings.schema).\(settings.table)"
        guard walLevel == "logical" else { return .walLevel(walLevel) }
        guard mayReplicate else { return .mayNotReplicate(user: user) }
        guard isTableThere else { return .tableMissing(table: table) }
        for column in settings.columns where !columns.contains(where: { $0.name == column }) {
            return .columnMissing(column: column, table: table, columns: columns.map(\.name))
        }
        guard isPublicationThere else { return .publicationMissing(publication: settings.publication, table: table) }
        guard isTablePublished else { return .tableNotPublished(publication: settings.publication, table: table) }
        guard let slot else {
            if expectsSlot { return .slotMissing(slot: settings.slot) }
            // Only the first beginning reads the table itself.
            let unreadable = columns.filter { settings.columns.contains($0.name) && !$0.mayRead }.map(\.name)
            return unreadable.isEmpty ? nil : .mayNotRead(table: table, columns: unreadable, user: user)
        }
        guard slot.plugin == "pgoutput", slot.isOfThisDatabase else {
            return .slotForeign(slot: settings.slot, plugin: slot.plugin, database: slot.database)
        }
        return slot.isLost ? .slotInvalidated(slot: settings.slot) : nil
    }
}

extension FeedPreflight {
    /// Asks the server.
    static func look(_ settings: FeedSettings, _ connection: PostgresConnection) async throws(PostgresError)
        -> FeedPreflight
    {
        var names = PostgresParameters()
        names.text(settings.schema)
        names.text(settings.table)
        var all = names
        all.text(settings.publication)
        all.text(settings.slot)
        let calls = [PostgresCall(question, all), PostgresCall(columnsQuestion, names)]
        let results = try await connection.perform { (session) throws(PostgresError) in try session.pipeline(calls) }
        guard results.count == 2, results[0].rows == 1 else { throw .unexpected("no answer about the feed's table") }
        let facts = results[0]
        func flag(_ column: Int) throws(PostgresError) -> Bool { try facts.bool(0, column) ?? false }
        var slot: Slot?
        if try flag(10) {
            slot = Slot(
                plugin: facts.text(0, 6) ?? "", database: facts.text(0, 7) ?? "", isOfThisDatabase: try flag(8),
                isLost: try flag(9))
        }
        var columns: [Column] = []
        for row in 0..<results[1].rows {
            columns.append(Column(name: results[1].text(row, 0) ?? "", mayRead: try results[1].bool(row, 1) ?? false))
        }
        return FeedPreflight(
            walLevel: facts.text(0, 0) ?? "", user: facts.text(0, 1) ?? "", mayReplicate: try flag(2),
            isTableThere: try flag(3), columns: columns, isPublicationThere: try flag(4),
            isTablePublished: try flag(5), slot: slot)
    }

    private static let question = PostgresStatement(
        "feed_facts",
        """
        SELECT current_setting('wal_level'), current_user::text,
          (SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user),
          EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')),
          EXISTS (SELECT FROM pg_publication WHERE pubname = $3),
          EXISTS (SELECT FROM pg_publication_tables WHERE pubname = $3 AND schemaname = $1 AND tablename = $2),
          s.plugin::text, s.database::text, s.database = current_database(), s.wal_status = 'lost',
          s.slot_name IS NOT NULL
        FROM (SELECT) one LEFT JOIN pg_replication_slots s ON s.slot_name = $4
        """, [.text, .text, .text, .text])

    private static let columnsQuestion = PostgresStatement(
        "feed_columns",
        """
        SELECT a.attname::text, has_column_privilege(c.oid, a.attnum, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE')
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
        """, [.text, .text])
}
