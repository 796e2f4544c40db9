internal import Postgres

/// What a commit is made of. All rows of a table go in one statement; the arrays stand side by side.
enum CommitStatements {
    /// Not a row unless the partitions still are ours; moves their counters, and this writer's. Always the first.
    static let fence = PostgresStatement(
        "fence", "SELECT lk_fence($1, $2, $3, $4, $5)", [.int2Array, .int8Array, .int8Array, .int8, .int8])

    /// Changes nothing where a newer incarnation of the lane has written.
    static let lanes = PostgresStatement(
        "lanes",
        """
        INSERT INTO lane (partition, device, generation, body) SELECT * FROM unnest($1, $2, $3, $4)
        ON CONFLICT (partition, device) DO UPDATE SET generation = excluded.generation, body = excluded.body
        WHERE excluded.generation >= lane.generation
        """, [.int2Array, .textArray, .int8Array, .byteaArray])

    /// What a lane of an older incarnation brought along is left out with it.
    private static func isCurrent(_ partition: String) -> String {
        """
        NOT EXISTS (SELECT FROM lane l
            WHERE l.partition = u.\(partition) AND l.device = u.device AND l.generation > u.generation)
        """
    }

    static let claims = PostgresStatement(
        "claims",
        """
        INSERT INTO claim (partition, device, night, ordinal, key, at, commit_seq)
        SELECT u.partition, u.device, u.night, u.ordinal, u.key, u.at, u.commit_seq
        FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)
            u (partition, device, generation, night, ordinal, key, at, commit_seq)
        WHERE \(isCurrent("partition")) ON CONFLICT DO NOTHING
        """, [.int2Array, .textArray, .int8Array, .int8Array, .int8Array, .textArray, .int8Array, .int8Array])

    static let owners = PostgresStatement(
        "owners",
        """
        INSERT INTO owner (partition, token, device) SELECT u.partition, u.token, u.device
        FROM unnest($1, $2, $3, $4, $5) u (home, device, generation, partition, token)
        WHERE \(isCurrent("home")) ON CONFLICT (partition, token) DO UPDATE SET device = excluded.device
        """, [.int2Array, .textArray, .int8Array, .int2Array, .byteaArray])

    /// The lanes last: the others look whether a newer one stands.
    static let removals = ["timeline", "owner", "lane"].map { table in
        PostgresStatement(
            "remove_\(table)",
            """
            DELETE FROM \(table) t USING unnest($1, $2, $3) u (partition, device, generation)
            WHERE \(table == "owner" ? "" : "t.partition = u.partition AND ") t.device = u.device
            AND \(isCurrent("partition"))
            """, [.int2Array, .textArray, .int8Array])
    }

    static let marks = PostgresStatement(
        "marks",
        """
        INSERT INTO mark (partition, seconds) SELECT * FROM unnest($1, $2) ON CONFLICT (partition) DO UPDATE
        SET seconds = greatest(mark.seconds, excluded.seconds)
        """, [.int2Array, .int8Array])

    /// The counter's row is held until the commit, so that numbers become readable in their order.
    static let slateLines = PostgresStatement(
        "slate_lines",
        """
        WITH number AS (UPDATE counter SET next = next + $1 WHERE name = 'slate' RETURNING next - $1 first)
        INSERT INTO slate_line (seq, at, body, tag) SELECT number.first + u.place - 1, u.at, u.body, $4
        FROM number, unnest($2, $3) WITH ORDINALITY u (at, body, place)
        """, [.int8, .int8Array, .byteaArray, .int8])

    static let forgetSlate = PostgresStatement("forget_slate", "DELETE FROM slate_line WHERE at < $1", [.int8])

    /// Numbered as `slateLines`, so that nodes read on from the last change that they know.
    static let sessions = PostgresStatement(
        "sessions",
        """
        WITH number AS (UPDATE counter SET next = next + $5 WHERE name = 'session' RETURNING next - $5 first)
        INSERT INTO session (id, version, stopped, body, change)
        SELECT u.id, u.version, u.stopped, u.body, number.first + u.place - 1
        FROM number, unnest($1, $2, $3, $4) WITH ORDINALITY u (id, version, stopped, body, place)
        ON CONFLICT (id) DO UPDATE SET version = excluded.version, stopped = excluded.stopped, body = excluded.body,
        change = excluded.change WHERE excluded.version > session.version
        """, [.textArray, .int8Array, .int8Array, .byteaArray, .int8])

