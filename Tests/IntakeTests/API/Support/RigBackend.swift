import CardRules
import Lanes
import Synchronization

@testable import Intake

/// What the API asks besides the lanes, as a test has it.
final class RigBackend: APIBackend {
    private struct State {
        var readiness = APIReadiness()
        var rows: [SequencedTimelineRow] = []
        var failure: StoreError?
        var listeners: [AsyncStream<Void>.Continuation] = []
        var reads = 0
    }
    private let state = Mutex(State())

    func be(_ readiness: APIReadiness) { state.withLock { $0.readiness = readiness } }
    func fail(with error: StoreError?) { state.withLock { $0.failure = error } }
    var reads: Int { state.withLock { $0.reads } }

    /// New rows, and whoever listens is told.
    func add(_ rows: [TimelineRow]) {
        let listeners = state.withLock { state in
            for row in rows { state.rows.append(SequencedTimelineRow(sequence: Int64(state.rows.count + 1), row: row)) }
            return state.listeners
        }
        for listener in listeners { listener.yield() }
    }

    func add(_ detail: String, of device: DeviceID, at time: WallTime = APIRig.evening) {
        let entry = TimelineEntry(at: time, key: .slate, kind: .sync, rule: .a1, detail: detail)
        add([TimelineRow(device: device, entry: entry, apnsID: nil, push: nil)])
    }

    // MARK: - APIBackend

    var readiness: APIReadiness { state.withLock { $0.readiness } }

    func metrics() async -> [UInt8] { Array("lanekeeper_up 1\n".utf8) }
}

extension RigBackend: TimelineSource {
    func timeline(device: DeviceID?, after: Int64?, limit: Int) async throws -> [SequencedTimelineRow] {
        try state.withLock { state in
            state.reads += 1
            if let failure = state.failure { throw failure }
            let rows = state.rows.filter { (device ?? $0.row.device) == $0.row.device }
            guard let after else { return Array(rows.suffix(limit)) }
            return Array(rows.filter { $0.sequence > after }.prefix(limit))
        }
    }

    func follow(_ tell: @Sendable () -> Void) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.listeners.append(continuation) }
        for await _ in stream { tell() }
    }
}
