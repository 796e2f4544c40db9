import CardRules
import Foundation
import LaneStore
import Lanes
import Measuring
import Operations
import Postgres
import PrivatePostgres

enum StoreKind: String, CaseIterable, Sendable {
    case sqlite = "SQLite"
    case postgres = "PostgreSQL"

    /// In names of figures.
    var key: String { self == .sqlite ? "sqlite" : "postgres" }
}

/// A folder of this run's own, gone with it.
struct StoreFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("lanekeeper-store-\(getpid())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// Where a store of one kind keeps its rows; it may be opened and closed again.
struct StorePlace: Sendable {
    let kind: StoreKind
    private let folder: StoreFolder
    private let cluster: PrivateCluster?
    private var name = "first"

    /// - Throws: `ClusterFault` where PostgreSQL cannot be started.
    init(_ kind: StoreKind, _ folder: StoreFolder) async throws {
        self.kind = kind
        self.folder = folder
        // Its last lines win: what is durable here is durable.
        cluster =
            kind == .postgres
            ? try await PrivateCluster.start(
                settings: "fsync = on\nfull_page_writes = on\nshared_buffers = 256MB\nmax_wal_size = 4GB\n") : nil
    }

    /// Another set of rows.
    func fresh(_ name: String) -> StorePlace {
        var place = self
        place.name = name
        return place
    }

    private var file: String { "\(folder.path)/\(name).db" }

    /// `nil`: a file.
    var address: PostgresAddress? { get throws { try cluster.map { try PostgresAddress($0.url()) } } }

    var settings: PostgresStore.Settings {
        var settings = PostgresStore.Settings()
        settings.schema = name
        return settings
    }

    /// For a node alone.
    func open() async throws -> any Store {
        guard let address = try address else { return try SQLiteStore.open(path: file) }
        return try await PostgresStore.open(address, settings: settings, migrate: true, random: MachineRandom(seed: 1))
    }

    func close(_ store: any Store) async {
        if let store = store as? SQLiteStore { await store.close() }
        if let store = store as? PostgresStore { await store.close() }
    }

    /// CPU that the server's processes have taken so far; `nil` where the store is in this process.
    var serverCPUSeconds: Double? {
        guard let cluster else { return nil }
        let text = (try? String(contentsOfFile: "\(cluster.folder)/data/postmaster.pid", encoding: .utf8)) ?? ""
        guard let first = text.split(separator: "\n").first.flatMap({ Int32($0) }) else { return nil }
        return ProcessTimes.cpuSeconds(ofTree: first)
    }

    /// Of all rows, the log left out.
    func diskBytes() async -> Int {
        guard let cluster else {
            let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
            return size ?? 0
        }
        guard let address = try? PostgresAddress(cluster.url()),
            let connection = try? await PostgresConnection.open(address, settings: PostgresSettings())
        else { return 0 }
        defer { connection.close() }
        let query =
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            + "WHERE n.nspname = '\(name)' AND c.relkind = 'r'"
        let text = try? await connection.perform { (session) throws(PostgresError) in
            try session.query(query).last?.text(0, 0)
        }
        return text.flatMap { $0 }.flatMap { Int($0) } ?? 0
    }
}
