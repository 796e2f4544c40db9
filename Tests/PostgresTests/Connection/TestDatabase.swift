import Postgres
import PrivatePostgres
import Synchronization

/// A schema of one test, in which unqualified names stand: databases are dear.
struct TestDatabase {
    let cluster: PrivateCluster
    let address: PostgresAddress

    init(in cluster: PrivateCluster? = nil) async throws {
        if let cluster { self.cluster = cluster } else { self.cluster = try await PrivateCluster.shared() }
        let schema = self.cluster.freshName("test")
        address = try PostgresAddress(self.cluster.url()).setting("options", "-c search_path=\(schema)")
        let connection = try await PostgresConnection.open(address)
        try await connection.sql("CREATE SCHEMA \(schema)")
        connection.close()
        await connection.closed()
    }

    func open(
        _ settings: PostgresSettings = PostgresSettings(),
        notified: @escaping @Sendable ([PostgresNotification]) -> Void = { _ in }
    ) async throws -> PostgresConnection {
        try await PostgresConnection.open(address.recommended, settings: settings, notified: notified)
    }
}

extension PostgresConnection {
    @discardableResult
    func sql(_ text: String) async throws(PostgresError) -> [PostgresResult] {
        try await perform { (session) throws(PostgresError) in try session.query(text) }
    }

    func sqlText(_ text: String) async throws -> String? { try await sql(text).last?.text(0, 0) }

    func run(
        _ statement: PostgresStatement, _ fill: (inout PostgresParameters) -> Void = { _ in }
    ) async throws(PostgresError) -> PostgresResult {
        var parameters = PostgresParameters()
        fill(&parameters)
        let filled = parameters
        return try await perform { (session) throws(PostgresError) in try session.execute(statement, filled) }
    }
}

/// What callbacks bring, in order; awaited one by one.
final class Mailbox<Value: Sendable>: Sendable {
    let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func put(_ value: Value) { continuation.yield(value) }

    func next() async -> Value? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}
