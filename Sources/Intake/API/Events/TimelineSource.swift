internal import CardRules
internal import Lanes

/// Where timelines are read: the system itself; in tests, what they say it is.
protocol TimelineSource: Sendable {
    /// As `Supervisor.timeline`.
    /// - Throws: `StoreError`.
    func timeline(device: DeviceID?, after: Int64?, limit: Int) async throws -> [SequencedTimelineRow]

    /// Until the task is cancelled: tells whenever there may be new rows of any device.
    func follow(_ tell: @Sendable () -> Void) async
}

extension Supervisor: TimelineSource {
    nonisolated func follow(_ tell: @Sendable () -> Void) async {
        guard let subscription = hub.subscribe(device: nil) else { return }
        for await _ in subscription.news { tell() }
        subscription.cancel()
    }
}
