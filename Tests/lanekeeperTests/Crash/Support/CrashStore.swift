import Foundation
import Postgres
import PrivatePostgres
import Testing

@testable import LaneStore

/// A store of a program under test, with the means to stop its commits from outside.
protocol CrashStore: Sendable {
    /// As `store.url` names it.
    var url: String { get }
    /// Nothing is written from now on: a commit that comes waits for `thaw`, or fails.
    func freeze() async throws
    /// Whether a commit stands before the lock, as far as the store can tell: a file cannot, and lets nobody in at all.
    func stopsCommit() async throws -> Bool
    /// Commits that wait come to nothing, as those of a program whose machine died with it.
    func thaw() async throws
}

enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, postgres

    var testDescription: String { rawValue }

    func make(in folder: URL) async throws -> any CrashStore {
        switch self {
        case .sqlite: FileStore(path: folder.appendingPathComponent("lanekeeper.db").path)
        case .postgres: try await ServerStore()
        }
    }
}

/// A file: another program holds SQLite's write lock.
actor FileStore: CrashStore {
    nonisolated let url: String
    private let path: String
    private var holder: SQLiteConnection?

    init(path: String) {
        self.path = path
        url = "sqlite:\(path)"
    }

    func freeze() throws {
        let holder = try SQLiteConnection(path: path)
        try holder.run("BEGIN IMMEDIATE")
        self.holder = holder
    }

    func stopsCommit() -> Bool { holder != nil }

    func thaw() throws {
        try holder?.run("ROLLBACK")
        holder = nil
    }
}

/// A database of its own in a server: another session holds the tables that a commit writes.
actor ServerStore: CrashStore {
    nonisolated let url: String
    nonisolated let cluster: PrivateCluster
    nonisolated let database: String
    /// Between program and server.
    nonisolated let wire: HeldLine
    private let address: PostgresAddress
    private var holder: PostgresConnection?

    /// - Parameter cluster: `nil`: the one that tests share.
    init(in cluster: PrivateCluster? = nil) async throws {
        let found = if let cluster { cluster } else { try await PrivateCluster.shared() }
        self.cluster = found
        let database = found.freshName("crash")
        self.database = database
        let maker = try await PostgresConnection.open(try PostgresAddress(found.url()))
        try await maker.run("CREATE DATABASE \(database)")
        maker.close()
        address = try PostgresAddress(found.url(database: database))
        wire = try HeldLine(to: found.port)
        url = "postgres://postgres@127.0.0.1:\(wire.port)/\(database)"
    }

    func freeze() async throws {
        let holder = try await PostgresConnection.open(address, settings: Self.patient)
        try await holder.run("BEGIN; LOCK TABLE lanekeeper.lane, lanekeeper.claim, lanekeeper.timeline IN SHARE MODE")
        self.holder = holder
    }

    func stopsCommit() async throws -> Bool {
        try await holder?.run("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE \(Self.isStopped))") == "t"
    }

    private static let isStopped = "datname = current_database() AND wait_event_type = 'Lock'"

    func thaw() async throws {
        try await holder?.run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE \(Self.isStopped)")
        try await holder?.run("ROLLBACK")
        holder?.close()
        holder = nil
    }

    deinit { wire.close() }

    /// As a URL names several servers of which one may be written to.
    nonisolated func through(hosts ports: [Int]) -> String {
        let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        return "postgres://postgres@\(hosts)/\(database)?target_session_attrs=read-write"
    }

    /// The first column of the last row.
    @discardableResult
    func sql(_ text: String) async throws -> String? { try await Self.sql(text, at: address) }

    static func sql(_ text: String, at url: String) async throws -> String? {
        try await sql(text, at: try PostgresAddress(url))
    }

    private static func sql(_ text: String, at address: PostgresAddress) async throws -> String? {
        let connection = try await PostgresConnection.open(address, settings: Self.patient)
        defer { connection.close() }
        return try await connection.run(text)
    }

    private static let patient: PostgresSettings = {
        var settings = PostgresSettings()
        settings.statementMilliseconds = 20_000
        settings.lockMilliseconds = 20_000
        settings.idleInTransactionMilliseconds = 0
        return settings
    }()
}

extension PostgresConnection {
    @discardableResult
    func run(_ text: String) async throws(PostgresError) -> String? {
        try await perform { (session) throws(PostgresError) in try session.query(text).last?.text(0, 0) }
    }
}
