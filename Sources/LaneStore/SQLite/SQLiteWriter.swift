internal import CardRules
internal import Lanes

/// The one connection and its statements. Lives on the store's thread and never leaves it.
///
/// The form and its settings are measured: WAL with `synchronous=FULL` is the one that is durable before a push leaves
/// (L1), and from a hundred rows a commit on it costs next to nothing.
final class SQLiteWriter {
    let connection: SQLiteConnection
    let statements: SQLiteStatements
    private let lock: LockFile
    private let epoch: Int64
    private let settings: SQLiteStore.Settings
    private var isFenced = false
    /// The next entry of a timeline.
    var nextSequence: Int64 = 1
    /// The newest time that a row named: the store has no clock, and forgets by this.
    var newest: Int64 = .min
    private var prunedAt: Int64 = .min

    /// Locks, opens, checks and migrates the file, and becomes its newest owner.
    init(path: String, settings: SQLiteStore.Settings) throws(StoreError) {
        self.settings = settings
        lock = try LockFile(storePath: path)
        connection = try SQLiteConnection(path: path)
        try connection.run(
            """
            PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -\(settings.cacheKiB); PRAGMA foreign_keys = ON;
            """)
        try Self.check(connection)
        try SQLiteSchema.migrate(connection)
        try connection.run("UPDATE store SET epoch = epoch + 1 WHERE id = 1")
        var raised: Int64 = 0
        try connection.prepare("SELECT epoch FROM store WHERE id = 1").rows { row throws(StoreError) in
            raised = row.integer(0)
        }
        epoch = raised
        statements = try SQLiteStatements(connection)
        try connection.prepare("SELECT max(seq), (SELECT sequence FROM store WHERE id = 1) FROM timeline").rows {
            row throws(StoreError) in
            nextSequence = max(row.integer(0) + Int64(StoredRows.entriesPerRow), row.integer(1))
        }
        try connection.prepare(
            "SELECT max(at) FROM (SELECT max(at) at FROM timeline UNION ALL SELECT max(at) FROM claim)"
        )
        .rows { row throws(StoreError) in
            if !row.isNull(0) { newest = row.integer(0) }
        }
    }

    private static func check(_ connection: SQLiteConnection) throws(StoreError) {
        var answer = ""
        try connection.prepare("PRAGMA quick_check(1)").rows { row throws(StoreError) in answer = row.text(0) }
        guard answer == "ok" else { throw .corrupt(table: "file", key: connection.path, detail: answer) }
    }

    /// One transaction for all of the batches, in their order, each with an outcome of its own.
    func commit(_ batches: [CommitBatch]) -> [CommitOutcome] {
        do throws(StoreError) {
            guard !isFenced else { throw .fenced }
            return try transaction { writer throws(StoreError) in
                var outcomes: [CommitOutcome] = []
                for batch in batches { outcomes.append(.landed(refused: try writer.write(batch))) }
                try writer.prune()
                return outcomes
            }
        } catch {
            return batches.map { _ in .failed(error) }
        }
    }

    private func transaction(
        _ body: (SQLiteWriter) throws(StoreError) -> [CommitOutcome]
    ) throws(StoreError) -> [CommitOutcome] {
        try statements.begin.run()
        do throws(StoreError) {
            var found: Int64 = -1
            try statements.epoch.rows { row throws(StoreError) in found = row.integer(0) }
            guard found == epoch else {
                isFenced = true
                throw .fenced
            }
            let outcomes = try body(self)
            try statements.commit.run()
            return outcomes
        } catch {
            do throws(StoreError) { try statements.rollback.run() } catch {}  // SQLite may have rolled back by itself
            throw error
        }
    }

    /// Timeline rows beyond their age go, a portion a commit; claims of nights long over once an hour (of the rows' own
    /// time).
    private func prune() throws(StoreError) {
        guard newest > .min else { return }
        let pruned = try statements.pruneTimeline.run(.integer(newest.lowered(by: settings.timelineSeconds)))
        if pruned > 0 { try keepSequence() }
        guard newest >= prunedAt.raised(by: 3600) || prunedAt == .min else { return }
        prunedAt = newest
        try statements.pruneClaims.run(.integer(newest.lowered(by: SQLiteStore.claimSeconds)))
    }

    /// - Parameter isIdle: nothing waits, so that a checkpoint delays nobody.
    func checkpointIfDue(isIdle: Bool) {
        let bytes = walBytes(of: connection.path)
        guard bytes > settings.maxLogBytes || isIdle && bytes > settings.idleLogBytes else { return }
        // A failure leaves the log longer and loses nothing; the next one tries again.
        do throws(StoreError) { try connection.checkpoint() } catch {}
    }

    /// SQLite would do it too when the connection closes; here its failure is known to be harmless.
    func checkpointAtEnd() {
        do throws(StoreError) { try connection.checkpoint() } catch {}
    }
}

extension Int64 {
    /// Milliseconds, that many seconds earlier.
    func lowered(by seconds: Int64) -> Int64 { self < .min + seconds * 1000 ? .min : self - seconds * 1000 }
    func raised(by seconds: Int64) -> Int64 { self > .max - seconds * 1000 ? .max : self + seconds * 1000 }
}
