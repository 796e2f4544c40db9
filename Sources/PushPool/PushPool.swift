public import CardRules
public import Lanes
internal import TLS

/// Talks to APNs: some HTTP/2 connections to each gateway with each key, all on one thread of its own.
///
/// Safe from any thread. Every push that `send` takes ends in exactly one verdict. A push is sent a second time only when
/// it is certain that the first did not count: it never left, the peer says so (GOAWAY, REFUSED_STREAM), or it was refused
/// for its connection or provider token, or, a start, once with a 5xx (L2, G4 to G6).
public final class PushPool: Pusher, Sendable {
    private let queue: PoolQueue
    private let thread: LoopThread

    /// Starts the thread; connections are opened when there is something to send.
    /// - Parameters:
    ///   - random: for the jitter of waits (G5); `nil`: none.
    ///   - trace: sees each push, and what an operator should hear.
    /// - Throws: `ProviderKeyFault` or `TLSError` when a key or certificates are of no use, `SocketError` when the system
    ///   gives no thread or descriptor.
    public init(
        configuration: Configuration, clock: any WallClock & SteadyClock, random: (any RandomSource)? = nil,
        trace: (any PoolTrace)? = nil
    ) throws {
        let (keys, plan) = configuration.plan()
        var ready: [ReadyKey] = []
        for key in keys { ready.append(try ReadyKey(key)) }
        let context = try TLSContext.client(trusting: configuration.trust)
        let queue = try PoolQueue(heldAtMost: configuration.maxWaiting)
        self.queue = queue
        thread = try LoopThread(name: "push-pool") { [ready] in
            var loop = PoolLoop(
                queue: queue, configuration: configuration, plan: plan, keys: ready, context: context, clock: clock,
                random: random, trace: trace)
            loop.run()
        }
    }

    /// Tells the thread to end; it gives what it holds its verdicts, as `stop` does.
    deinit { queue.stop(drainSeconds: nil) }

    /// Never blocks. After `stop` the verdicts (not sent) come on the caller's thread.
    /// - Returns: starts and ends that found the pool full (G7); their sinks are told when there is room.
    public func send(_ pushes: [OutgoingPush]) -> [OutgoingPush] {
        guard !pushes.isEmpty else { return [] }
        switch queue.put(pushes) {
        case .taken(let back): return back
        case .closed:
            var verdicts = Verdicts()
            for push in pushes { verdicts.add(.notSent, for: push.ticket, to: push.sink) }
            verdicts.deliver()
            return []
        }
    }

    /// Nothing more leaves for that gateway until `resume`. What waits goes on waiting, its time stands still; what is in
    /// flight is answered as ever.
    public func pause(_ gateway: Gateway) { queue.put(.pause(gateway)) }

    /// What waited goes, but for pushes whose `apns-expiration` has passed: those end as not sent.
    public func resume(_ gateway: Gateway) { queue.put(.resume(gateway)) }

    /// G7: pushes a second to one gateway, from now on. 0 stops them, and then they may run out of time (see `pause`).
    public func setRate(perSecond: Double, of gateway: Gateway) { queue.put(.rate(gateway, perSecond: perSecond)) }

    /// Ends the pool. Returns when the thread has ended and all verdicts are out. Further calls do nothing.
    /// - Parameter drainSeconds: so long what waits still goes and answers are awaited; then what waits ends as not sent, and
    ///   what is in flight as unknown. `nil`: what waits ends as not sent at once, and what is in flight is awaited until
    ///   its deadline.
    public func stop(drainSeconds: Double? = nil) async {
        queue.stop(drainSeconds: drainSeconds)
        await thread.finished()
    }

    public var snapshot: PoolSnapshot { queue.snapshot }
}