    static let applied = PostgresStatement(
        "applied",
        """
        UPDATE inbox SET answer = u.answer FROM unnest($1, $2, $3, $4) u (partition, origin, number, answer)
        WHERE inbox.partition = u.partition AND inbox.origin = u.origin AND inbox.number = u.number
        """, [.int2Array, .int8Array, .int8Array, .byteaArray])

    static let forgetSessions = PostgresStatement("forget_sessions", "DELETE FROM session WHERE stopped < $1", [.int8])

    static let pause = PostgresStatement(
        "pause", "INSERT INTO paused_gateway SELECT unnest($1) ON CONFLICT DO NOTHING", [.textArray])
    static let resume = PostgresStatement("resume", "DELETE FROM paused_gateway WHERE gateway = ANY ($1)", [.textArray])

    /// As `slateLines`. The last one, since from here to the commit nobody else can number entries.
    static let timeline = PostgresStatement(
        "timeline",
        """
        WITH number AS (UPDATE counter SET next = next + $1 WHERE name = 'timeline' RETURNING next - $1 first)
        INSERT INTO timeline (partition, device, seq, at, body)
        SELECT u.partition, u.device, number.first + u.place, u.at, u.body
        FROM number, unnest($2, $3, $4, $5, $6) u (partition, device, place, at, body)
        """, [.int8, .int2Array, .textArray, .int8Array, .int8Array, .byteaArray])
}

/// What is asked about a commit afterwards.
enum SettlingStatements {
    /// Waits for whoever writes there.
    static let leases = PostgresStatement(
        "leases_now",
        "SELECT partition, epoch, commit_seq FROM lease WHERE partition = ANY ($1) ORDER BY partition FOR UPDATE",
        [.int2Array])
    static let writer = PostgresStatement(
        "writer_now", "SELECT commit_seq FROM writer WHERE id = $1 FOR UPDATE", [.int8])

    static let refusedLanes = PostgresStatement(
        "refused_lanes",
        """
        SELECT u.place FROM unnest($1, $2, $3) WITH ORDINALITY u (partition, device, generation, place)
        JOIN lane l ON l.partition = u.partition AND l.device = u.device WHERE l.generation > u.generation
        """, [.int2Array, .textArray, .int8Array])

    /// Those that do not stand as this commit would have written them.
    static let refusedClaims = PostgresStatement(
        "refused_claims",
        """
        SELECT u.place FROM unnest($1, $2, $3, $4, $5)
            WITH ORDINALITY u (partition, device, night, ordinal, commit_seq, place)
        WHERE NOT EXISTS (SELECT FROM claim c WHERE c.partition = u.partition AND c.device = u.device
            AND c.night = u.night AND c.ordinal = u.ordinal AND c.commit_seq = u.commit_seq)
        """, [.int2Array, .textArray, .int8Array, .int8Array, .int8Array])

    /// Those that stand otherwise than they were sent: somebody else has changed them meanwhile.
    static let refusedSessions = PostgresStatement(
        "refused_sessions",
        """
        SELECT u.place FROM unnest($1, $2, $3) WITH ORDINALITY u (id, version, body, place)
        JOIN session s USING (id) WHERE s.version > u.version OR (s.version = u.version AND s.body <> u.body)
        """, [.textArray, .int8Array, .byteaArray])

    /// Two nodes may tidy at once.
    static let pruneTimeline = PostgresStatement(
        "prune_timeline",
        """
        DELETE FROM timeline WHERE seq IN (SELECT seq FROM (SELECT seq, at FROM timeline ORDER BY seq LIMIT $2
        FOR UPDATE SKIP LOCKED) oldest WHERE at < $1)
        """, [.int8, .int8])
    static let pruneClaims = PostgresStatement("prune_claims", "DELETE FROM claim WHERE at < $1", [.int8])
}
