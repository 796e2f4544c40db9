public import TLS

/// The last resort of a stop: on a thread of its own, so that it comes whatever hangs.
public final class StopDeadline: Sendable {
    private let cancelled: EventSignal
    private let thread: LoopThread

    /// - Parameters:
    ///   - seconds: from now on.
    ///   - overdue: called once, on that thread, unless it was called off before.
    /// - Throws: `SocketError` when the system gives no thread or descriptor.
    public init(seconds: Double, overdue: @escaping @Sendable () -> Void) throws(SocketError) {
        let cancelled = try EventSignal()
        self.cancelled = cancelled
        thread = try LoopThread(name: "stop-deadline") {
            var events: [Epoll.Event] = []
            do {
                let epoll = try Epoll(eventsPerWait: 1)
                try epoll.add(cancelled.descriptor, .read, token: 0)
                try epoll.wait(timeoutMilliseconds: Int32(min(max(0, seconds) * 1000, 3e8)), into: &events)
            } catch {
                return
            }
            if events.isEmpty { overdue() }
        }
    }

    /// It will not come. Returns when that is certain.
    public func callOff() async {
        cancelled.signal()
        await thread.finished()
    }
}
