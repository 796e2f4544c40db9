public import CardRules
public import Lanes
public import Postgres
internal import Synchronization
internal import TLS

/// A node's part in a cluster over PostgreSQL: its leases, what it takes for other nodes and they for it, and the news.
///
/// Two threads with a connection each, beside those of the store: the leases' waits behind no commit, and the link's
/// says and hears everything else.
public final class PostgresCluster: Cluster {
    public struct Settings: Sendable {
        /// Of this node alone: whoever comes under the name of another that is cut off takes its partitions at once.
        public var name = ""
        /// How long a node that is silent is believed; a third of it between renewals, a fifth taken off its own time.
        public var leaseSeconds = 10.0

        public init() {}
    }

    public let events: AsyncStream<ClusterEvent>
    private let tell: AsyncStream<ClusterEvent>.Continuation
    private let store: PostgresStore
    private let settings: Settings
    private let storeSettings: PostgresStore.Settings
    private let address: PostgresAddress
    private let clock: any SteadyClock
    private let random: any RandomSource
    private let shared: LinkState
    private let interrupt: PostgresInterrupt
    private let parts = Mutex(Parts())

    private struct Parts {
        var leases: PartitionLeases?
        var link: LoopThread?
    }

    /// - Parameters:
    ///   - store: opened with `.leases`.
    ///   - clock: goes on while the process does not.
    /// - Throws: `.unavailable` where the system gives nothing to wait on.
    public init(
        _ address: PostgresAddress, store: PostgresStore, settings: Settings,
        storeSettings: PostgresStore.Settings = PostgresStore.Settings(), clock: any SteadyClock,
        random: any RandomSource
    ) throws(StoreError) {
        do { interrupt = try PostgresInterrupt() } catch { throw .unavailable(detail: "\(error)") }
        (events, tell) = AsyncStream.makeStream()
        (self.store, self.settings, self.storeSettings) = (store, settings, storeSettings)
        (self.address, self.clock, self.random) = (address.recommended, clock, random)
        shared = LinkState(origin: store.writer)
    }

    /// Takes part from now on: to be called when there is somebody for what is gained.
    /// - Throws: `.unavailable` where the system gives no threads. Whether the database is there shows in what comes.
    public func begin() throws(StoreError) {
        var leasing = PartitionLeases.Settings()
        leasing.schema = storeSettings.schema
        leasing.ttlSeconds = settings.leaseSeconds
        leasing.renewSeconds = settings.leaseSeconds * 0.3
        leasing.marginSeconds = settings.leaseSeconds * 0.2
        let leases = try PartitionLeases.join(
            address, name: settings.name, writer: store.writer, settings: leasing, clock: clock, random: random)
        var sessions = storeSettings.sessions
        sessions.statementMilliseconds = 5000
        let perSession = sessions
        let channel = "\(storeSettings.schema)_news"
        let link: LoopThread
        do {
            link = try LoopThread(name: "lk-cluster") { [address, shared, interrupt, clock, random, tell] in
                var link = ClusterLink(
                    address: address, settings: perSession, channel: channel, shared: shared, interrupt: interrupt,
                    clock: clock, random: random, tell: tell)
                link.run()
            }
        } catch {
            throw .unavailable(detail: "\(error)")
        }
        parts.withLock { $0 = Parts(leases: leases, link: link) }
    }

    public func run(followsTimeline: @escaping @Sendable () -> Bool) async {
        shared.follow(timelineWhile: followsTimeline)
        guard let leases else { return }
        for await event in leases.events {
            switch event {
            case .gained(let hold):
                store.hold(hold)
                tell.yield(.gained(partition: hold.partition, epoch: hold.epoch))
            case .asked(let partition): tell.yield(.asked(partition: partition))
            case .lost(let partitions):
                for partition in partitions {
                    shared.desk { $0.unwatch(partition) }
                    store.letGo(partition)
                }
                tell.yield(.lost(partitions: partitions))
            }
        }
    }

    /// Gives up what is still held, says what is left to say, and ends. Lanes must be at rest.
    public func close() async {
        let (leases, link) = parts.withLock { ($0.leases, $0.link) }
        await leases?.leave()
        shared.close()
        interrupt.nudge()
        await link?.finished()
        tell.finish()
    }

    /// Whether this node's lease stands.
    public var isMember: Bool { leases?.node != nil && mayAct }

    /// Why this node's lease could not be renewed the last time; `nil`: it was. It may stand for a while yet.
    public var trouble: StoreError? { leases?.trouble }

    private var leases: PartitionLeases? { parts.withLock { $0.leases } }

    public var mayAct: Bool { leases.map { clock.uptime < $0.mayActUntil } ?? false }

    public var held: [Int: Int64] { store.epochs }

    // MARK: - Partitions

    public func listen(to partition: Int, epoch: Int64) {
        shared.desk { $0.watch(partition, epoch: epoch) }
        shared.look()
        interrupt.nudge()
    }

    public func release(_ partition: Int, epoch: Int64) {
        shared.desk { $0.unwatch(partition, epoch: epoch) }
        store.letGo(partition, epoch: epoch)
        leases?.release(partition, epoch: epoch)
    }

    public func retire() { leases?.retire() }

    // MARK: - Events and news

    public func post(_ event: PostedEvent, hear: (@Sendable (DeviceReply) -> Void)?) {
        let (body, now) = (EventCodec.encode(event), clock.uptime)
        if let refusal = shared.desk({ $0.post(event.device, body, at: now, hear: hear) }) {
            hear?(DeviceReply(answer: refusal, needsToken: false))
        } else {
            interrupt.nudge()
        }
    }

    public func applied(_ posts: [PostID]) {
        shared.desk { $0.applied(posts) }
        interrupt.nudge()
    }

    public func postponed(_ posts: [PostID]) { shared.desk { $0.postponed(posts) } }

    public func announce(_ news: ClusterNews) {
        shared.desk { $0.announce(news) }
        interrupt.nudge()
    }

    // MARK: - S7

    public func claimPhone(_ token: [UInt8], for device: DeviceID, hear: @escaping @Sendable (DeviceID?) -> Void) {
        guard let epoch = store.epoch(of: partition(of: device)) else { return }
        shared.desk { $0.claim(LinkDesk.Claim(token: token, device: device, epoch: epoch, hear: hear)) }
        interrupt.nudge()
    }

    public func handedOver(_ token: [UInt8], by older: DeviceID) {
        shared.desk { $0.handedOver(token, by: older) }
        interrupt.nudge()
    }

    // MARK: - Reading

    public func slate(after number: Int64) async throws -> [NumberedLine] { try await store.slate(after: number) }

    public func sessions(changedAfter change: Int64) async throws -> [ChangedSession] {
        try await store.sessions(changedAfter: change)
    }

    public func isAwaited(_ device: DeviceID) async throws -> Bool { try await store.isAwaited(device) }
}
