internal import Postgres

/// The tables and how they came to be. A row of `store_version` stands for each step taken.
///
/// Every table of devices carries the partition, so that it can be hash-partitioned or distributed by it. No index is on
/// a column that a commit changes: updates of a lane stay within its page (HOT), which is half of their price.
enum PostgresSchema {
    /// Each step takes a database from the version of its index to the next. Steps that have shipped never change.
    static let steps: [String] = [
        """
        CREATE TABLE node (
            id int8 PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text NOT NULL, expires timestamptz NOT NULL);
        CREATE TABLE lease (
            partition int2 PRIMARY KEY, holder int8, epoch int8 NOT NULL, commit_seq int8 NOT NULL) WITH (fillfactor = 10);
        INSERT INTO lease SELECT place, NULL, 0, 0 FROM generate_series(0, 63) place;
        CREATE TABLE writer (
            id int8 PRIMARY KEY GENERATED ALWAYS AS IDENTITY, commit_seq int8 NOT NULL, opened timestamptz NOT NULL)
            WITH (fillfactor = 10);
        CREATE TABLE counter (name text PRIMARY KEY, next int8 NOT NULL) WITH (fillfactor = 10);
        INSERT INTO counter VALUES ('timeline', 1), ('slate', 1);

        CREATE TABLE lane (
            partition int2 NOT NULL, device text COLLATE "C" NOT NULL, generation int8 NOT NULL, body bytea NOT NULL,
            PRIMARY KEY (partition, device)) WITH (fillfactor = 70);
        CREATE TABLE claim (
            partition int2 NOT NULL, device text COLLATE "C" NOT NULL, night int8 NOT NULL, ordinal int8 NOT NULL,
            key text NOT NULL, at int8 NOT NULL, commit_seq int8 NOT NULL,
            PRIMARY KEY (partition, device, night, ordinal));
        CREATE INDEX claim_at ON claim USING brin (at);
        CREATE TABLE owner (
            partition int2 NOT NULL, token bytea NOT NULL, device text COLLATE "C" NOT NULL,
            PRIMARY KEY (partition, token));
        CREATE INDEX owner_device ON owner (device);
        CREATE TABLE mark (partition int2 PRIMARY KEY, seconds int8 NOT NULL) WITH (fillfactor = 10);
        CREATE TABLE timeline (
            partition int2 NOT NULL, device text COLLATE "C" NOT NULL, seq int8 NOT NULL, at int8 NOT NULL,
            body bytea NOT NULL, PRIMARY KEY (partition, device, seq));
        CREATE INDEX timeline_seq ON timeline (seq);

        CREATE TABLE slate_line (seq int8 PRIMARY KEY, at int8 NOT NULL, body bytea NOT NULL);
        CREATE INDEX slate_line_at ON slate_line (at);
        CREATE TABLE session (
            id text COLLATE "C" PRIMARY KEY, version int8 NOT NULL, stopped int8, body bytea NOT NULL);
        CREATE INDEX session_stopped ON session (stopped) WHERE stopped IS NOT NULL;
        CREATE TABLE paused_gateway (gateway text PRIMARY KEY);

        CREATE FUNCTION lk_fence(places int2[], epochs int8[], seqs int8[], scribe int8, scribe_seq int8) RETURNS void
        LANGUAGE plpgsql AS $$
        BEGIN
            FOR i IN 1..coalesce(cardinality(places), 0) LOOP
                UPDATE lease SET commit_seq = seqs[i]
                WHERE partition = places[i] AND epoch = epochs[i] AND commit_seq = seqs[i] - 1;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'partition % has a newer owner', places[i] USING ERRCODE = 'LK001';
                END IF;
            END LOOP;
            IF scribe IS NOT NULL THEN
                UPDATE writer SET commit_seq = scribe_seq WHERE id = scribe AND commit_seq = scribe_seq - 1;
                IF NOT FOUND THEN RAISE EXCEPTION 'writer % is not known', scribe USING ERRCODE = 'LK001'; END IF;
            END IF;
        END $$;
        """,
        // The cluster at run time: what any node takes for the others.
        """
        ALTER TABLE node ADD COLUMN writer int8, ADD COLUMN leaving boolean NOT NULL DEFAULT false;
        ALTER TABLE slate_line ADD COLUMN tag int8 NOT NULL DEFAULT 0;
        ALTER TABLE session ADD COLUMN change int8 NOT NULL DEFAULT 0;
        CREATE INDEX session_change ON session (change);
        UPDATE session SET change = u.place
            FROM (SELECT id, row_number() OVER (ORDER BY id) place FROM session) u WHERE session.id = u.id;
        INSERT INTO counter SELECT 'session', coalesce(max(change), 0) + 1 FROM session;
        ALTER TABLE owner ADD COLUMN before text COLLATE "C";
        CREATE TABLE inbox (
            partition int2 NOT NULL, origin int8 NOT NULL, number int8 NOT NULL, device text COLLATE "C" NOT NULL,
            body bytea NOT NULL, posted timestamptz NOT NULL DEFAULT clock_timestamp(), answer bytea,
            PRIMARY KEY (partition, origin, number));
        CREATE INDEX inbox_open ON inbox (partition) WHERE answer IS NULL;
        CREATE INDEX inbox_answered ON inbox (origin) WHERE answer IS NOT NULL;
        """,
    ]

    /// Brings a database to this version, each step in a transaction of its own. Others that migrate it at the same time
    /// wait for each other; there is no limit to that, nor to a step's time.
    /// - Parameter last: for tests of an upgrade.
    /// - Returns: the version that it had. One above `steps.count` is a newer program's: nothing was done.
    static func migrate(
        _ session: inout PostgresSession, schema: String, upTo last: Int = steps.count
    ) throws(PostgresError) -> Int {
        _ = try session.query("SET statement_timeout = 0; SET lock_timeout = 0; SELECT pg_advisory_lock(\(lockKey))")
        let name = PostgresText.literal(schema)
        let isThere = try session.query("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = \(name))")
        // Asked first: making one needs a right that its owner need not have.
        if isThere.last?.text(0, 0) != "t" {
            _ = try session.query("CREATE SCHEMA \(PostgresText.identifier(schema))")
        }
        let found = try version(&session)
        if found == 0 { _ = try session.query("CREATE TABLE IF NOT EXISTS store_version (version int4 PRIMARY KEY)") }
        for (index, step) in steps.enumerated().prefix(last).dropFirst(found) {
            _ = try session.query("\(step) INSERT INTO store_version VALUES (\(index + 1))")
        }
        _ = try session.query("SELECT pg_advisory_unlock(\(lockKey))")
        return found
    }

    /// 0 where there is none.
    static func version(_ session: inout PostgresSession) throws(PostgresError) -> Int {
        guard try session.query("SELECT to_regclass('store_version') IS NULL").last?.text(0, 0) == "f" else { return 0 }
        return Int(try session.query("SELECT coalesce(max(version), 0) FROM store_version").last?.integer(0, 0) ?? 0)
    }

    /// Of this program, among those of a database's other users.
    private static let lockKey = 0x6c61_6e65_6b70
}
