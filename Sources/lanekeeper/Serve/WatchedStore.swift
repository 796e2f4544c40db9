import CardRules
import Lanes
import Operations
import Synchronization

/// A store that is looked at as it is used: what became of its last commit says whether it can be written.
final class WatchedStore: Store {
    private let store: any Store
    private let clock: any SteadyClock
    private let log: Log
    private let state = Mutex(State())

    private struct State: Sendable {
        var failure: StoreError?
        var failedAt = SteadyTime(nanoseconds: 0)
        /// Commits under way, and since when none of them has come back.
        var waiting = 0
        var silentSince = SteadyTime(nanoseconds: 0)
    }

    /// What could not be written is written again every second; a failure that nothing has followed for so long is over, and
    /// the next one is told again.
    static let failureSeconds = 10.0
    /// Commits that take longer are trouble.
    static let silenceSeconds = 10.0

    init(_ store: any Store, clock: any SteadyClock, log: Log) {
        (self.store, self.clock, self.log) = (store, clock, log)
    }

    /// Why nothing can be written now, a short sentence; `nil`: it can, as far as is known.
    var trouble: String? {
        let now = clock.uptime
        return state.withLock { state in
            if let failure = state.failure, now.seconds(since: state.failedAt) < Self.failureSeconds {
                return "the store cannot write: \(failure.words)"
            }
            let silent = state.waiting > 0 ? now.seconds(since: state.silentSince) : 0
            return silent < Self.silenceSeconds ? nil : "the store has not answered for \(Int(silent)) s"
        }
    }

    // MARK: - Store

    func commit(_ batch: CommitBatch, done: @escaping @Sendable (CommitOutcome) -> Void) {
        let now = clock.uptime
        state.withLock { state in
            if state.waiting == 0 { state.silentSince = now }
            state.waiting += 1
        }
        store.commit(batch) { [self] outcome in
            cameBack(outcome)
            done(outcome)
        }
    }

    private func cameBack(_ outcome: CommitOutcome) {
        let now = clock.uptime
        let (before, isOver): (StoreError?, Bool) = state.withLock { state in
            let before = state.failure
            let isOver = now.seconds(since: state.failedAt) >= Self.failureSeconds
            state.waiting -= 1
            state.silentSince = now
            switch outcome {
            case .landed: state.failure = nil
            case .failed(.fenced): break  // another node has those partitions: the store is as it was
            case .failed(let error):
                state.failure = error
                state.failedAt = now
            }
            return (before, isOver)
        }
        switch (before, outcome) {
        case (_, .failed(.fenced)): log.info("another node has taken partitions over")
        case (_, .failed(let error)) where before == nil || isOver:
            log.error("the store cannot write", [.detail: .text(error.words)])
        case (.some, .landed): log.info("the store writes again")
        default: break
        }
    }

    func loadLanes(partition: Int, _ take: @Sendable ([StoredLane]) -> Void) async throws -> [DamagedLane] {
        try await store.loadLanes(partition: partition, take)
    }

    func loadLane(_ device: DeviceID) async throws -> StoredLane? { try await store.loadLane(device) }

    func timestampMark(partition: Int) async throws -> Int64? { try await store.timestampMark(partition: partition) }

    func loadOwners(_ take: @Sendable ([PhoneOwner]) -> Void) async throws { try await store.loadOwners(take) }

    func loadSessions(_ take: @Sendable ([Session]) -> Void) async throws { try await store.loadSessions(take) }

    func loadSlate(since: WallTime) async throws -> [ArrivedLine] { try await store.loadSlate(since: since) }

    func timeline(device: DeviceID?, after: Int64?, limit: Int) async throws -> [SequencedTimelineRow] {
        try await store.timeline(device: device, after: after, limit: limit)
    }

    func pausedGateways() async throws -> Set<Gateway> { try await store.pausedGateways() }
}
