internal import Lanes
internal import Postgres

/// How a store begins: checks the schema, makes itself known, takes what is to be its own.
struct PostgresOpening: Sendable {
    let writer: Int64
    let holds: [PartitionHold]

    static func open(
        _ address: PostgresAddress, _ settings: PostgresStore.Settings, _ ownership: PostgresStore.Ownership
    ) async throws(StoreError) -> PostgresOpening {
        let found = try await perform(address, settings) { (session) throws(PostgresError) in
            let version = try PostgresSchema.version(&session)
            guard version == PostgresSchema.steps.count else { return Found.otherVersion(version) }
            _ = try session.query(PostgresStore.durability)
            guard ownership == .everything else { return .opened(try begin(&session, [])) }
            let live = try session.query("SELECT name FROM node WHERE expires > clock_timestamp() LIMIT 1").last
            if let name = live?.text(0, 0) { return .cluster(name) }
            return .opened(try begin(&session, try takeAll(&session)))
        }
        switch found {
        case .opened(let opening): return opening
        case .cluster(let name): throw .inUse(path: "the database, by node \(name) of a cluster")
        case .otherVersion(let version):
            let known = PostgresSchema.steps.count
            if version > known { throw .newerSchema(found: version, known: known) }
            throw .unavailable(
                detail:
                    "the schema \(settings.schema) has version \(version), this program needs \(known): run `lanekeeper migrate`"
            )
        }
    }

    private enum Found: Sendable {
        case opened(PostgresOpening)
        case otherVersion(Int)
        /// A node of a cluster lives.
        case cluster(String)
    }

    /// A row whose counter is this store's own. Those of stores long gone go.
    private static func begin(
        _ session: inout PostgresSession, _ holds: [PartitionHold]
    ) throws(PostgresError) -> PostgresOpening {
        let rows = try session.query(
            """
            DELETE FROM writer WHERE opened < clock_timestamp() - interval '90 days';
            INSERT INTO writer (commit_seq, opened) VALUES (0, clock_timestamp()) RETURNING id
            """)
        guard let writer = try rows.last?.integer(0, 0) else { throw .unexpected("no number for the writer") }
        return PostgresOpening(writer: writer, holds: holds)
    }

    /// Whoever held them is fenced. A commit of theirs under way ends first; one that hangs is waited for a few times.
    private static func takeAll(_ session: inout PostgresSession) throws(PostgresError) -> [PartitionHold] {
        var attempts = 0
        while true {
            do throws(PostgresError) {
                let rows = try session.query(
                    """
                    WITH all_leases AS (SELECT partition FROM lease ORDER BY partition FOR UPDATE)
                    UPDATE lease SET epoch = epoch + 1, holder = NULL FROM all_leases
                    WHERE lease.partition = all_leases.partition RETURNING lease.partition, epoch, commit_seq
                    """)
                return try rows.last.map { (result) throws(PostgresError) in try holds(result) } ?? []
            } catch {
                attempts += 1
                guard [.repeatNow, .repeatLater].contains(error.nextStep), attempts < 4 else { throw error }
            }
        }
    }

    /// Rows of partition, epoch and counter.
    static func holds(_ result: PostgresResult) throws(PostgresError) -> [PartitionHold] {
        var holds: [PartitionHold] = []
        for row in 0..<result.rows {
            guard let place = try result.integer(row, 0), let epoch = try result.integer(row, 1),
                let seq = try result.integer(row, 2)
            else { continue }
            holds.append(PartitionHold(partition: Int(place), epoch: epoch, sequence: seq))
        }
        return holds
    }

    /// Runs something on a connection of its own, once.
    static func perform<Value: Sendable>(
        _ address: PostgresAddress, _ settings: PostgresStore.Settings,
        _ body: @escaping @Sendable (inout PostgresSession) throws(PostgresError) -> Value
    ) async throws(StoreError) -> Value {
        do throws(PostgresError) {
            let connection = try await PostgresConnection.open(address, settings: settings.sessions)
            let result: Result<Value, PostgresError>
            do throws(PostgresError) {
                result = .success(try await connection.perform(body))
            } catch {
                result = .failure(error)
            }
            connection.close()
            await connection.closed()
            return try result.get()
        } catch {
            throw .unavailable(detail: "\(error)")
        }
    }
}
