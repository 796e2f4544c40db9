public import CardRules
import Synchronization

/// Tells followers that a timeline has grown and that what is new can be read from the store. It carries no entries: a
/// follower reads on from the number it has (`Supervisor.timeline`), so that nothing is lost and nothing queues up.
public final class TimelineHub: Sendable {
    private struct State {
        var next = 0
        var ofAll: [Int: AsyncStream<Void>.Continuation] = [:]
        var ofDevice: [DeviceID: [Int: AsyncStream<Void>.Continuation]] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)
    private let followersAtMost: Int

    init(followersAtMost: Int) { self.followersAtMost = followersAtMost }

    /// Follows one device's timeline, or all (`nil`). Begin before the first read: then nothing falls in between.
    /// - Returns: `nil` when as many follow as may (503).
    public func subscribe(device: DeviceID?) -> TimelineSubscription? {
        let (news, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let place: Int? = state.withLock { state in
            guard state.count < followersAtMost else { return nil }
            state.next += 1
            state.count += 1
            count.store(state.count, ordering: .releasing)
            if let device {
                state.ofDevice[device, default: [:]][state.next] = continuation
            } else {
                state.ofAll[state.next] = continuation
            }
            return state.next
        }
        return place.map { TimelineSubscription(news: news, hub: self, place: $0, device: device) }
    }

    /// Followers now.
    public var followers: Int { count.load(ordering: .relaxed) }

    /// Rows are durable. Costs one load of an atomic while nobody follows.
    func tell(_ rows: [TimelineRow]) {
        guard !rows.isEmpty, count.load(ordering: .acquiring) > 0 else { return }
        let told = state.withLock { state in
            var told = Array(state.ofAll.values)
            guard !state.ofDevice.isEmpty else { return told }
            for device in Set(rows.map(\.device)) { told += state.ofDevice[device].map { Array($0.values) } ?? [] }
            return told
        }
        for follower in told { follower.yield() }
    }

    /// Rows of other nodes are durable: nobody says whose.
    func tellAll() {
        let told = state.withLock { state in
            Array(state.ofAll.values) + state.ofDevice.values.flatMap { Array($0.values) }
        }
        for follower in told { follower.yield() }
    }

    fileprivate func leave(_ place: Int, _ device: DeviceID?) {
        let gone = state.withLock { state -> AsyncStream<Void>.Continuation? in
            let gone: AsyncStream<Void>.Continuation?
            if let device {
                gone = state.ofDevice[device]?.removeValue(forKey: place)
                if state.ofDevice[device]?.isEmpty == true { state.ofDevice[device] = nil }
            } else {
                gone = state.ofAll.removeValue(forKey: place)
            }
            if gone != nil { state.count -= 1 }
            count.store(state.count, ordering: .releasing)
            return gone
        }
        gone?.finish()
    }
}

/// One follower's place at the hub, given up by `cancel` or when nobody holds it any more.
public final class TimelineSubscription: Sendable {
    /// One element says: there is something new. Any number of commits between two looks make one; ends with `cancel`.
    public let news: AsyncStream<Void>
    private let hub: TimelineHub
    private let place: Int
    private let device: DeviceID?

    fileprivate init(news: AsyncStream<Void>, hub: TimelineHub, place: Int, device: DeviceID?) {
        self.news = news
        self.hub = hub
        self.place = place
        self.device = device
    }

    deinit { cancel() }

    /// From any thread; repeated calls do nothing.
    public func cancel() { hub.leave(place, device) }
}
