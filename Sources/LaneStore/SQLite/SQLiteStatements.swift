internal import Lanes

/// Every statement that runs often, prepared once.
final class SQLiteStatements {
    let begin, commit, rollback, epoch: SQLiteStatement
    let lane, removeLane, claim, owner, removeOwner, mark: SQLiteStatement
    let timeline, removeTimeline, pruneTimeline, pruneClaims: SQLiteStatement
    let slateLine, forgetSlate, session, forgetSessions: SQLiteStatement
    let pauseGateway, resumeGateway, sequence: SQLiteStatement
    let loadLanes, loadLane, loadOwners, loadMark, loadSlate, loadSessions, loadPauses: SQLiteStatement
    let newestEntries, entriesAfter, newestOfDevice, entriesOfDevice: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(StoreError) {
        begin = try connection.prepare("BEGIN IMMEDIATE")
        commit = try connection.prepare("COMMIT")
        rollback = try connection.prepare("ROLLBACK")
        epoch = try connection.prepare("SELECT epoch FROM store WHERE id = 1")
        // Changes nothing when an older incarnation of the lane writes.
        lane = try connection.prepare(
            """
            INSERT INTO lane VALUES (?1, ?2, ?3, ?4) ON CONFLICT (partition, device) DO UPDATE
            SET generation = excluded.generation, body = excluded.body WHERE excluded.generation >= lane.generation
            """)
        removeLane = try connection.prepare("DELETE FROM lane WHERE partition = ?1 AND device = ?2")
        claim = try connection.prepare("INSERT OR IGNORE INTO claim VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        owner = try connection.prepare(
            "INSERT INTO owner VALUES (?1, ?2) ON CONFLICT (token) DO UPDATE SET device = excluded.device")
        removeOwner = try connection.prepare("DELETE FROM owner WHERE device = ?1")
        mark = try connection.prepare(
            """
            INSERT INTO mark VALUES (?1, ?2) ON CONFLICT (partition) DO UPDATE
            SET seconds = max(seconds, excluded.seconds)
            """)
        timeline = try connection.prepare("INSERT INTO timeline VALUES (?1, ?2, ?3, ?4, ?5)")
        removeTimeline = try connection.prepare("DELETE FROM timeline WHERE partition = ?1 AND device = ?2")
        pruneTimeline = try connection.prepare(
            """
            DELETE FROM timeline WHERE (partition, device, seq) IN
            (SELECT partition, device, seq FROM timeline WHERE at < ?1 ORDER BY at LIMIT 1000)
            """)
        pruneClaims = try connection.prepare("DELETE FROM claim WHERE at < ?1")
        slateLine = try connection.prepare("INSERT INTO slate_line (at, body) VALUES (?1, ?2)")
        forgetSlate = try connection.prepare("DELETE FROM slate_line WHERE at < ?1")
        // A version that is not newer changes nothing: commits of one session may overtake each other.
        session = try connection.prepare(
            """
            INSERT INTO session VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO UPDATE
            SET version = excluded.version, stopped = excluded.stopped, body = excluded.body
            WHERE excluded.version > session.version
            """)
        forgetSessions = try connection.prepare("DELETE FROM session WHERE stopped < ?1")
        loadSessions = try connection.prepare("SELECT id, body FROM session WHERE id > ?1 ORDER BY id LIMIT ?2")
        loadLanes = try connection.prepare(
            """
            SELECT device, generation, body FROM lane WHERE partition = ?1 AND device > ?2 ORDER BY device LIMIT ?3
            """)
        loadLane = try connection.prepare(
            "SELECT device, generation, body FROM lane WHERE partition = ?1 AND device = ?2")
        loadOwners = try connection.prepare("SELECT token, device FROM owner WHERE token > ?1 ORDER BY token LIMIT ?2")
        loadMark = try connection.prepare("SELECT seconds FROM mark WHERE partition = ?1")
        loadSlate = try connection.prepare("SELECT seq, at, body FROM slate_line WHERE at >= ?1 ORDER BY seq")
        pauseGateway = try connection.prepare("INSERT OR IGNORE INTO paused_gateway VALUES (?1)")
        resumeGateway = try connection.prepare("DELETE FROM paused_gateway WHERE gateway = ?1")
        loadPauses = try connection.prepare("SELECT gateway FROM paused_gateway ORDER BY gateway")
        sequence = try connection.prepare("UPDATE store SET sequence = ?1 WHERE id = 1")
        // A row holds the entries of one turn and is numbered by the first: the one before may reach beyond `after`.
        newestEntries = try connection.prepare("SELECT seq, device, body FROM timeline ORDER BY seq DESC LIMIT ?1")
        entriesAfter = try connection.prepare(
            """
            SELECT seq, device, body FROM timeline
            WHERE seq >= coalesce((SELECT max(seq) FROM timeline WHERE seq <= ?1), 0) ORDER BY seq LIMIT ?2
            """)
        newestOfDevice = try connection.prepare(
            """
            SELECT seq, device, body FROM timeline WHERE partition = ?1 AND device = ?2 ORDER BY seq DESC LIMIT ?3
            """)
        entriesOfDevice = try connection.prepare(
            """
            SELECT seq, device, body FROM timeline WHERE partition = ?1 AND device = ?2
            AND seq >= coalesce((SELECT max(seq) FROM timeline WHERE partition = ?1 AND device = ?2 AND seq <= ?3), 0)
            ORDER BY seq LIMIT ?4
            """)
    }
}
