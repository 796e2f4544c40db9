internal import Postgres

/// What nodes say to each other through the database.
enum LinkStatements {
    /// A repeated one changes nothing: the row stays until its poster knows the answer.
    static let post = PostgresStatement(
        "post",
        """
        INSERT INTO inbox (partition, origin, number, device, body)
        SELECT u.partition, $2, u.number, u.device, u.body FROM unnest($1, $3, $4, $5) u (partition, number, device, body)
        ON CONFLICT DO NOTHING
        """, [.int2Array, .int8, .int8Array, .textArray, .byteaArray])

    static let open = PostgresStatement(
        "inbox_open",
        """
        SELECT partition, origin, number, device, body FROM inbox WHERE partition = ANY ($1) AND answer IS NULL
        ORDER BY posted, origin, number LIMIT $2
        """, [.int2Array, .int8])

    static let answers = PostgresStatement(
        "inbox_answers",
        "SELECT number, answer FROM inbox WHERE origin = $1 AND answer IS NOT NULL ORDER BY number LIMIT 4000",
        [.int8])

    static let finish = PostgresStatement(
        "inbox_finish", "DELETE FROM inbox WHERE origin = $1 AND number = ANY ($2) AND answer IS NOT NULL",
        [.int8, .int8Array])

    /// Answers that their posters never took.
    static let tidy = PostgresStatement(
        "inbox_tidy",
        "DELETE FROM inbox WHERE answer IS NOT NULL AND posted < clock_timestamp() - interval '10 minutes'")

    static let awaited = PostgresStatement(
        "inbox_awaited",
        "SELECT EXISTS (SELECT FROM inbox WHERE partition = $1 AND device = $2 AND answer IS NULL)", [.int2, .text])

    /// S7: moves the one row of each token, and says who has still to hand over. Only while the newer record's partition
    /// is ours: `FOR SHARE` waits for a taker and is waited for by one (measured-store 1.2).
    static let claim = PostgresStatement(
        "claim_phones",
        """
        WITH ours AS (SELECT partition, epoch FROM lease WHERE partition = ANY ($1) ORDER BY partition FOR SHARE)
        INSERT INTO owner AS o (partition, token, device)
        SELECT u.home, u.token, u.device FROM unnest($1, $2, $3, $4, $5) u (partition, epoch, home, token, device)
        JOIN ours USING (partition, epoch)
        ON CONFLICT (partition, token) DO UPDATE
        SET before = CASE WHEN o.device <> excluded.device THEN o.device ELSE o.before END, device = excluded.device
        RETURNING token, before
        """, [.int2Array, .int8Array, .int2Array, .byteaArray, .textArray])

    static let handedOver = PostgresStatement(
        "handed_over",
        """
        UPDATE owner SET before = NULL FROM unnest($1, $2, $3) u (partition, token, older)
        WHERE owner.partition = u.partition AND owner.token = u.token AND owner.before = u.older
        """, [.int2Array, .byteaArray, .textArray])

    static let notify = PostgresStatement("link_notify", "SELECT pg_notify($1, $2)", [.text, .text])

    /// The number of the next timeline entry: another one says that there are new ones.
    static let timeline = PostgresStatement("timeline_next", "SELECT next FROM counter WHERE name = 'timeline'")

    /// A store's counters go ninety days after it was last seen.
    static let seen = PostgresStatement(
        "writer_seen", "UPDATE writer SET opened = clock_timestamp() WHERE id = $1", [.int8])

    static let slate = PostgresStatement(
        "slate_after", "SELECT seq, tag, at, body FROM slate_line WHERE seq > $1 ORDER BY seq LIMIT $2", [.int8, .int8])
    static let sessions = PostgresStatement(
        "sessions_after", "SELECT change, id, body FROM session WHERE change > $1 ORDER BY change LIMIT $2",
        [.int8, .int8])
}
