internal import Dispatch
public import Lanes
public import Postgres
internal import TLS

/// The store of a cluster: a schema of its own in a PostgreSQL database, over a few connections that are a thread each.
///
/// Batches that wait share the next transaction where they concern no partition in common (group commit): one round trip,
/// the fence first. Every partition that a batch concerns must be ours: each has an epoch, which only the newest owner
/// knows, and a counter that a commit moves, so that it lands at most once however often its connection is lost.
///
/// While the database is away commits fail at once, with nothing written, save those that may have landed: they are
/// answered when that is known.
public final class PostgresStore: Store {
    public struct Settings: Sendable {
        /// Connections, a thread each: 2 to 4 are enough for a node.
        public var connections = 3
        /// The schema of the database in which the tables stand; it is made by `migrate`.
        public var schema = "lanekeeper"
        /// How long a timeline entry is kept, counted back from the newest one: tonight and the night before.
        public var timelineSeconds: Int64 = 36 * 3600
        /// Rows from which on batches wait for the next transaction: above, throughput hardly rises and a commit holds
        /// its partitions for long.
        public var commitRows = 1000
        /// The limits of a session.
        public var session = PostgresSettings()

        public init() {}
    }

    /// Which partitions are written here.
    public enum Ownership: Hashable, Sendable {
        /// All of them, from the opening on: for a node alone. An earlier such owner is fenced.
        case everything
        /// Those that `hold` names.
        case leases
    }

    /// Its number among all that were ever opened. Its sessions carry it, so that whoever takes over from a node that
    /// hangs can end them.
    public let writer: Int64
    let exchange: StoreExchange
    private let threads: [LoopThread]

    /// Opens a database, as its newest owner.
    /// - Parameters:
    ///   - address: `recommended` is added.
    ///   - migrate: brings the schema to this version first; else an older one is refused.
    ///   - random: times reconnects.
    /// - Throws: `.newerSchema`; `.inUse` where the nodes of a cluster have leases and `everything` is wanted;
    ///   `.unavailable` with the server's words, or those that say to run `lanekeeper migrate`.
    public static func open(
        _ address: PostgresAddress, settings: Settings = Settings(), ownership: Ownership = .everything,
        migrate: Bool = false, random: any RandomSource
    ) async throws(StoreError) -> PostgresStore {
        let address = address.recommended
        if migrate { try await PostgresStore.migrate(address, schema: settings.schema) }
        let opened = try await PostgresOpening.open(address, settings, ownership)
        let exchange = StoreExchange(
            writer: opened.writer, threads: max(1, settings.connections), commitRows: settings.commitRows,
            timelineSeconds: settings.timelineSeconds)
        for hold in opened.holds { exchange.hold(hold.partition, epoch: hold.epoch, seq: hold.sequence) }
        var sessions = settings.sessions
        if sessions.parameters["application_name"] == nil {
            sessions.parameters["application_name"] = PostgresStore.sessionName(opened.writer)
        }
        let perSession = sessions
        var threads: [LoopThread] = []
        do {
            for number in 0..<max(1, settings.connections) {
                let interrupt = try PostgresInterrupt()
                threads.append(
                    try LoopThread(name: "lk-store-\(number)") {
                        var worker = StoreWorker(exchange, address, perSession, interrupt, random)
                        worker.run()
                    })
            }
        } catch {
            exchange.close()
            throw .unavailable(detail: "\(error)")
        }
        return PostgresStore(exchange, threads, opened.writer)
    }

    /// Brings the schema to this version, and makes it where there is none. Safe to run twice, and from two nodes at once.
    /// - Returns: the version that it had; 0 for none.
    /// - Throws: `.newerSchema`, `.unavailable`.
    @discardableResult
    public static func migrate(
        _ address: PostgresAddress, schema: String = Settings().schema
    ) async throws(StoreError) -> Int {
        var settings = Settings()
        settings.schema = schema
        settings.session.silenceMilliseconds = nil
        let found = try await PostgresOpening.perform(address.recommended, settings) {
            (session) throws(PostgresError) in
            try PostgresSchema.migrate(&session, schema: schema)
        }
        guard found <= PostgresSchema.steps.count else {
            throw .newerSchema(found: found, known: PostgresSchema.steps.count)
        }
        return found
    }

    private init(_ exchange: StoreExchange, _ threads: [LoopThread], _ writer: Int64) {
        self.writer = writer
        self.exchange = exchange
        self.threads = threads
    }

    deinit { exchange.close() }  // what was taken is still written

    public func commit(_ batch: CommitBatch, done: @escaping @Sendable (CommitOutcome) -> Void) {
        if let refusal = exchange.offer(CommitOrder(batch: batch, scope: CommitScope(batch), done: done)) {
            // Answered from elsewhere than the caller's own stack, as every other outcome is.
            DispatchQueue.global().async { done(.failed(refusal)) }
        }
    }

    // MARK: - Partitions

    /// The partition is ours from now on, as `PartitionLeases` says.
    public func hold(_ hold: PartitionHold) {
        exchange.hold(hold.partition, epoch: hold.epoch, seq: hold.sequence)
    }

    /// What waits for the partition, or comes for it, fails as `fenced`. A commit under way ends by itself.
    /// - Parameter epoch: only if that is the one it is held by; `nil`: whatever it is.
    public func letGo(_ partition: Int, epoch: Int64? = nil) { exchange.letGo(partition, epoch: epoch) }

    /// Partitions that are ours, as far as is known: a newer owner shows when something is written.
    public var held: [Int] { epochs.keys.sorted() }

    /// The same, with the epoch of each.
    public var epochs: [Int: Int64] { exchange.epochs }

    /// Of a partition that is ours.
    func epoch(of partition: Int) -> Int64? { epochs[partition] }

    /// Why nothing can be read or written now; `nil` while a connection stands.
    public var trouble: StoreError? { exchange.away }

    /// Takes nothing more, finishes what waits, closes the connections. Suspends until that is done; with the database
    /// away that takes seconds, and a commit that may have landed then fails although nobody knows.
    public func close() async {
        exchange.close()
        for thread in threads { await thread.finished() }
    }
}

/// A partition that is ours, with what its commits have to know.
public struct PartitionHold: Hashable, Sendable {
    public let partition: Int
    /// Higher than that of every earlier owner.
    public let epoch: Int64
    /// The number of the last commit that landed. None of an earlier owner can land any more.
    public let sequence: Int64

    public init(partition: Int, epoch: Int64, sequence: Int64) {
        self.partition = partition
        self.epoch = epoch
        self.sequence = sequence
    }
}

extension PostgresStore {
    /// L1: what has landed must survive the server, whatever the database's own default is.
    static let durability = """
        SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') IN ('off', 'local')
        """
}

extension PostgresStore.Settings {
    /// What every session of the store sets.
    var sessions: PostgresSettings {
        var sessions = session
        sessions.parameters["search_path"] = schema
        // The fence needs a look at the row as it is after the wait for it (measured-store 1.2).
        sessions.parameters["default_transaction_isolation"] = "read committed"
        sessions.parameters["jit"] = "off"
        return sessions
    }
}

extension PostgresStore {
    static func sessionName(_ writer: Int64) -> String { "lanekeeper writer \(writer)" }
}
