import CardRules
import Synchronization

/// The newest snapshot of the slate, for whoever looks at the night from another thread.
final class SlateBoard: Sendable {
    private let newest = Mutex(SlateSnapshot.empty)

    var snapshot: SlateSnapshot {
        get { newest.withLock { $0 } }
        set { newest.withLock { $0 = newValue } }
    }
}
