import CardRules
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

extension StoreError {
    /// For people.
    var words: String {
        switch self {
        case .inUse(let path): "\(path) is in use by another lanekeeper: stop that one first"
        case .newerSchema(let found, let known):
            "it was written by a newer version (\(found), this one knows \(known)): install that one again, or restore a backup"
        case .corrupt(let table, let key, let detail):
            "\(table) \(key) is damaged: \(detail). Restore a backup, or ask sqlite3's .recover for a file"
        case .unavailable(let detail): detail
        case .fenced: "a newer owner has taken it over"
        }
    }
}

/// A store with its end.
struct OpenedStore: Sendable {
    let store: any Store
    /// Why nothing can be written now, in words for `readyz`; `nil`: it can.
    let trouble: @Sendable () -> String?
    /// Suspends until what was taken is written.
    let close: @Sendable () async -> Void
}

/// Opens the store that the configuration names. A file is brought to this version.
/// - Parameters:
///   - migrates: brings the tables in PostgreSQL to this version too; else older ones are refused.
///   - owns: takes over from whoever writes in PostgreSQL now; a look at it must not. A file has one owner in any case.
///   - random: times reconnects.
/// - Throws: `StoreFault`.
func openStore(
    _ configuration: Configuration, migrates: Bool = false, owns: Bool = true, random: any RandomSource
) async throws -> OpenedStore {
    let url = configuration.store.url.value
    do {
        switch url {
        case .sqlite(let path):
            let store = try await onOwnThread("store-open") { try SQLiteStore.open(path: path) }
            return OpenedStore(store: store, trouble: { nil }, close: { await store.close() })
        case .postgres(let text):
            let store = try await PostgresStore.open(
                try PostgresAddress(text), ownership: owns ? .everything : .leases, migrate: migrates, random: random)
            return OpenedStore(
                store: store, trouble: { store.trouble.map { "the store cannot be used: \($0.words)" } },
                close: { await store.close() })
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
