public import CardRules
public import Lanes

/// A store whose commits are timed and counted; everything else is passed on.
public final class MeasuredStore: Store {
    private let store: any Store
    private let metrics: SystemMetrics
    private let clock: any SteadyClock

    public init(_ store: any Store, metrics: SystemMetrics, clock: any SteadyClock) {
        self.store = store
        self.metrics = metrics
        self.clock = clock
    }

    public func commit(_ batch: CommitBatch, done: @escaping @Sendable (CommitOutcome) -> Void) {
        let began = clock.uptime
        let rows =
            batch.lanes.count + batch.removed.count + batch.claims.count + batch.owners.count + batch.timeline.count
            + batch.slateLines.count + batch.sessions.count
        store.commit(batch) { [metrics, clock] outcome in
            switch outcome {
            case .landed:
                metrics.commitSeconds.observe(clock.uptime.seconds(since: began))
                metrics.commitRows.observe(Double(rows))
            case .failed: metrics.commitFailures.add()
            }
            done(outcome)
        }
    }

    public func loadLanes(partition: Int, _ take: @Sendable ([StoredLane]) -> Void) async throws {
        try await store.loadLanes(partition: partition, take)
    }

    public func loadLane(_ device: DeviceID) async throws -> StoredLane? { try await store.loadLane(device) }

    public func timestampMark(partition: Int) async throws -> Int64? {
        try await store.timestampMark(partition: partition)
    }

    public func loadOwners(_ take: @Sendable ([PhoneOwner]) -> Void) async throws { try await store.loadOwners(take) }

    public func loadSessions(_ take: @Sendable ([Session]) -> Void) async throws { try await store.loadSessions(take) }

    public func loadSlate(since: WallTime) async throws -> [ArrivedLine] { try await store.loadSlate(since: since) }
}
