import Synchronization

/// Rows of one partition as they come from the store's thread.
final class Rows: Sendable {
    private let rows = Mutex<[StoredLane]>([])

    func add(_ portion: [StoredLane]) { rows.withLock { $0 += portion } }

    var taken: [StoredLane] { rows.withLock { $0 } }
}
