internal import CardRules
internal import Lanes
internal import PushWire
internal import TLS

/// The pool's thread: waits, reads, settles, sends, delivers. Everything but the queue lives here.
final class PoolLoop {
    private let queue: PoolQueue
    private let clock: any WallClock
    private let shared: PoolShared
    private var groups: [ConnectionGroup]
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var isStopping = false

    private static let wakeToken: UInt64 = 0
    /// While something has a deadline: the injected clock may run faster than the system's.
    private static let lookMilliseconds: Int32 = 50

    init(
        queue: PoolQueue, configuration: PushPool.Configuration, key: SigningKey, context: TLSContext,
        clock: any WallClock, random: (any RandomSource)?
    ) {
        self.queue = queue
        self.clock = clock
        let tokens = ProviderTokens(
            key: key, keyID: configuration.keyID, teamID: configuration.teamID,
            maxSeconds: configuration.tokenMaxSeconds, minSeconds: configuration.tokenMinSeconds)
        let shared = PoolShared(configuration: configuration, context: context, tokens: tokens, random: random)
        self.shared = shared
        groups = configuration.gateways.map { ConnectionGroup($0.key, at: $0.value, shared: shared) }
    }

    /// Returns when the pool was stopped, or when the system refuses to wait; each push has its verdict then.
    func run() {
        do {
            let epoll = try Epoll()
            try epoll.add(queue.wake.descriptor, .read, token: Self.wakeToken)
            try turns(epoll)
        } catch {
            // No epoll, no connections: what is held is settled below, and what comes later by the caller.
        }
        for group in groups { group.abandon() }
        let last = queue.close()
        for push in last.pushes + last.refused { shared.verdicts.add(.notSent, for: push) }
        deliver()
    }

    private func turns(_ epoll: borrowing Epoll) throws {
        var events: [Epoll.Event] = []
        while !(isStopping && !groups.contains(where: \.hasInFlight)) {
            let isBusy = isStopping || groups.contains(where: \.isBusy)
            try epoll.wait(timeoutMilliseconds: isBusy ? Self.lookMilliseconds : nil, into: &events)
            let now = clock.now
            takeArrivals(at: now)
            for event in events where event.token != Self.wakeToken { advance(event.token) }
            for group in groups { group.turn(at: now, in: epoll, resolve: resolve) }
            deliver()
        }
    }

    private func takeArrivals(at now: WallTime) {
        let arrivals = queue.take()
        for push in arrivals.refused { shared.verdicts.add(.notSent, for: push) }
        for push in arrivals.pushes {
            if let group = group(of: push.request.address.gateway) {
                group.add(push, at: now)
            } else {
                shared.verdicts.add(.notSent, for: push)
            }
        }
        for answer in arrivals.resolved { group(of: answer.gateway)?.take(resolved: answer.addresses, at: now) }
        if arrivals.isStopping, !isStopping {
            isStopping = true
            for group in groups { group.stop() }
        }
    }

    private func group(of gateway: Gateway) -> ConnectionGroup? { groups.first { $0.gateway == gateway } }

    private func advance(_ number: UInt64) {
        for group in groups {
            guard let connection = group.connection(number) else { continue }
            return group.advance(connection, using: &buffer)
        }
    }

    /// On a thread of its own, for the system's resolver blocks.
    private func resolve(_ group: ConnectionGroup) {
        let queue = queue
        let gateway = group.gateway
        let endpoint = group.endpoint
        do {
            _ = try LoopThread(name: "push-resolve") {
                let found = try? SocketAddress.resolve(host: endpoint.host, port: endpoint.port)
                queue.put(resolved: found ?? [], of: gateway)
            }
        } catch {
            queue.put(resolved: [], of: gateway)
        }
    }

    private func deliver() {
        let verdicts = shared.verdicts
        queue.note(
            sent: shared.sent, answered: verdicts.answered, unknown: verdicts.unknown, settled: verdicts.count)
        shared.sent = 0
        shared.verdicts.deliver()
    }
}
