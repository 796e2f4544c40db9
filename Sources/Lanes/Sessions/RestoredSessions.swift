import CardRules
import Synchronization

/// The sessions of the store at start-up, against which each lane is compared: what had not reached it is delivered.
struct RestoredSessions: Sendable {
    let all: [CardKey: Session]
    private let named: [DeviceID: [Session]]

    init(_ sessions: [Session]) {
        all = Dictionary(sessions.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var named: [DeviceID: [Session]] = [:]
        for session in sessions where session.isRunning {
            for device in session.terms.devices { named[device, default: []].append(session) }
        }
        self.named = named
    }

    /// What a lane has not heard of, or not the newest of.
    func unheard(by record: LaneRecord) -> [DeviceCall] {
        let stale = record.sessions.compactMap { member in
            all[member.key].flatMap { $0.version > member.version ? $0 : nil }
        }
        let new = (named[record.device] ?? []).filter { session in
            !record.sessions.contains { $0.key == session.id }
        }
        return (stale + new).map { DeviceCall(device: record.device, event: .session($0, as: nil)) }
    }
}

/// What is left to be done for lanes that were installed.
struct Installed: Sendable {
    /// What they have to ask of other records again (S7).
    var owed: [OwedMessage] = []
    /// What they have not heard of their sessions.
    var unheard: [DeviceCall] = []
    var overdue: [OverdueReissue] = []

    static func += (left: inout Installed, right: Installed) {
        left.owed += right.owed
        left.unheard += right.unheard
        left.overdue += right.overdue
    }
}

/// R7: a device whose cards should have been reissued while nobody was there.
struct OverdueReissue: Sendable {
    let device: DeviceID
    /// The nearest of its overdue cards.
    let limit: WallTime
    let starts: Int
}

/// Sessions as they come from the store's thread.
final class SessionRows: Sendable {
    private let rows = Mutex<[Session]>([])
    func add(_ portion: [Session]) { rows.withLock { $0 += portion } }
    var taken: [Session] { rows.withLock { $0 } }
}
