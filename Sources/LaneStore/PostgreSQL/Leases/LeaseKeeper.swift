internal import Dispatch
internal import Lanes
internal import Postgres
internal import Synchronization

/// The thread behind `PartitionLeases`: renews, looks, takes, gives.
struct LeaseKeeper {
    let address: PostgresAddress
    let name: String
    let writer: Int64
    let settings: PartitionLeases.Settings
    let clock: any SteadyClock
    let random: any RandomSource
    let state: LeaseState
    let interrupt: PostgresInterrupt
    let tell: AsyncStream<LeaseEvent>.Continuation
    private var book: LeaseBook
    private var backoff = PostgresBackoff()
    private var nextRenewal = SteadyTime.zero
    private var nextLook = SteadyTime.zero

    init(
        address: PostgresAddress, name: String, writer: Int64, settings: PartitionLeases.Settings,
        clock: any SteadyClock,
        random: any RandomSource, state: LeaseState, interrupt: PostgresInterrupt,
        tell: AsyncStream<LeaseEvent>.Continuation
    ) {
        self.address = address
        self.name = name
        self.writer = writer
        self.settings = settings
        self.clock = clock
        self.random = random
        self.state = state
        self.interrupt = interrupt
        self.tell = tell
        book = LeaseBook(ttlSeconds: settings.ttlSeconds, marginSeconds: settings.marginSeconds)
    }

    private var sessions: PostgresSettings {
        var store = PostgresStore.Settings()
        store.schema = settings.schema
        store.session.statementMilliseconds = 1000
        store.session.lockMilliseconds = 500
        store.session.silenceMilliseconds = 2000
        return store.sessions
    }

    /// Others hear of what became free here.
    private var channel: String { "\(settings.schema)_leases" }

    mutating func run() {
        while true {
            do throws(PostgresError) {
                var session = try PostgresSession.connect(to: address, settings: sessions, interrupt: interrupt)
                // First, then the tables: nothing is kept for a listener that is away.
                try session.listen(to: channel)
                try serve(&session)
                return
            } catch {
                state.ask { $0.trouble = .unavailable(detail: "\(error)") }
                // Whatever it was: a renewal shows whether it is over.
                nextRenewal = .zero
                loseIfOver()
                if state.read({ $0.isLeaving }) {
                    lose(book.died())
                    return
                }
                wait(seconds: backoff.next(random: random.next()))
                loseIfOver()
            }
        }
    }

    /// Returns when the node has left.
    private mutating func serve(_ session: inout PostgresSession) throws(PostgresError) {
        while true {
            loseIfOver()
            if clock.uptime >= nextRenewal || book.node == nil { try renew(&session) }
            if state.takeRetirement() { try retire(&session) }
            try release(&session)
            if state.read({ $0.isLeaving }) { return try leave(&session) }
            try look(&session)
            backoff.reset()
            let due = min(nextRenewal, nextLook, book.mayActUntil)
            let milliseconds = (due.seconds(since: clock.uptime) * 1000).rounded(.up)
            _ = try session.waitForNotifications(
                timeoutMilliseconds: Int32(max(0, min(milliseconds, settings.renewSeconds * 1000))))
        }
    }

    private var ttl: Int64 { Int64(settings.ttlSeconds * 1000) }

    /// Before anything is taken: a taker without a live row of its own is robbed at once.
    private mutating func renew(_ session: inout PostgresSession) throws(PostgresError) {
        let sentAt = clock.uptime
        if let node = book.node {
            let result = try session.execute(LeaseStatements.renew) {
                $0.int64(node)
                $0.int64(ttl)
            }
            if result.rows == 1 {
                book.renewed(sentAt: sentAt)
            } else {
                lose(book.died())
            }
        }
        if book.node == nil {
            let result = try session.execute(LeaseStatements.join) {
                $0.text(name)
                $0.int64(ttl)
                $0.int64(writer)
            }
            guard let node = try result.integer(0, 0) else { throw .unexpected("no number for the node") }
            book.joined(as: node, sentAt: sentAt)
            _ = try session.execute(LeaseStatements.bury) {
                $0.text(name)
                $0.int64(node)
                $0.int64(writer)
            }
            state.ask {
                $0.node = node
                $0.isRetirementNew = $0.isRetired
            }
            try announce(&session)
            _ = try session.execute(LeaseStatements.forget)
        }
        state.mayActUntil.store(book.mayActUntil.nanoseconds, ordering: .releasing)
        state.ask { $0.trouble = nil }
        nextRenewal = sentAt.advanced(bySeconds: settings.renewSeconds)
    }

    private func retire(_ session: inout PostgresSession) throws(PostgresError) {
        guard let node = book.node else { return }
        _ = try session.execute(LeaseStatements.retire) { $0.int64(node) }
        try announce(&session)
    }

