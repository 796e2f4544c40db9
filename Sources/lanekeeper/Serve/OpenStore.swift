import CardRules
import LaneStore
import Lanes
import Operations
import PushWire

/// Why the store cannot be used, with what to do.
struct StoreFault: Error, Equatable, Sendable, CustomStringConvertible {
    let description: String
    /// Another process has it.
    var isInUse = false

    init(_ error: StoreError, _ url: StoreURL) {
        let what =
            switch error {
            case .inUse(let path): "\(path) is in use by another lanekeeper: stop that one first"
            case .newerSchema(let found, let known):
                "it was written by a newer version (\(found), this one knows \(known)): install that one again, or restore a backup"
            case .corrupt(let table, let key, let detail):
                "\(table) \(key) is damaged: \(detail). Restore a backup, or ask sqlite3's .recover"
            case .unavailable(let detail): detail
            case .fenced: "a newer owner has taken it over"
            }
        description = "store.url \(url.shown): \(what)"
        if case .inUse = error { isInUse = true }
    }

    init(_ description: String) { self.description = description }
}

/// Opens the store that the configuration names, brought to this version.
/// - Throws: `StoreFault`.
func openStore(_ configuration: Configuration) async throws -> SQLiteStore {
    let url = configuration.store.url.value
    guard case .sqlite(let path) = url else {
        throw StoreFault("store.url \(url.shown): a store in PostgreSQL is not there yet; sqlite:PATH is")
    }
    do {
        return try await onOwnThread("store-open") { try SQLiteStore.open(path: path) }
    } catch let error as StoreError {
        throw StoreFault(error, url)
    }
}

/// One line of JSON.
func jsonText(_ value: JSONValue) -> String {
    var writer = JSONWriter()
    writer.value(value)
    return String(decoding: writer.bytes, as: UTF8.self)
}
