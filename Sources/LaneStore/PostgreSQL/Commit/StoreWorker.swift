internal import CardRules
internal import Lanes
internal import Postgres

/// One connection of the store, for its thread: connects, works, and connects again for as long as the store is open.
struct StoreWorker: ~Copyable {
    let exchange: StoreExchange
    let address: PostgresAddress
    let settings: PostgresSettings
    let interrupt: PostgresInterrupt
    let random: any RandomSource
    /// What a lost connection has left open.
    private var carried: Carried?
    private var backoff = PostgresBackoff()
    /// Connections tried since the store was closed.
    private var lastTries = 0

    private enum Carried {
        case commit(CommitGroup, CommitCourse)
        case read(StoreExchange.ReadJob)
    }

    /// Connections that a closed store still tries for what may have landed.
    static let triesWhenClosed = 5

    init(
        _ exchange: StoreExchange, _ address: PostgresAddress, _ settings: PostgresSettings,
        _ interrupt: PostgresInterrupt, _ random: any RandomSource
    ) {
        self.exchange = exchange
        self.address = address
        self.settings = settings
        self.interrupt = interrupt
        self.random = random
    }

    mutating func run() {
        while true {
            do throws(PostgresError) {
                var session = try PostgresSession.connect(to: address, settings: settings, interrupt: interrupt)
                _ = try session.query(PostgresStore.durability)
                exchange.connected()
                let isOver = serve(&session)
                exchange.disconnected()
                if isOver { return }
            } catch {
                exchange.unreachable(error)
                giveUp(error)
            }
            if exchange.isClosed {
                lastTries += 1
                if lastTries > Self.triesWhenClosed {
                    abandon()
                    return
                }
            }
            pause()
        }
    }

    /// - Returns: whether the store is closed and all is done; else the connection is lost.
    private mutating func serve(_ session: inout PostgresSession) -> Bool {
        if let left = carried {
            carried = nil
            let goesOn =
                switch left {
                case .commit(let group, let course): commit(group, course, &session)
                case .read(let job): read(job, isAgain: true, &session)
                }
            guard goesOn else { return false }
        }
        backoff.reset()
        while let job = exchange.next() {
            let goesOn =
                switch job {
                case .commit(let group): commit(group, CommitCourse(), &session)
                case .read(let job): read(job, isAgain: false, &session)
                case .tidy(let tidying): tidy(tidying, &session)
                case .look: stands(&session)
                }
            guard goesOn else { return false }
        }
        return true
    }

    private mutating func pause() { exchange.pause(seconds: backoff.next(random: random.next())) }

    /// No connection can be made: what was certainly not written is told so.
    private mutating func giveUp(_ error: PostgresError) {
        switch carried {
        case .commit(let group, let course) where !course.isOpen:
            exchange.failed(group, as: .unavailable(detail: "\(error)"))
        case .read(let job): job.fail(.unavailable(detail: "\(error)"))
        case .commit, nil: return
        }
        carried = nil
    }

    /// The program ends. What is open stays open: whoever loads the lanes next reads the truth.
    private mutating func abandon() {
        if case .commit(let group, let course) = carried {
            if course.stage == .landed {
                // Which rows were refused is not known: then all may have been.
                let all = group.orders.map {
                    RefusedRows(
                        lanes: $0.batch.lanes.map(\.record.device), claims: $0.batch.claims,
                        sessions: $0.batch.sessions.map(\.id))
                }
                exchange.landed(group, refused: all)
            } else {
                exchange.failed(group, as: .unavailable(detail: "the store was closed while its answer was out"))
            }
        }
        if case .read(let job) = carried { job.fail(.unavailable(detail: "the store is closed")) }
        carried = nil
    }

    // MARK: - Commits

    /// - Returns: whether the connection goes on.
    private mutating func commit(
        _ group: CommitGroup, _ begun: CommitCourse, _ session: inout PostgresSession
    ) -> Bool {
        var course = begun
        var rows = CommitRows(group)
        // When nothing has been sent yet.
        guard stands(&session) else {
            carried = .commit(group, course)
            return false
        }
        while true {
            do throws(PostgresError) {
                if case .cancelling(let error) = course.stage {
                    _ = try session.pipeline(rows.cancelCalls)
                    exchange.cancelled(group, as: error)
                    return true
                }
                if course.stage == .writing, try write(rows, &session) {
                    exchange.landed(group, refused: rows.refused)
                    return true
                }
                course.stage = .landed
                try askRefused(&rows, &session)
                exchange.landed(group, refused: rows.refused)
                return true
            } catch {
                switch course.take(error, orders: group.orders.count) {
                case .goOn: continue
                case .again(let afterPause): if afterPause { pause() }
                case .reconnect:
                    carried = .commit(group, course)
                    return false
                case .fail(let failure):
                    exchange.failed(group, as: failure)
                    return true
                case .split: return writeAlone(group, &session)
                case .lookUp:
                    do throws(PostgresError) {
                        switch try verdict(on: group, course, &session) {
                        case .landed: course.stage = .landed
                        case .cancelled:
                            exchange.cancelled(group, as: course.failure)
                            return true
                        case .open: pause()
                        case .fenced(let lost):
                            exchange.fenced(group, lost: lost)
                            return true
                        }
                    } catch {
                        guard error.nextStep == .reconnect || error.endsConnection else {
                            pause()
                            continue
                        }
                        carried = .commit(group, course)
                        return false
                    }
                }
            }
        }
    }

