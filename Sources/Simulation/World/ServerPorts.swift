internal import CardRules
internal import Lanes
internal import PushWire
internal import Synchronization

/// What one process of the server asks of the world, until it dies: store, pusher and trace in one, with nothing done at
/// once. The world takes what was asked for between two jobs.
final class ServerPorts: Store, Pusher, Trace {
    enum Ask: Sendable {
        case commit(CommitBatch, done: @Sendable (CommitOutcome) -> Void)
        case push(OutgoingPush)
        case pause(Gateway, Bool)
        case reply(phone: Int, call: Int, DeviceReply)
        case trace(TraceEvent)
        /// What the world asked for is done.
        case done(Errand)
    }

    private struct State {
        var isDead = false
        var asks: [Ask] = []
    }

    private let state = Mutex(State())
    private let disk: MemoryStore
    private let tracesDecisions: Bool

    init(disk: MemoryStore, tracesDecisions: Bool) {
        self.disk = disk
        self.tracesDecisions = tracesDecisions
    }

    func add(_ ask: Ask) {
        let isTaken = state.withLock { state in
            guard !state.isDead else { return false }
            state.asks.append(ask)
            return true
        }
        if !isTaken, case .commit(_, let done) = ask { done(.failed(.unavailable(detail: "the process is gone"))) }
    }

    func take() -> [Ask] {
        state.withLock { state in
            defer { state.asks = [] }
            return state.asks
        }
    }

    /// From now on nothing that the process asks for happens. What it had asked for and nobody has taken is lost.
    func die() {
        let rest = state.withLock { state in
            state.isDead = true
            defer { state.asks = [] }
            return state.asks
        }
        for case .commit(_, let done) in rest { done(.failed(.unavailable(detail: "the process is gone"))) }
    }

    // MARK: Store

    func commit(_ batch: CommitBatch, done: @escaping @Sendable (CommitOutcome) -> Void) {
        add(.commit(batch, done: done))
    }

    func loadLanes(partition: Int, _ take: @Sendable ([StoredLane]) -> Void) async throws -> [DamagedLane] {
        try await disk.loadLanes(partition: partition, take)
    }
    func loadLane(_ device: DeviceID) async throws -> StoredLane? { try await disk.loadLane(device) }
    func timestampMark(partition: Int) async throws -> Int64? { try await disk.timestampMark(partition: partition) }
    func loadOwners(_ take: @Sendable ([PhoneOwner]) -> Void) async throws { try await disk.loadOwners(take) }
    func loadSessions(_ take: @Sendable ([Session]) -> Void) async throws { try await disk.loadSessions(take) }
    func loadSlate(since: WallTime) async throws -> [ArrivedLine] { try await disk.loadSlate(since: since) }
    func timeline(device: DeviceID?, after: Int64?, limit: Int) async throws -> [SequencedTimelineRow] {
        try await disk.timeline(device: device, after: after, limit: limit)
    }
    func pausedGateways() async throws -> Set<Gateway> { try await disk.pausedGateways() }

    // MARK: Pusher

    func send(_ pushes: [OutgoingPush]) -> [OutgoingPush] {
        state.withLock { state in
            guard !state.isDead else { return }
            for push in pushes { state.asks.append(.push(push)) }
        }
        return []
    }

    func pause(_ gateway: Gateway) { add(.pause(gateway, true)) }
    func resume(_ gateway: Gateway) { add(.pause(gateway, false)) }

    // MARK: Trace

    func record(_ event: TraceEvent) {
        switch event {
        case .restarted, .parked, .fenced: add(.trace(event))
        case .decided where tracesDecisions: add(.trace(event))
        default: break
        }
    }
}
