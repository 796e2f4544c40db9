internal import Dispatch
public import Lanes
public import Postgres
internal import Synchronization
internal import TLS

/// What a node of a cluster is told about its partitions.
public enum LeaseEvent: Hashable, Sendable {
    /// It is ours: load its lanes, they are as its last owner left them.
    case gained(PartitionHold)
    /// Another node should have it: bring its lanes to rest, then `release` it.
    case asked(partition: Int)
    /// They are not ours any more, or may not be: nothing of theirs may leave. A lease that could not be renewed in
    /// time is lost before anybody else can have it.
    case lost(partitions: [Int])
}

/// The leases of one node: a row with an expiry that is renewed on a connection and a thread of its own, and the
/// partitions that come to it and go. Liveness is apart from fencing: a renewal waits behind no commit.
///
/// Fencing protects the database, not APNs: whoever acts without a commit (an update) looks at `mayActUntil` first.
public final class PartitionLeases: Sendable {
    public struct Settings: Sendable {
        /// How long a node that is silent is believed.
        public var ttlSeconds = 10.0
        public var renewSeconds = 3.0
        /// Taken off the node's own time.
        public var marginSeconds = 2.0
        /// As in `PostgresStore.Settings`.
        public var schema = PostgresStore.Settings().schema

        public init() {}
    }

    /// One reader. Ends after `leave`.
    public let events: AsyncStream<LeaseEvent>
    private let state: LeaseState
    private let interrupt: PostgresInterrupt
    private let thread: LoopThread

    /// Begins to take part. A node that is silent for too long loses everything and begins anew by itself.
    /// - Parameters:
    ///   - name: of this node alone: one that has it, and has no session at the server, is taken for its earlier self.
    ///   - writer: `PostgresStore.writer` of the store that writes what is held here.
    ///   - address: `recommended` is added.
    ///   - clock: goes on while the process does not.
    ///   - random: times reconnects.
    /// - Throws: `.unavailable` where the thread cannot be made. Whether the database is there shows in what comes.
    public static func join(
        _ address: PostgresAddress, name: String, writer: Int64 = 0, settings: Settings = Settings(),
        clock: any SteadyClock, random: any RandomSource
    ) throws(StoreError) -> PartitionLeases {
        do {
            return try PartitionLeases(address.recommended, name, writer, settings, clock, random)
        } catch {
            throw .unavailable(detail: "\(error)")
        }
    }

    private init(
        _ address: PostgresAddress, _ name: String, _ writer: Int64, _ settings: Settings,
        _ clock: any SteadyClock, _ random: any RandomSource
    ) throws {
        let (events, tell) = AsyncStream<LeaseEvent>.makeStream()
        let (state, interrupt) = (LeaseState(), try PostgresInterrupt())
        self.events = events
        self.state = state
        self.interrupt = interrupt
        thread = try LoopThread(name: "lk-leases") {
            var keeper = LeaseKeeper(
                address: address, name: name, writer: writer, settings: settings, clock: clock, random: random,
                state: state,
                interrupt: interrupt, tell: tell)
            keeper.run()
            tell.finish()
        }
    }

    deinit { askToLeave() }

    /// By the injected clock: until then no other node can have what is held here. `.zero` while nothing is.
    public var mayActUntil: SteadyTime { SteadyTime(nanoseconds: state.mayActUntil.load(ordering: .acquiring)) }

    /// This node's number; `nil` while it is none. A new one after each death.
    public var node: Int64? { state.read { $0.node } }

    /// Why the lease could not be renewed the last time it was tried; `nil`: it was.
    public var trouble: StoreError? { state.read { $0.trouble } }

    /// Hands over what is held by that epoch. Another node may have it at once: nothing of it may be under way.
    public func release(_ partition: Int, epoch: Int64) {
        state.ask { $0.releases.append((partition, epoch)) }
        interrupt.nudge()
    }

    /// Takes nothing more: what is held stays until it is released, and the others may take all of it.
    public func retire() {
        state.ask {
            $0.isRetired = true
            $0.isRetirementNew = true
        }
        interrupt.nudge()
    }

    /// Hands everything over and ends: to be called when all lanes are at rest. Suspends until the others know, or the
    /// database does not answer.
    public func leave() async {
        askToLeave()
        await thread.finished()
    }

    private func askToLeave() {
        state.ask { $0.isLeaving = true }
        state.patience.signal()
        interrupt.nudge()
    }
}

/// What the thread and its owner share.
final class LeaseState: Sendable {
    struct Shared: Sendable {
        var node: Int64?
        var trouble: StoreError?
        var releases: [(partition: Int, epoch: Int64)] = []
        var isLeaving = false
        var isRetired = false
        /// The others have not been told yet.
        var isRetirementNew = false
    }

    let mayActUntil = Atomic<Int64>(0)
    /// Between two attempts to connect.
    let patience = DispatchSemaphore(value: 0)
    private let shared = Mutex(Shared())

    func ask(_ change: (inout Shared) -> Void) { shared.withLock { change(&$0) } }
    func read<Value: Sendable>(_ body: (Shared) -> Value) -> Value { shared.withLock { body($0) } }

    func takeRetirement() -> Bool {
        shared.withLock { state in
            defer { state.isRetirementNew = false }
            return state.isRetirementNew
        }
    }

    func takeReleases() -> [(partition: Int, epoch: Int64)] {
        shared.withLock { state in
            defer { state.releases = [] }
            return state.releases
        }
    }
}
