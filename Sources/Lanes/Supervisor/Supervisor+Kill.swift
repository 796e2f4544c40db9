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
    /// - Returns: once the lane is to go on; `false` where there is no such lane, or somebody else is at it.
    /// - Throws: `StoreError` when its row cannot be read: its calls are answered `unavailable` until it is killed again
    ///   and can be. `CancellationError`.
    public nonisolated func kill(_ device: DeviceID) async throws -> Bool {
        let inbox = inbox(of: device)
        let isWritten = await withCheckedContinuation { continuation in
            inbox.offer(KillOrder(device: device) { continuation.resume(returning: $0) })
        }
        guard isWritten else { return false }
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
