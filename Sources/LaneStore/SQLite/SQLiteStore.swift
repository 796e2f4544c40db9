public import CardRules
internal import Dispatch
internal import Foundation
public import Lanes
internal import Synchronization

/// The embedded store: one SQLite file, written by one thread of its own.
///
/// Batches that arrive while a commit runs share the next transaction, in their order (group commit). Durable means: in
/// the write-ahead log and flushed. A second process on the same file is refused at its start by a lock file, and one
/// that gets past it by an epoch that each commit checks.
public final class SQLiteStore: Store {
    private let queue: StoreQueue
    private let end: DispatchGroup

    public struct Settings: Hashable, Sendable {
        /// How long a timeline entry is kept, counted back from the newest one: tonight and the night before.
        public var timelineSeconds: Int64 = 36 * 3600
        /// Pages that SQLite keeps in memory, KiB.
        public var cacheKiB = 65_536
        /// The write-ahead log is moved into the file when it is longer than this and nothing waits, ...
        public var idleLogBytes = 8 << 20
        /// ... and between two commits when it is longer than this.
        public var maxLogBytes = 64 << 20

        public init() {}
    }

    /// Claims are kept this long after the newest: far beyond their night.
    static let claimSeconds: Int64 = 4 * 86_400
    /// Rows read in one go; commits that wait go between.
    static let portion = 1000
    /// Rows and batches that one transaction takes.
    static let maxBatches = 256
    static let maxRows = 20_000

    /// Opens the file, and makes it where there is none; checks it, brings it to this version. Blocks for as long as
    /// that takes (a second or so for 100 MB): for the program's start, not for tasks.
    /// - Throws: `.inUse`, `.newerSchema`, `.corrupt` where the check finds damage, `.unavailable` with SQLite's words.
    public static func open(path: String, settings: Settings = Settings()) throws(StoreError) -> SQLiteStore {
        let store = SQLiteStore()
        let opened = Opening()
        let (queue, end) = (store.queue, store.end)
        end.enter()
        Thread.detachNewThread {
            serve(path: path, settings: settings, queue: queue, opened: opened)
            end.leave()
        }
        if let error = opened.wait() { throw error }
        return store
    }

    private init() {
        queue = StoreQueue()
        end = DispatchGroup()
    }

    deinit { queue.close() }  // what was taken is still written

    public func commit(_ batch: CommitBatch, done: @escaping @Sendable (CommitOutcome) -> Void) {
        if let refusal = queue.offer(.commit(batch, done: done)) {
            // Answered from elsewhere than the caller's own stack, as every other outcome is.
            DispatchQueue.global().async { done(.failed(refusal)) }
        }
    }

    public func loadLanes(
        partition: Int, _ take: @Sendable ([StoredLane]) -> Void
    ) async throws -> [DamagedLane] {
        var last = ""
        var damaged: [DamagedLane] = []
        while true {
            let after = last
            let rows = try await read { writer throws(StoreError) in
                try writer.lanes(partition: partition, after: after, limit: Self.portion)
            }
            damaged += rows.damaged
            guard let newest = rows.last else { return damaged }
            last = newest
            take(rows.lanes)
        }
    }

    public func loadLane(_ device: DeviceID) async throws -> StoredLane? {
        try await read { writer throws(StoreError) in try writer.lane(device) }
    }

    public func timestampMark(partition: Int) async throws -> Int64? {
        try await read { writer throws(StoreError) in try writer.mark(partition: partition) }
    }

    public func loadOwners(_ take: @Sendable ([PhoneOwner]) -> Void) async throws {
        var last: [UInt8] = []
        while true {
            let after = last
            let owners = try await read { writer throws(StoreError) in
                try writer.owners(after: after, limit: Self.portion)
            }
            guard let newest = owners.last else { return }
            last = newest.token
            take(owners)
        }
    }

    public func loadSessions(_ take: @Sendable ([Session]) -> Void) async throws {
        var last = ""
        while true {
            let after = last
            let sessions = try await read { writer throws(StoreError) in
                try writer.sessions(after: after, limit: Self.portion)
            }
            guard let newest = sessions.last else { return }
            last = newest.id.text
            take(sessions)
        }
    }

    public func loadSlate(since: WallTime) async throws -> [ArrivedLine] {
        try await read { writer throws(StoreError) in try writer.slate(since: since) }
    }

    public func timeline(device: DeviceID?, after: Int64?, limit: Int) async throws -> [SequencedTimelineRow] {
        try await read { writer throws(StoreError) in
            try writer.timeline(device: device, after: after, limit: limit)
        }
    }

    public func pausedGateways() async throws -> Set<Gateway> {
        try await read { writer throws(StoreError) in try writer.pausedGateways() }
    }

    /// Takes nothing more, finishes what waits, closes the file and lets go of the lock. Suspends until that is done.
    public func close() async {
        queue.close()
        await withCheckedContinuation { continuation in
            end.notify(queue: .global()) { continuation.resume() }
        }
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteWriter) throws(StoreError) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let refusal = queue.offer(
                .read { writer in
                    guard let writer else {
                        continuation.resume(throwing: StoreError.unavailable(detail: "the store is closed"))
                        return
                    }
                    do throws(StoreError) {
                        continuation.resume(returning: try body(writer))
                    } catch {
                        continuation.resume(throwing: error)
                    }
                })
            if let refusal { continuation.resume(throwing: refusal) }
        }
    }
}
