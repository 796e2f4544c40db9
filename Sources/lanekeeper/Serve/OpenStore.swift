import CardRules
import Foundation
import LaneStore
import Lanes
import Operations
import Postgres
import PushWire

/// Why the store cannot be used, with what to do.
struct StoreFault: Error, Equatable, Sendable, CustomStringConvertible {
    let description: String
    /// Another process has it.
    var isInUse = false

    init(_ error: StoreError, _ url: StoreURL) {
        description = "store.url \(url.shown): \(error.words)"
        if case .inUse = error { isInUse = true }
    }

    init(_ description: String) { self.description = description }
}

/// A store with its end.
struct OpenedStore: Sendable {
    let store: any Store
    /// The node's part in the cluster that PostgreSQL is; `nil` where the store has one owner.
    var cluster: PostgresCluster?
    /// What the store itself knows of why it cannot be used now.
    var trouble: @Sendable () -> StoreError? = { nil }
    /// Suspends until what was taken is written.
    let close: @Sendable () async -> Void
}

/// Opens the store that the configuration names. A file is brought to this version.
/// - Parameters:
///   - migrates: brings the tables in PostgreSQL to this version too; else older ones are refused.
///   - clock: real time, that goes on while the process does not; `nil`: only to look at it, as no node of a cluster.
///   - random: times reconnects.
/// - Throws: `StoreFault`.
func openStore(
    _ configuration: Configuration, migrates: Bool = false, clock: (any SteadyClock)? = nil,
    random: any RandomSource
) async throws -> OpenedStore {
    let url = configuration.store.url.value
    do {
        switch url {
        case .sqlite(let path):
            let store = try await onOwnThread("store-open") { try SQLiteStore.open(path: path) }
            return OpenedStore(store: store) { await store.close() }
        case .postgres(let text):
            let address = try PostgresAddress(text)
            let store = try await PostgresStore.open(
                address, ownership: .leases, migrate: migrates, random: random)
            var cluster: PostgresCluster?
            if let clock {
                var settings = PostgresCluster.Settings()
                settings.name = configuration.cluster.node ?? ProcessInfo.processInfo.hostName
                settings.leaseSeconds = configuration.cluster.leaseSeconds
                cluster = try PostgresCluster(address, store: store, settings: settings, clock: clock, random: random)
            }
            let node = cluster
            return OpenedStore(
                store: store, cluster: node, trouble: { store.trouble },
                close: {
                    await node?.close()
                    await store.close()
                })
        }
    } catch let error as StoreError {
        throw StoreFault(error, url)
    } catch let error as PostgresError {
        throw StoreFault("store.url: \(error)")
    }
}

/// Brings the store that the configuration names to this version.
/// - Throws: `StoreFault`.
func migrateStore(_ configuration: Configuration) async throws {
    let url = configuration.store.url.value
    do {
        switch url {
        case .sqlite(let path):
            await (try await onOwnThread("store-open") { try SQLiteStore.open(path: path) }).close()
        case .postgres(let text): try await PostgresStore.migrate(try PostgresAddress(text))
        }
    } catch let error as StoreError {
        throw StoreFault(error, url)
    } catch let error as PostgresError {
        throw StoreFault("store.url: \(error)")
    }
}

/// One line of JSON.
func jsonText(_ value: JSONValue) -> String {
    var writer = JSONWriter()
    writer.value(value)
    return String(decoding: writer.bytes, as: UTF8.self)
}
