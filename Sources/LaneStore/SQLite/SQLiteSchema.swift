internal import Lanes

/// The tables and how they came to be. `user_version` counts the steps taken.
///
/// Every table of devices carries the partition, as in PostgreSQL: what belongs to one can be read and moved together.
enum SQLiteSchema {
    /// Each step takes a file from the version of its index to the next. Steps that have shipped never change.
    static let steps: [String] = [
        """
        CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), epoch INTEGER NOT NULL);
        INSERT INTO store VALUES (1, 0);
        CREATE TABLE lane (
            partition INTEGER NOT NULL, device TEXT NOT NULL, generation INTEGER NOT NULL, body BLOB NOT NULL,
            PRIMARY KEY (partition, device)) WITHOUT ROWID;
        CREATE TABLE claim (
            partition INTEGER NOT NULL, device TEXT NOT NULL, night INTEGER NOT NULL, ordinal INTEGER NOT NULL,
            key TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (partition, device, night, ordinal)) WITHOUT ROWID;
        CREATE TABLE owner (token BLOB NOT NULL PRIMARY KEY, device TEXT NOT NULL) WITHOUT ROWID;
        CREATE INDEX owner_device ON owner (device);
        CREATE TABLE mark (partition INTEGER NOT NULL PRIMARY KEY, seconds INTEGER NOT NULL);
        CREATE TABLE timeline (
            partition INTEGER NOT NULL, device TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
            body BLOB NOT NULL, PRIMARY KEY (partition, device, seq)) WITHOUT ROWID;
        CREATE INDEX timeline_at ON timeline (at);
        CREATE TABLE slate_line (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL);
        CREATE INDEX slate_line_at ON slate_line (at);
        """,
        """
        CREATE TABLE session (
            id TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, stopped INTEGER, body BLOB NOT NULL) WITHOUT ROWID;
        CREATE INDEX session_stopped ON session (stopped) WHERE stopped IS NOT NULL;
        """,
        """
        CREATE TABLE paused_gateway (gateway TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
        ALTER TABLE store ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX timeline_seq ON timeline (seq);
        """,
    ]

    /// Brings the file to this version, each step in a transaction of its own.
    static func migrate(_ connection: SQLiteConnection) throws(StoreError) {
        let found = try version(of: connection)
        guard found <= steps.count else { throw .newerSchema(found: found, known: steps.count) }
        for (index, step) in steps.enumerated().dropFirst(found) {
            try connection.run("BEGIN IMMEDIATE; \(step) PRAGMA user_version = \(index + 1); COMMIT;")
        }
    }

    static func version(of connection: SQLiteConnection) throws(StoreError) -> Int {
        var version = 0
        try connection.prepare("PRAGMA user_version").rows { row throws(StoreError) in version = Int(row.integer(0)) }
        return version
    }
}
