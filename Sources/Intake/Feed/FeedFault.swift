public import Postgres

/// Why the feed ended: something that time does not mend. Each says what to do.
public enum FeedFault: Error, Hashable, Sendable {
    case walLevel(String)
    case mayNotReplicate(user: String)
    /// `columns` of the table.
    case mayNotRead(table: String, columns: [String], user: String)
    case tableMissing(table: String)
    /// It was renamed under the feed's eyes.
    case tableRenamed(table: String, to: String)
    /// The configuration names a column that the table, or what the publication shows of it, does not have.
    case columnMissing(column: String, table: String, columns: [String])
    case publicationMissing(publication: String, table: String)
    case tableNotPublished(publication: String, table: String)
    /// It is there now, and was not when changes were made that are still to be read.
    case publicationWasMissing(publication: String, slot: String)
    /// Dropped while the feed was using it.
    case slotMissing(slot: String)
    /// The server gave it up: it had to keep more than `max_slot_wal_keep_size` allows.
    case slotInvalidated(slot: String)
    /// It belongs to another database or another plugin.
    case slotForeign(slot: String, plugin: String, database: String)
    case damaged(WireFault)
    case refused(PostgresServerError)
}

extension FeedFault: CustomStringConvertible {
    /// What is wrong, and the SQL or the setting that mends it.
    public var description: String {
        switch self {
        case .walLevel(let level):
            "wal_level is \(level) on the database server: set wal_level = logical in postgresql.conf and restart it"
        case .mayNotReplicate(let user):
            "the role \(user) may not replicate: ALTER ROLE \(PostgresText.identifier(user)) REPLICATION"
        case .mayNotRead(let table, let columns, let user):
            "the role \(user) may not read \(columns.joined(separator: ", ")) of \(table): GRANT SELECT ON \(table) TO \(PostgresText.identifier(user)), and USAGE on its schema"
        case .tableMissing(let table): "there is no table \(table) (feed.postgres.table)"
        case .tableRenamed(let table, let new): "the table \(table) is now \(new): change feed.postgres.table"
        case .columnMissing(let column, let table, let columns):
            "\(table) has no column \(column), or the publication leaves it out: change feed.postgres.columns. There are: \(columns.joined(separator: ", "))"
        case .publicationMissing(let publication, let table):
            "there is no publication \(publication): CREATE PUBLICATION \(PostgresText.identifier(publication)) FOR TABLE \(table)"
        case .tableNotPublished(let publication, let table):
            "the publication \(publication) does not hold \(table): ALTER PUBLICATION \(PostgresText.identifier(publication)) ADD TABLE \(table)"
        case .publicationWasMissing(let publication, let slot):
            "the publication \(publication) was missing while changes were made, which cannot be read any more: SELECT pg_drop_replication_slot(\(PostgresText.literal(slot))), and start again: the feed begins with what the table holds then"
        case .slotMissing(let slot):
            "the replication slot \(slot) was dropped while the feed was using it, and changes may be lost: start again, and the feed makes it anew and begins with what the table holds then"
        case .slotInvalidated(let slot):
            "the server has given up the replication slot \(slot), for it had to keep too much (max_slot_wal_keep_size): SELECT pg_drop_replication_slot(\(PostgresText.literal(slot))), and start again: the feed begins with what the table holds then"
        case .slotForeign(let slot, let plugin, let database):
            "the replication slot \(slot) belongs to somebody else (plugin \(plugin), database \(database)): choose another name in feed.postgres.slot"
        case .damaged(let fault): "the server's stream cannot be read: \(fault)"
        case .refused(let error): "the database refuses: \(error)"
        }
    }
}

/// Why the feed is not running just now. It tries again by itself.
public enum FeedTrouble: Hashable, Sendable {
    case database(PostgresError)
    /// Another feed uses the slot: this one waits for it to go, and takes over.
    case slotInUse(slot: String)
    /// What was handed on could not be kept; it will be read and handed on once more.
    case notKept(String)
}

/// What an operator may want to know.
public enum FeedNotice: Hashable, Sendable {
    /// The table is read as a whole: there was no slot yet.
    case snapshotBegins
    case snapshotDone(rows: Int)
    case streaming
    case waiting(FeedTrouble, seconds: Double)
    /// A row that cannot be used. Others are not held up by it.
    case rowRejected(game: String?, column: String, detail: String)
    /// A row was deleted, and the game's column is not part of the replica identity:
    /// `ALTER TABLE ... REPLICA IDENTITY FULL` or a unique index on it.
    case deleteWithoutGame
    /// The table was emptied. Only games that the feed knows of since it began can be taken off the slate.
    case truncated
}
