public import Lanes

extension StoreError {
    /// For people.
    public var words: String {
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
