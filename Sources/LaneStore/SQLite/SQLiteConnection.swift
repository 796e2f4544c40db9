internal import CSQLite
internal import Lanes

/// Owns one `sqlite3` handle; closed when it dies. Opened without SQLite's own locks: one thread at a time.
final class SQLiteConnection {
    private let raw: OpaquePointer
    let path: String

    /// Opens the file, and makes it where there is none.
    init(path: String) throws(StoreError) {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let text = String(cString: sqlite3_errstr(code))
            sqlite3_close_v2(handle)  // a failed open leaves a handle too
            throw .unavailable(detail: "cannot open \(path): \(text)")
        }
        self.raw = handle
        self.path = path
        sqlite3_busy_timeout(handle, 5000)  // milliseconds; only a foreign tool could hold a lock
    }

    deinit { sqlite3_close_v2(raw) }  // waits for statements that are not yet finalised

    /// One or more statements whose rows nobody wants.
    func run(_ sql: String) throws(StoreError) {
        guard sqlite3_exec(raw, sql, nil, nil, nil) == SQLITE_OK else { throw error(in: sql) }
    }

    /// Prepared once and kept as long as the connection.
    func prepare(_ sql: String) throws(StoreError) -> SQLiteStatement {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(raw, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw error(in: sql) }
        return SQLiteStatement(statement, of: self, sql: sql)
    }

    /// Rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(raw)) }

    /// Moves the write-ahead log into the file and cuts it to nothing.
    func checkpoint() throws(StoreError) {
        guard sqlite3_wal_checkpoint_v2(raw, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK else {
            throw error(in: "checkpoint")
        }
    }

    /// What SQLite says of its last failure, as an error of the store's.
    func error(in sql: String) -> StoreError {
        let text = String(cString: sqlite3_errmsg(raw))
        switch sqlite3_errcode(raw) & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .corrupt(table: "file", key: path, detail: text)
        default: return .unavailable(detail: "\(text) (\(sql.prefix(60)))")
        }
    }
}

/// Owns one `sqlite3_stmt`; finalised when it dies. Used by its connection's thread.
final class SQLiteStatement {
    private let raw: OpaquePointer
    private let connection: SQLiteConnection
    private let sql: String

    fileprivate init(_ raw: OpaquePointer, of connection: SQLiteConnection, sql: String) {
        self.raw = raw
        self.connection = connection
        self.sql = sql
    }

    deinit { sqlite3_finalize(raw) }

    enum Value {
        case integer(Int64)
        case text(String)
        case blob([UInt8])
        case null
    }

    /// Runs it to its end.
    /// - Returns: how many rows it changed.
    @discardableResult
    func run(_ values: Value...) throws(StoreError) -> Int {
        try bind(values)
        defer { sqlite3_reset(raw) }
        var code = sqlite3_step(raw)
        while code == SQLITE_ROW { code = sqlite3_step(raw) }
        guard code == SQLITE_DONE else { throw connection.error(in: sql) }
        return connection.changes
    }

    /// Gives each row to `take` until the last.
    func rows(_ values: Value..., take: (SQLiteRow) throws(StoreError) -> Void) throws(StoreError) {
        try bind(values)
        defer { sqlite3_reset(raw) }
        while true {
            switch sqlite3_step(raw) {
            case SQLITE_ROW: try take(SQLiteRow(raw))
            case SQLITE_DONE: return
            default: throw connection.error(in: sql)
            }
        }
    }

    /// Values are copied by SQLite (`SQLITE_TRANSIENT`, a cast that Swift does not import).
    private func bind(_ values: [Value]) throws(StoreError) {
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            let code: Int32
            switch value {
            case .integer(let value): code = sqlite3_bind_int64(raw, place, value)
            case .null: code = sqlite3_bind_null(raw, place)
            case .text(let text): code = sqlite3_bind_text(raw, place, text, Int32(text.utf8.count), copied)
            case .blob(let bytes) where bytes.isEmpty: code = sqlite3_bind_zeroblob(raw, place, 0)
            case .blob(let bytes): code = sqlite3_bind_blob(raw, place, bytes, Int32(bytes.count), copied)
            }
            guard code == SQLITE_OK else { throw connection.error(in: sql) }
        }
    }
}

/// The row a statement stands on; gone with its next step.
struct SQLiteRow {
    private let raw: OpaquePointer

    fileprivate init(_ raw: OpaquePointer) { self.raw = raw }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(raw, column) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(raw, column) == SQLITE_NULL }

    /// Copied.
    func blob(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(raw, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column))))
    }

    func text(_ column: Int32) -> String { String(decoding: blob(column), as: UTF8.self) }
}
