public import CardRules
public import Lanes
internal import Postgres

/// The PostgreSQL feed: a table of games becomes ticks, by logical replication.
///
/// `run` is the whole of it: one task of its owner. Begun for the first time it hands on what the table holds, and from
/// there each committed transaction; begun again it goes on behind what was confirmed. A position is confirmed when `sink`
/// has returned, so that a line may come twice after a crash, and none is lost.
public struct PostgresFeed: Sendable {
    /// Takes one tick. Returns when it is durable; what it throws makes the feed read and hand on the same once more.
    public typealias Sink = @Sendable ([SlateLine]) async throws -> Void

    let settings: FeedSettings
    let clock: any WallClock
    let random: any RandomSource
    let sink: Sink
    let notice: @Sendable (FeedNotice) -> Void

    /// - Parameter notice: called from the feed's task, in order.
    public init(
        settings: FeedSettings, clock: any WallClock, random: any RandomSource, sink: @escaping Sink,
        notice: @escaping @Sendable (FeedNotice) -> Void = { _ in }
    ) {
        self.settings = settings
        self.clock = clock
        self.random = random
        self.sink = sink
        self.notice = notice
    }

    /// Runs until its task is cancelled: then the tick under way is finished and confirmed, and it returns. Losses of the
    /// connection and of the sink are waited out.
    /// - Throws: what needs a person, with what to do.
    public func run() async throws(FeedFault) {
        var progress = Progress(machine: FeedMachine(settings))
        while !Task.isCancelled {
            let trouble: FeedTrouble
            do throws(FeedStop) {
                try await follow(&progress)
                return
            } catch {
                switch error {
                case .fault(let fault): throw fault
                case .trouble(let found): trouble = found
                }
            }
            if Task.isCancelled { return }
            if case .notKept = trouble { progress.machine.forget() }
            let seconds = progress.backoff.next(random: random.next())
            notice(.waiting(trouble, seconds: seconds))
            try? await clock.sleep(until: clock.now.advanced(bySeconds: seconds))
        }
    }

    struct Progress: Sendable {
        var machine: FeedMachine
        var backoff = PostgresBackoff()
        /// The slot was in use by this run: that it is missing means that somebody dropped it.
        var hasStreamed = false
    }

    /// One life of a connection, until the task is cancelled.
    private func follow(_ progress: inout Progress) async throws(FeedStop) {
        let hasSlot = try await check(expectsSlot: progress.hasStreamed)
        let connection = try await FeedStop.database { () async throws(PostgresError) in
            try await PostgresConnection.open(replicationAddress, settings: FeedSessions.replication)
        }
        let outcome: Result<Void, FeedStop>
        do throws(FeedStop) {
            try await withCancellationOf(connection) { () async throws(FeedStop) in
                if !hasSlot { try await takeSnapshot(connection, &progress) }
                try await stream(connection, &progress)
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        connection.close()
        await connection.closed()
        guard case .failure(let stop) = outcome else { return }
        throw await explain(stop, progress)
    }

    /// A refusal for good may have a cause that a look at the server names.
    private func explain(_ stop: FeedStop, _ progress: Progress) async -> FeedStop {
        guard case .trouble(.database(.server(let error))) = stop, error.nextStep == .stop else { return stop }
        // The temporary slot of a life that has just ended stands until the server has noticed its end (42710).
        if ["55006", "42710"].contains(error.sqlState) { return .trouble(.slotInUse(slot: settings.slot)) }
        do throws(FeedStop) {
            _ = try await check(expectsSlot: progress.hasStreamed)
        } catch {
            return error
        }
        // Whoever reads the log sees the catalogue as it was then.
        if error.sqlState == "42704", progress.hasStreamed {
            return .fault(.publicationWasMissing(publication: settings.publication, slot: settings.slot))
        }
        return .fault(.refused(error))
    }

    /// - Returns: whether the slot is there.
    @discardableResult
    func check(expectsSlot: Bool) async throws(FeedStop) -> Bool {
        let settings = settings
        let found = try await FeedStop.database { () async throws(PostgresError) in
            let connection = try await PostgresConnection.open(
                settings.address.recommended, settings: FeedSessions.ordinary)
            defer { connection.close() }
            return try await FeedPreflight.look(settings, connection)
        }
        if let fault = found.fault(settings, expectsSlot: expectsSlot) { throw .fault(fault) }
        return found.slot != nil
    }

    private var replicationAddress: PostgresAddress { settings.address.recommended.setting("replication", "database") }

    /// A wait for the stream ends when the task is cancelled; a statement is waited for.
    private func withCancellationOf(
        _ connection: PostgresConnection, _ body: () async throws(FeedStop) -> Void
    ) async throws(FeedStop) {
        let outcome = await withTaskCancellationHandler {
            do throws(FeedStop) {
                try await body()
                return Result<Void, FeedStop>.success(())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            connection.nudge()
        }
        try outcome.get()
    }
}

/// What ends the life of a connection.
enum FeedStop: Error, Hashable, Sendable {
    /// For good.
    case fault(FeedFault)
    /// Until the next attempt.
    case trouble(FeedTrouble)

    static func database<Value>(
        _ body: () async throws(PostgresError) -> Value
    ) async throws(FeedStop) -> Value {
        do throws(PostgresError) { return try await body() } catch { throw .trouble(.database(error)) }
    }
}

/// How the feed's connections are set up: texts of values as this code reads them, whatever the database prefers.
enum FeedSessions {
    static var ordinary: PostgresSettings {
        var settings = PostgresSettings()
        settings.parameters = ["timezone": "UTC", "datestyle": "ISO", "extra_float_digits": "1", "bytea_output": "hex"]
        return settings
    }

    /// Making a slot waits for transactions that are open, and a snapshot for the sink, both as long as it takes.
    static var replication: PostgresSettings {
        var settings = ordinary
        settings.statementMilliseconds = 0
        settings.lockMilliseconds = 0
        settings.idleInTransactionMilliseconds = 0
        settings.silenceMilliseconds = nil
        return settings
    }
}
