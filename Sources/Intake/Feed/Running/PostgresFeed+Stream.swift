internal import CardRules
internal import Lanes
internal import Postgres

extension PostgresFeed {
    /// The most that is read before it is handed on. A single row may be larger.
    static let readBytes = 256 << 10
    /// How often the server hears from us; it gives up after `wal_sender_timeout`, a minute by itself.
    static let statusMilliseconds: Int32 = 10_000
    /// How long the server may take to take in our last word.
    static let lastWordMilliseconds: Int32 = 3000
    /// So many silences, and the server is asked whether the table is still there and published: the stream does not tell.
    static let silencesBeforeCheck = 3

    /// Follows the slot until the task is cancelled.
    func stream(_ connection: PostgresConnection, _ progress: inout Progress) async throws(FeedStop) {
        progress.machine.begin()
        let start =
            "START_REPLICATION SLOT \(PostgresText.identifier(settings.slot)) LOGICAL 0/0 (proto_version '1', "
            + "publication_names \(PostgresText.literal(PostgresText.identifier(settings.publication))))"
        try await FeedStop.database { () async throws(PostgresError) in
            try await connection.perform { (session) throws(PostgresError) in _ = try session.query(start) }
        }
        progress.hasStreamed = true
        notice(.streaming)
        var silences = 0
        while !Task.isCancelled {
            let chunk = try await read(connection, progress.machine)
            if chunk.isFinished { throw .trouble(.database(.lost("the server has ended the stream"))) }
            silences = chunk.isEmpty ? silences + 1 : 0
            if silences == PostgresFeed.silencesBeforeCheck {
                silences = 0
                try await check(expectsSlot: true)
            }
            try await handOn(chunk, connection, &progress)
        }
        try await end(connection, progress.machine)
    }

    /// Says how far we are, and reads what has come.
    private func read(
        _ connection: PostgresConnection, _ machine: FeedMachine
    ) async throws(FeedStop) -> PostgresCopyChunk {
        let status = status(machine)
        return try await FeedStop.database { () async throws(PostgresError) in
            try await connection.perform { (session) throws(PostgresError) in
                try session.sendCopy(status)
                return try session.readCopy(
                    maximumBytes: PostgresFeed.readBytes, waitMilliseconds: PostgresFeed.statusMilliseconds)
            }
        }
    }

    private func handOn(
        _ chunk: PostgresCopyChunk, _ connection: PostgresConnection, _ progress: inout Progress
    ) async throws(FeedStop) {
        for range in chunk.ranges {
            var fault: FeedFault?
            do throws(FeedFault) {
                try progress.machine.take(chunk.bytes.span, in: range)
            } catch {
                fault = error
            }
            for notice in progress.machine.takeNotices() { self.notice(notice) }
            if let fault { throw .fault(fault) }
            if progress.machine.isFull { try await handOn(connection, &progress) }
        }
        if progress.machine.hasTick { try await handOn(connection, &progress) }
        progress.machine.confirm()
        // A server that only greets, before a sink that fails, does not count as well.
        if chunk.isEmpty { progress.backoff.reset() }
    }

    private func handOn(_ connection: PostgresConnection, _ progress: inout Progress) async throws(FeedStop) {
        let status = status(progress.machine)
        try await keep(progress.machine.takeTick()) { () async throws(PostgresError) in
            try await connection.perform { (session) throws(PostgresError) in try session.sendCopy(status) }
        }
        progress.machine.confirm()
        progress.backoff.reset()
    }

    /// Hands a tick on and waits until it is durable. A sink that takes long does not cost the connection: meanwhile the
    /// server hears from us.
    func keep(
        _ lines: [SlateLine], sayingMeanwhile say: @escaping @Sendable () async throws(PostgresError) -> Void
    ) async throws(FeedStop) {
        guard !lines.isEmpty else { return }
        let (sink, clock) = (sink, clock)
        let outcome = await withTaskGroup(of: Result<Void, FeedStop>?.self) { group in
            group.addTask {
                do {
                    try await sink(lines)
                    return .success(())
                } catch {
                    return .failure(.trouble(.notKept("\(error)")))
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    let next = clock.now.advanced(bySeconds: Double(PostgresFeed.statusMilliseconds) / 1000)
                    guard (try? await clock.sleep(until: next)) != nil else { return nil }
                    // What fails here shows again at the next read.
                    do throws(PostgresError) { try await say() } catch { return nil }
                }
                return nil
            }
            var outcome: Result<Void, FeedStop> = .success(())
            while let ended = await group.next() {
                guard let ended else { continue }
                outcome = ended
                group.cancelAll()
            }
            return outcome
        }
        try outcome.get()
    }

    /// The last word, taken in by the server before the connection closes.
    private func end(_ connection: PostgresConnection, _ machine: FeedMachine) async throws(FeedStop) {
        let status = status(machine)
        do throws(PostgresError) {
            try await connection.perform { (session) throws(PostgresError) in
                try session.sendCopy(status)
                try session.finishCopy(silenceMilliseconds: PostgresFeed.lastWordMilliseconds)
            }
        } catch {
            // What was not confirmed comes once more.
        }
    }

    private func status(_ machine: FeedMachine) -> [UInt8] {
        StreamMessage.status(confirmed: machine.confirmed, at: clock.now)
    }
}
