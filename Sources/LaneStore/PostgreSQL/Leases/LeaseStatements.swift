internal import Postgres

/// The server's clock alone decides, as it is at that moment: `now()` would be the transaction's beginning.
/// Source: measured-store 1.3.
enum LeaseStatements {
    static let join = PostgresStatement(
        "join",
        """
        INSERT INTO node (name, expires, writer)
        VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond', $3) RETURNING id
        """, [.text, .int8, .int8])

    /// No row: we are dead. Stop, and start as a new node.
    static let renew = PostgresStatement(
        "renew",
        """
        UPDATE node SET expires = clock_timestamp() + $2 * interval '1 millisecond'
        WHERE id = $1 AND expires > clock_timestamp() RETURNING id
        """, [.int8, .int8])

    /// This process's own earlier node, which has dropped everything; and one of that name that has no session here, as one
    /// whose process is gone. Whoever is started in its place need not wait until it would have expired. A live node that is
    /// cut off from the database looks the same: so no two of a cluster may have one name.
    static let bury = PostgresStatement(
        "bury",
        """
        UPDATE node SET expires = clock_timestamp() WHERE id <> $2 AND expires > clock_timestamp() AND writer <> 0
        AND (writer = $3 OR name = $1 AND NOT EXISTS (SELECT FROM pg_stat_activity a
            WHERE a.application_name = 'lanekeeper writer ' || node.writer AND a.datname = current_database()))
        """, [.text, .int8, .int8])

    static let nodes = PostgresStatement(
        "nodes", "SELECT id, leaving FROM node WHERE expires > clock_timestamp() ORDER BY id")

    /// It takes nothing more, and the others need not wait to have more than their share of it.
    static let retire = PostgresStatement("retire", "UPDATE node SET leaving = true WHERE id = $1", [.int8])
    static let leases = PostgresStatement(
        "leases", "SELECT partition, coalesce(holder, 0) FROM lease ORDER BY partition")

    /// One that is free, or whose holder has expired. Whoever takes must live himself: else the next one would rob him.
    static let take = PostgresStatement(
        "take",
        """
        UPDATE lease SET holder = $1, epoch = epoch + 1
        WHERE partition = $2 AND EXISTS (SELECT FROM node WHERE id = $1 AND expires > clock_timestamp())
        AND NOT EXISTS (SELECT FROM node WHERE id = lease.holder AND expires > clock_timestamp())
        RETURNING partition, epoch, commit_seq
        """, [.int8, .int2])

    static let release = PostgresStatement(
        "release", "UPDATE lease SET holder = NULL WHERE partition = ANY ($2) AND holder = $1", [.int8, .int2Array])

    /// Sessions of a partition's holder that has expired, and hangs with a commit begun: they hold the row.
    static let endSessions = PostgresStatement(
        "end_sessions",
        """
        SELECT pg_terminate_backend(a.pid) FROM lease l JOIN node w ON w.id = l.holder, pg_stat_activity a
        WHERE l.partition = $1 AND a.application_name = 'lanekeeper writer ' || w.writer
        AND a.datname = current_database()
        AND NOT EXISTS (SELECT FROM node n WHERE n.id = l.holder AND n.expires > clock_timestamp())
        """, [.int2])

    static let leave = PostgresStatement("leave", "DELETE FROM node WHERE id = $1", [.int8])

    /// Nodes long gone that hold nothing.
    static let forget = PostgresStatement(
        "forget_nodes",
        """
        DELETE FROM node WHERE expires < clock_timestamp() - interval '1 hour'
        AND NOT EXISTS (SELECT FROM lease WHERE holder = node.id)
        """)

    /// Others look at once.
    static let notify = PostgresStatement("notify", "SELECT pg_notify($1, '')", [.text])
}
