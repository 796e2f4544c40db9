import CardRules
import Synchronization

/// The sessions of this node, running and lately stopped. Changed by the supervisor alone, read by whoever routes.
final class SessionBook: Sendable {
    private struct Entry {
        /// With changes that are on their way to the store.
        var newest: Session
        /// `nil`: never yet.
        var durable: Session?
        /// The devices told that it names them.
        var told: Set<DeviceID> = []
    }

    private let entries = Mutex<[CardKey: Entry]>([:])

    /// What the store holds.
    func durable(_ id: CardKey) -> Session? { entries.withLock { $0[id]?.durable } }

    /// What the next change builds on.
    func newest(_ id: CardKey) -> Session? { entries.withLock { $0[id]?.newest } }

    /// As read from the store; its devices count as told, each lane being compared by itself.
    func learn(_ sessions: [Session]) {
        entries.withLock { entries in
            for session in sessions {
                entries[session.id] = Entry(newest: session, durable: session, told: Set(session.terms.devices))
            }
        }
    }

    /// Everything that the store holds, as far as is known here.
    var allDurable: [Session] { entries.withLock { $0.values.compactMap(\.durable) } }

    /// A change is on its way to the store.
    func propose(_ session: Session) {
        entries.withLock { entries in
            if entries[session.id] == nil { entries[session.id] = Entry(newest: session) }
            entries[session.id]?.newest = session
        }
    }

    /// It could not be kept, and unless another change builds on it, it never was.
    func withdraw(_ session: Session) {
        entries.withLock { entries in
            guard let entry = entries[session.id], entry.newest === session else { return }
            if let durable = entry.durable { entries[session.id]?.newest = durable } else { entries[session.id] = nil }
        }
    }

    /// It is durable.
    /// - Returns: whom to tell: the devices that it names and those that it named; empty when a later version has been
    ///   told already.
    func settle(_ session: Session) -> [DeviceID] {
        entries.withLock { entries in
            var entry = entries[session.id] ?? Entry(newest: session)
            guard entry.durable?.version ?? 0 <= session.version else { return [] }
            let left = entry.told.subtracting(session.terms.devices).sorted()
            if entry.newest.version < session.version { entry.newest = session }
            entry.durable = session
            entry.told = session.isRunning ? Set(session.terms.devices) : []
            entries[session.id] = entry
            return session.terms.devices + left
        }
    }

    func forget(stoppedBefore time: WallTime) {
        entries.withLock { entries in
            entries = entries.filter { entry in
                entry.value.durable !== entry.value.newest || entry.value.newest.stoppedAt.map { $0 >= time } ?? true
            }
        }
    }
}
