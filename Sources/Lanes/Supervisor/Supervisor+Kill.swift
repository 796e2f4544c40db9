public import CardRules

extension Supervisor {
    /// Throws one lane away between two turns, as a crash of it would, and starts it again from the store. The other
    /// lanes go on.
    ///
    /// Pushes of it that wait for its record do not leave; what is under way is answered to nobody: its verdict is
    /// refused as of an earlier generation (`TraceEvent.fenced`). A start under way is believed and stays spent (L10), an
    /// owed end is sent again (L1), and one update a card may repeat. Calls for the device wait meanwhile.
    ///
    /// While the store is away it is tried again every `storeRetrySeconds`.
    /// A lane that is thrown away too often (`RestartIntensity`) is parked: it goes on with the first call after a while,
    /// or by `unpark`. Its calls are answered `unavailable` meanwhile.
    /// - Returns: once the lane is to go on; `false` where there is no such lane, somebody else is at it, or it is parked.
    /// - Throws: `StoreError` when its row cannot be read: its calls are answered `unavailable` until it is killed again
    ///   and can be. `CancellationError`.
    public nonisolated func kill(_ device: DeviceID) async throws -> Bool {
        try await restart(device, isUnparking: false)
    }

    /// Lets a parked lane go on, or one whose row could not be read.
    /// - Returns: once it is to go on; `false` where no such lane rests.
    /// - Throws: as `kill`.
    public nonisolated func unpark(_ device: DeviceID) async throws -> Bool {
        try await restart(device, isUnparking: true)
    }

    /// The lanes that rest because they were thrown away too often, in order.
    public func parkedLanes() async -> [ParkedLane] {
        var parked: [ParkedLane] = []
        for shard in shards { parked += await shard.parkedLanes }
        return parked.sorted { $0.device < $1.device }
    }

    private nonisolated func restart(_ device: DeviceID, isUnparking: Bool) async throws -> Bool {
        let inbox = inbox(of: device)
        let isWritten = await withCheckedContinuation { continuation in
            inbox.offer(
                KillOrder(device: device, isUnparking: isUnparking) { continuation.resume(returning: $0) })
        }
        return isWritten ? try await read(device) : false
    }

    /// Reads a lane that has fallen, and tells its shard. One lane after the other.
    nonisolated func read(_ device: DeviceID) async throws -> Bool {
        let inbox = inbox(of: device)
        while true {
            do {
                let floor = try await environment.store.timestampMark(partition: partition(of: device)) ?? 0
                let row = try await environment.store.loadLane(device)
                inbox.offer(.found(row, timestampFloor: floor), of: device)
                return row != nil
            } catch StoreError.unavailable(let detail) {
                environment.trace.record(.storeFailed(.unavailable(detail: detail)))
                inbox.offer(.waits, of: device)
                let next = environment.clock.now.advanced(bySeconds: environment.storeRetrySeconds)
                try await environment.clock.sleep(until: next)
                inbox.offer(.reads, of: device)
            } catch {
                inbox.offer(.unreadable, of: device)
                throw error
            }
        }
    }
}
