internal import CardRules
public import Lanes
internal import TLS

/// Talks to APNs: some HTTP/2 connections to each gateway, all on one thread of its own.
///
/// Safe from any thread. Every push that is given to `send` ends in exactly one verdict. A push is sent a second time
/// only when it is certain that the first did not count: it never left, the peer says so (GOAWAY, REFUSED_STREAM), or it
/// was refused for its provider token (L2, G4, G6).
public final class PushPool: Pusher, Sendable {
    /// Since the pool was made.
    public struct Counters: Hashable, Sendable {
        /// Requests handed to a connection, repeats included.
        public var sent = 0
        /// Verdicts `accepted` and `refused`.
        public var answered = 0
        /// Verdicts `unknown`.
        public var unknown = 0

        public init() {}
    }

    private let queue: PoolQueue
    private let thread: LoopThread

    /// Starts the thread; connections are opened when there is something to send.
    /// - Parameter random: for the jitter of reconnects (G5); `nil`: none.
    /// - Throws: `KeyError` or `TLSError` when key or certificates are of no use, `SocketError` when the system gives no
    ///   thread or descriptor.
    public init(configuration: Configuration, clock: any WallClock, random: (any RandomSource)? = nil) throws {
        let key = try SigningKey(pem: configuration.keyPEM)
        let context = try TLSContext.client(trusting: configuration.trust)
        let queue = try PoolQueue(heldAtMost: configuration.maxWaiting)
        self.queue = queue
        thread = try LoopThread(name: "push-pool") {
            PoolLoop(
                queue: queue, configuration: configuration, key: key, context: context, clock: clock, random: random
            ).run()
        }
    }

    /// Tells the thread to end; it gives what it holds its verdicts, as `stop` does.
    deinit { queue.stop() }

    /// Never blocks. After `stop` the verdicts (not sent) come on the caller's thread.
    public func send(_ pushes: [OutgoingPush]) {
        guard !pushes.isEmpty, !queue.put(pushes) else { return }
        var verdicts = Verdicts()
        for push in pushes { verdicts.add(.notSent, for: push) }
        verdicts.deliver()
    }

    /// Ends the pool: what waits ends as not sent, what is in flight is awaited until its deadline. Returns when the
    /// thread has ended and all verdicts are out. Further calls do nothing.
    public func stop() async {
        queue.stop()
        await thread.finished()
    }

    public var counters: Counters { queue.counters }
}
