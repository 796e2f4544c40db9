public import CardRules

/// What an operator looks at and turns.
extension Supervisor {
    /// Entries of one device's timeline, or of all (`nil`), in order of their numbers: with `after` the first `limit` above
    /// it, without the newest `limit`. A decision is there within a second or so.
    /// - Throws: `StoreError`.
    public nonisolated func timeline(
        device: DeviceID?, after: Int64?, limit: Int
    ) async throws -> [SequencedTimelineRow] {
        try await environment.store.timeline(device: device, after: after, limit: limit)
    }

    /// Nothing more leaves for that gateway, from when this is durable until `resume`, over restarts too; nothing is lost
    /// meanwhile.
    /// - Throws: `StoreError`; then nothing has changed.
    public func pause(_ gateway: Gateway) async throws(StoreError) {
        try await set(gateway, isPaused: true)
    }

    /// - Throws: `StoreError`; then the gateway is still paused.
    public func resume(_ gateway: Gateway) async throws(StoreError) {
        try await set(gateway, isPaused: false)
    }

    /// The gateways that are paused.
    /// - Throws: `StoreError`.
    public nonisolated func pausedGateways() async throws -> Set<Gateway> {
        try await environment.store.pausedGateways()
    }

    /// The pusher is told in the order in which the store has written: its last word is what a restart would say.
    private func set(_ gateway: Gateway, isPaused: Bool) async throws(StoreError) {
        var batch = CommitBatch()
        batch.pauses = [gateway: isPaused]
        let pusher = environment.pusher
        let outcome = await withCheckedContinuation { done in
            environment.store.commit(batch) { outcome in
                if case .landed = outcome {
                    if isPaused { pusher.pause(gateway) } else { pusher.resume(gateway) }
                }
                done.resume(returning: outcome)
            }
        }
        if case .failed(let error) = outcome { throw error }
        if isPaused { paused.insert(gateway) } else { paused.remove(gateway) }
        pauseChanges += 1
        environment.cluster?.announce(.pauses)
    }
}