    /// - Returns: whether all lanes and claims were taken.
    private func write(_ rows: CommitRows, _ session: inout PostgresSession) throws(PostgresError) -> Bool {
        guard !rows.isNothing else { return true }
        let calls = rows.calls
        let results = try session.pipeline(calls)
        for (call, result) in zip(calls, results) {
            let expected =
                switch call.statement.name {
                case CommitStatements.lanes.name: rows.lanes.count
                case CommitStatements.claims.name: rows.claims.count
                case CommitStatements.sessions.name: rows.sessions.count
                default: result.affected
                }
            if result.affected != expected { return false }
        }
        return true
    }

    private func askRefused(_ rows: inout CommitRows, _ session: inout PostgresSession) throws(PostgresError) {
        let results = try session.pipeline(rows.refusalCalls)
        var places: [[Int]] = []
        for result in results {
            var found: [Int] = []
            for row in 0..<result.rows { found.append(Int(try result.integer(row, 0) ?? 0) - 1) }
            places.append(found.sorted())
        }
        guard places.count == 3 else { throw .unexpected("\(places.count) answers to three questions") }
        rows.refuse(lanes: places[0], claims: places[1], sessions: places[2])
    }

    private func verdict(
        on group: CommitGroup, _ course: CommitCourse, _ session: inout PostgresSession
    ) throws(PostgresError) -> CommitGroup.Verdict {
        var places = PostgresParameters()
        places.array(of: .int2, group.fences) { $1.int16(Int16($0.partition)) }
        var writer = PostgresParameters()
        writer.int64(group.writer)
        let results = try session.pipeline([
            PostgresCall(SettlingStatements.leases, places), PostgresCall(SettlingStatements.writer, writer),
        ])
        var found: [Int: (epoch: Int64, seq: Int64)] = [:]
        for row in 0..<results[0].rows {
            guard let place = try results[0].integer(row, 0), let epoch = try results[0].integer(row, 1),
                let seq = try results[0].integer(row, 2)
            else { continue }
            found[Int(place)] = (epoch, seq)
        }
        return group.judge(
            found: found, writerSeq: try results[1].integer(0, 0), wasSent: course.wasSent)
    }

    /// Nothing of the group stands. Each order as a group of its own, under the same counters.
    private mutating func writeAlone(_ group: CommitGroup, _ session: inout PostgresSession) -> Bool {
        let parts = group.parts
        for (index, part) in parts.enumerated() where !commit(part, CommitCourse(), &session) {
            // The connection is lost; what was not begun was not sent.
            for rest in parts.dropFirst(index + 1) { exchange.putBack(rest) }
            return false
        }
        return true
    }

    // MARK: - The rest

    /// A connection that was lost while idle shows here. Only looks; the server is not asked.
    private func stands(_ session: inout PostgresSession) -> Bool {
        do throws(PostgresError) {
            _ = try session.waitForNotifications(timeoutMilliseconds: 0)
            return true
        } catch {
            return false
        }
    }

    private mutating func read(
        _ job: StoreExchange.ReadJob, isAgain: Bool, _ session: inout PostgresSession
    ) -> Bool {
        guard let error = job.run(&session) else { return true }
        if isAgain { job.fail(.unavailable(detail: "\(error)")) } else { carried = .read(job) }
        return false
    }

    /// What fails is tried again with the next.
    private func tidy(_ tidying: Tidying, _ session: inout PostgresSession) -> Bool {
        var rows = PostgresParameters()
        rows.int64(tidying.timelineBefore)
        rows.int64(tidying.timelineRows)
        do throws(PostgresError) {
            _ = try session.execute(SettlingStatements.pruneTimeline, rows)
            guard let before = tidying.claimsBefore else { return true }
            var claims = PostgresParameters()
            claims.int64(before)
            _ = try session.execute(SettlingStatements.pruneClaims, claims)
            return true
        } catch {
            return !(error.endsConnection || error.nextStep == .reconnect)
        }
    }
}
