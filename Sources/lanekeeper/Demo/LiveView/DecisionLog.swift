import CardRules
import Lanes
import Synchronization

/// The last decisions of the phones that can be picked, and the last takeovers of all, as lanes make them.
final class DecisionLog: Sendable {
    /// For each device, and of takeovers; the oldest goes.
    static let kept = 50

    private struct State {
        var rings: [DeviceID: [TimelineEntry]]
        var takeovers: [(device: DeviceID, entry: TimelineEntry)] = []
    }

    private let state: Mutex<State>

    /// - Parameter watched: nothing but takeovers is kept of other devices.
    init(watching watched: some Sequence<DeviceID>) {
        var rings: [DeviceID: [TimelineEntry]] = [:]
        for device in watched { rings[device] = [] }
        state = Mutex(State(rings: rings))
    }

    func record(_ device: DeviceID, _ entry: TimelineEntry) {
        state.withLock { state in
            if entry.isTakeover { state.takeovers.keepNewest((device, entry)) }
            state.rings[device]?.keepNewest(entry)
        }
    }

    /// Of one phone under all its records, the newest last.
    func decisions(of devices: [DeviceID]) -> [TimelineEntry] {
        let rings = state.withLock { state in devices.map { state.rings[$0] ?? [] } }
        if rings.count == 1 { return rings[0] }
        return Array(rings.flatMap { $0 }.sorted { $0.at < $1.at }.suffix(DecisionLog.kept))
    }

    /// The newest last.
    var takeovers: [(device: DeviceID, entry: TimelineEntry)] { state.withLock { $0.takeovers } }
}

extension TimelineEntry {
    /// Another game came in front; a first front (T12) is none.
    var isTakeover: Bool { kind == .takeover && rule != .t12 }
}

extension Array {
    fileprivate mutating func keepNewest(_ element: Element) {
        if count >= DecisionLog.kept { removeFirst(count - DecisionLog.kept + 1) }
        append(element)
    }
}