    private mutating func release(_ session: inout PostgresSession) throws(PostgresError) {
        let partitions = state.takeReleases().filter { book.held[$0.partition] == $0.epoch }.map(\.partition)
        guard !partitions.isEmpty else { return }
        // Not ours from here on, whether the server hears of it or not: then it is free when the node is gone.
        book.released(partitions)
        try free(partitions, &session)
    }

    private func free(_ partitions: [Int], _ session: inout PostgresSession) throws(PostgresError) {
        guard let node = book.node, !partitions.isEmpty else { return }
        _ = try session.execute(LeaseStatements.release) {
            $0.int64(node)
            $0.array(of: .int2, partitions) { $1.int16(Int16($0)) }
        }
        try announce(&session)
    }

    private func announce(_ session: inout PostgresSession) throws(PostgresError) {
        _ = try session.execute(LeaseStatements.notify) { $0.text(channel) }
    }

    /// Who lives, and who has what; then our part of the balance.
    private mutating func look(_ session: inout PostgresSession) throws(PostgresError) {
        guard let node = book.node else { return }
        nextLook = clock.uptime.advanced(bySeconds: settings.renewSeconds)
        let alive = try session.execute(LeaseStatements.nodes)
        var nodes: [Int64] = []
        var leaving: [Int64] = []
        for row in 0..<alive.rows {
            let isLeaving = try alive.bool(row, 1) ?? false
            let id = try alive.integer(row, 0) ?? 0
            if isLeaving { leaving.append(id) } else { nodes.append(id) }
        }
        let leases = try session.execute(LeaseStatements.leases)
        var holders: [Int64?] = []
        for row in 0..<leases.rows {
            let holder = try leases.integer(row, 1) ?? 0
            holders.append(holder == 0 ? nil : holder)
        }
        lose(book.lost(book.held.keys.filter { !holders.indices.contains($0) || holders[$0] != node }.sorted()))
        // One that was released, and of which the server has not heard.
        try free(holders.indices.filter { holders[$0] == node && book.held[$0] == nil }, &session)
        guard !state.read({ $0.isRetired }) else { return }
        let plan = LeaseBalance.plan(me: node, nodes: nodes, leaving: leaving, holders: holders)
        for partition in plan.take { try take(partition, as: node, &session) }
        for partition in book.ask(plan.give) { tell.yield(.asked(partition: partition)) }
    }

    private mutating func take(
        _ partition: Int, as node: Int64, _ session: inout PostgresSession
    ) throws(PostgresError) {
        // A renewal must not wait for many that are slow.
        guard clock.uptime < nextRenewal else { return }
        do throws(PostgresError) {
            let result = try session.execute(LeaseStatements.take) {
                $0.int64(node)
                $0.int16(Int16(partition))
            }
            // Another was first: what it leaves of the free ones is ours to take, and nobody will say so.
            if result.rows == 0 { nextLook = clock.uptime }
            for hold in try PostgresOpening.holds(result) {
                book.took(hold.partition, epoch: hold.epoch)
                tell.yield(.gained(hold))
            }
        } catch {
            guard error.nextStep == .repeatLater else { throw error }
            _ = try session.execute(LeaseStatements.endSessions) { $0.int16(Int16(partition)) }
            nextLook = clock.uptime
        }
    }

    /// All of it at once: the others count on one who is gone no more.
    private mutating func leave(_ session: inout PostgresSession) throws(PostgresError) {
        guard let node = book.node else { return }
        var held = PostgresParameters()
        held.int64(node)
        held.array(of: .int2, book.held.keys.sorted()) { $1.int16(Int16($0)) }
        var (gone, news) = (PostgresParameters(), PostgresParameters())
        gone.int64(node)
        news.text(channel)
        lose(book.died())
        _ = try session.pipeline([
            PostgresCall(LeaseStatements.release, held), PostgresCall(LeaseStatements.leave, gone),
            PostgresCall(LeaseStatements.notify, news),
        ])
    }

    private mutating func loseIfOver() {
        if book.isOver(at: clock.uptime) { lose(book.died()) }
    }

    private mutating func lose(_ partitions: [Int]) {
        state.mayActUntil.store(book.mayActUntil.nanoseconds, ordering: .releasing)
        if book.node == nil { state.ask { $0.node = nil } }
        if !partitions.isEmpty { tell.yield(.lost(partitions: partitions)) }
    }

    /// Between two attempts to connect; what is asked meanwhile waits for a connection anyway.
    private func wait(seconds: Double) {
        _ = state.patience.wait(timeout: .now() + seconds)
    }
}

extension PostgresSession {
    fileprivate mutating func execute(
        _ statement: PostgresStatement, _ fill: (inout PostgresParameters) -> Void
    ) throws(PostgresError) -> PostgresResult {
        var parameters = PostgresParameters()
        fill(&parameters)
        return try execute(statement, parameters)
    }
}
