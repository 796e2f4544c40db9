internal import CardRules
internal import Lanes
internal import Synchronization
internal import WebServer

/// Serves the timeline as server-sent events. One loop reads each new row once, whoever listens; a listener that is
/// behind gets portions of its own from the store, so nothing is ever held for it here.
///
/// A listener that does not read what it was sent is cut by the server at its bound; it comes back with `Last-Event-ID`
/// and misses nothing.
final class EventHub: Sendable {
    private let source: any TimelineSource
    private let clock: any WallClock
    private let limit: Int
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    private struct State {
        var listeners: [Int: Listener] = [:]
        var lastNumber = 0
        /// Listeners that keep up have all rows up to this one; `nil` while there is none.
        var position: Int64?
        var nextComment = WallTime.distantPast
    }

    private struct Listener {
        let device: DeviceID?
        let stream: any WebStream
        /// It has, or does not want, what comes before.
        var seen: Int64
        /// The next rows come to it with all others'.
        var keepsUp = false
    }

    /// Rows in one portion to one listener: some 30 KB.
    static let portionRows = 100
    /// How often portions go to those that are behind.
    static let portionSeconds = 0.25
    /// A comment now and then, so that nothing in between takes the connection for dead.
    static let commentSeconds = 15.0

    init(limit: Int, source: any TimelineSource, clock: any WallClock) {
        self.limit = limit
        self.source = source
        self.clock = clock
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var isFull: Bool { state.withLock { $0.listeners.count >= limit } }

    /// - Parameters:
    ///   - after: the listener has rows up to this one.
    ///   - open: begins its stream; `nil` where the peer has gone.
    /// - Returns: `false` when there is no room.
    func join(
        device: DeviceID?, after: Int64,
        open: (_ closed: @escaping @Sendable (WebStreamEnd) -> Void) -> (any WebStream)?
    ) -> Bool {
        let number: Int? = state.withLock { state in
            guard state.listeners.count < limit else { return nil }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return false }
        guard let stream = open({ [weak self] _ in self?.leave(number) }) else { return true }
        stream.send(Array("retry: 1000\n\n".utf8))
        state.withLock { $0.listeners[number] = Listener(device: device, stream: stream, seen: after) }
        // It may have gone before it was there.
        if !stream.send(Array(":\n\n".utf8)) { leave(number) }
        wake.yield()
        return true
    }

    private func leave(_ number: Int) { state.withLock { state in state.listeners[number] = nil } }

    /// Until the task is cancelled; then every stream is ended.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.source.follow { self.wake.yield() } }
            group.addTask {
                while !Task.isCancelled {
                    let next = self.clock.now.advanced(bySeconds: EventHub.portionSeconds)
                    do { try await self.clock.sleep(until: next) } catch { return }
                    if self.isTimeToLook() { self.wake.yield() }
                }
            }
            for await _ in wakes { await serve() }
        }
        for listener in state.withLock({ $0.listeners.values.map(\.stream) }) { listener.close() }
    }

    private func isTimeToLook() -> Bool {
        let now = clock.now
        let silent: [any WebStream] = state.withLock { state in
            // A clock that was set back is no reason for silence.
            let isDue = now >= state.nextComment || state.nextComment.seconds(since: now) > EventHub.commentSeconds
            guard isDue else { return [] }
            state.nextComment = now.advanced(bySeconds: EventHub.commentSeconds)
            return state.listeners.values.map(\.stream)
        }
        for stream in silent { stream.send(Array(":\n\n".utf8)) }
        return state.withLock { $0.listeners.values.contains { !$0.keepsUp } }
    }

    // MARK: - Rows

    private func serve() async {
        do {
            guard try await findPosition() else { return }
            for number in state.withLock({ $0.listeners.filter { !$0.value.keepsUp }.keys.sorted() }) {
                try await servePortion(to: number)
            }
            while try await serveNew() {}
        } catch {
            // The store is away: the next look goes on from here.
        }
    }

    /// - Returns: `false` when nobody listens.
    private func findPosition() async throws -> Bool {
        let (isHeard, position) = state.withLock { state -> (Bool, Int64?) in
            if state.listeners.isEmpty { state.position = nil }
            return (!state.listeners.isEmpty, state.position)
        }
        guard isHeard, position == nil else { return isHeard }
        let newest = try await source.timeline(device: nil, after: nil, limit: 1).last?.sequence ?? 0
        state.withLock { $0.position = newest }
        return true
    }

    private func servePortion(to number: Int) async throws {
        guard let listener = state.withLock({ $0.listeners[number] }) else { return }
        let rows = try await source.timeline(
            device: listener.device, after: listener.seen, limit: EventHub.portionRows)
        send(rows, to: listener)
        state.withLock { state in
            state.listeners[number]?.seen = rows.last?.sequence ?? listener.seen
            // All rows up to the position were there to be read.
            state.listeners[number]?.keepsUp = rows.count < EventHub.portionRows
        }
    }

    /// - Returns: whether there may be more.
    private func serveNew() async throws -> Bool {
        guard let position = state.withLock({ $0.position }) else { return false }
        let portion = EventHub.portionRows
        let rows = try await source.timeline(device: nil, after: position, limit: portion)
        guard let last = rows.last else { return false }
        let listeners = state.withLock { state in
            state.position = last.sequence
            return state.listeners.filter(\.value.keepsUp)
        }
        for (number, listener) in listeners.sorted(by: { $0.key < $1.key }) {
            let news = rows.filter {
                $0.sequence > listener.seen && (listener.device ?? $0.row.device) == $0.row.device
            }
            send(news, to: listener)
            state.withLock { state in
                state.listeners[number]?.seen = max(listener.seen, last.sequence)
                // A burst: the rest of it comes in portions, at the pace of those that are behind.
                if news.count == portion { state.listeners[number]?.keepsUp = false }
            }
        }
        return rows.count == portion
    }

    private func send(_ rows: [SequencedTimelineRow], to listener: Listener) {
        guard !rows.isEmpty else { return }
        var bytes: [UInt8] = []
        for row in rows { bytes += row.event(withDevice: listener.device == nil) }
        listener.stream.send(bytes)
    }
}
