import CardRules
import Lanes
import Simulation
import Synchronization

/// The leases and the other nodes as a test has them, over one store, which writes only what its epochs allow.
final class FakeCluster: Cluster {
    let events: AsyncStream<ClusterEvent>
    private let teller: AsyncStream<ClusterEvent>.Continuation
    private let store: MemoryStore
    private let state = Mutex(State())

    struct State {
        var held: [Int: Int64] = [:]
        var mayAct = true
        var isAway = false
        var sessions: [ChangedSession] = []
        var awaited: Set<DeviceID> = []
        var released: [Int] = []
        var posted: [DeviceID] = []
        var applied: [PostID] = []
        var postponed: [PostID] = []
    }

    init(over store: MemoryStore) {
        (events, teller) = AsyncStream.makeStream()
        self.store = store
        store.fence { [weak self] batch in self?.mayWrite(batch) ?? true }
    }

    private func mayWrite(_ batch: CommitBatch) -> Bool {
        var places = Set(batch.lanes.map { partition(of: $0.record.device) } + batch.applied.map(\.id.partition))
        places.formUnion(batch.claims.map { partition(of: $0.device) } + batch.marks.keys)
        let held = now.held
        return places.allSatisfy { held[$0] != nil && held[$0] == batch.epochs[$0] }
    }

    // What a test does and sees.

    var now: State { state.withLock { $0 } }
    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
    func tell(_ event: ClusterEvent) { teller.yield(event) }

    func gain(_ place: Int, epoch: Int64) {
        change { $0.held[place] = epoch }
        tell(.gained(partition: place, epoch: epoch))
    }

    func lose(_ place: Int) {
        change { $0.held[place] = nil }
        tell(.lost(partitions: [place]))
    }

    // What a node asks.

    func run(followsTimeline: @escaping @Sendable () -> Bool) async {}
    var mayAct: Bool { now.mayAct }
    var held: [Int: Int64] { now.held }
    func listen(to partition: Int, epoch: Int64) {}
    func retire() {}
    func announce(_ news: ClusterNews) {}
    func applied(_ posts: [PostID]) { change { $0.applied += posts } }
    func postponed(_ posts: [PostID]) { change { $0.postponed += posts } }
    func handedOver(_ token: [UInt8], by older: DeviceID) {}

    func release(_ partition: Int, epoch: Int64) {
        change { state in
            state.released.append(partition)
            if state.held[partition] == epoch { state.held[partition] = nil }
        }
    }

    func post(_ event: PostedEvent, hear: (@Sendable (DeviceReply) -> Void)?) {
        change { $0.posted.append(event.device) }
        hear?(DeviceReply(answer: .done, needsToken: false))
    }

    /// Every phone has one record.
    func claimPhone(_ token: [UInt8], for device: DeviceID, hear: @escaping @Sendable (DeviceID?) -> Void) { hear(nil) }

    func slate(after number: Int64) async throws -> [NumberedLine] {
        try await store.loadSlate(since: .distantPast).enumerated().dropFirst(Int(number)).map { place, line in
            NumberedLine(number: Int64(place + 1), tag: 0, arrived: line)
        }
    }

    func sessions(changedAfter change: Int64) async throws -> [ChangedSession] {
        if now.isAway { throw StoreError.unavailable(detail: "away") }
        return now.sessions.filter { $0.change > change }
    }

    func isAwaited(_ device: DeviceID) async throws -> Bool {
        if now.isAway { throw StoreError.unavailable(detail: "away") }
        return now.awaited.contains(device)
    }
}
