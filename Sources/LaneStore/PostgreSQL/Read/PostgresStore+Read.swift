public import CardRules
public import Lanes
internal import Postgres

extension PostgresStore {
    /// Rows read in one go.
    static let portion: Int64 = 4000

    public func loadLanes(
        partition: Int, _ take: @Sendable ([StoredLane]) -> Void
    ) async throws -> [DamagedLane] {
        var last = ""
        var damaged: [DamagedLane] = []
        while true {
            let after = last
            let rows = try await read { session in
                let result = try session.execute(ReadStatements.lanes) {
                    $0.int16(Int16(clamping: partition))
                    $0.text(after)
                    $0.int64(Self.portion)
                }
                var rows = StoredRows.Lanes()
                for row in 0..<result.rows {
                    rows.add(
                        result.text(row, 0) ?? "", generation: try result.integer(row, 1) ?? -1,
                        body: result.bytes(row, 2) ?? [])
                }
                return rows
            }
            damaged += rows.damaged
            guard let newest = rows.last else { return damaged }
            last = newest
            take(rows.lanes)
        }
    }

    public func loadLane(_ device: DeviceID) async throws -> StoredLane? {
        try await read { session in
            let result = try session.execute(ReadStatements.lane) {
                $0.int16(Int16(partition(of: device)))
                $0.text(device.text)
            }
            return try result.map { row in
                try StoredRows.lane(
                    device.text, generation: try result.integer(row, 0) ?? -1, body: result.bytes(row, 1) ?? [])
            }.first
        }
    }

    public func timestampMark(partition: Int) async throws -> Int64? {
        try await read { session in
            try session.execute(ReadStatements.mark) { $0.int16(Int16(clamping: partition)) }.integer(0, 0)
        }
    }

    public func loadOwners(_ take: @Sendable ([PhoneOwner]) -> Void) async throws {
        var last: (home: Int16, token: [UInt8]) = (-1, [])
        while true {
            let after = last
            let owners = try await read { session in
                let result = try session.execute(ReadStatements.owners) {
                    $0.int16(after.home)
                    $0.bytea(after.token)
                    $0.int64(Self.portion)
                }
                return try result.map { row in
                    try StoredRows.owner(token: result.bytes(row, 0) ?? [], device: result.text(row, 1) ?? "")
                }
            }
            guard let newest = owners.last else { return }
            last = (Int16(partition(ofToken: newest.token)), newest.token)
            take(owners)
        }
    }

    public func loadSessions(_ take: @Sendable ([Session]) -> Void) async throws {
        var last = ""
        while true {
            let after = last
            let sessions = try await read { session in
                let result = try session.execute(ReadStatements.sessions) {
                    $0.text(after)
                    $0.int64(Self.portion)
                }
                return try result.map { row in
                    try StoredRows.session(result.text(row, 0) ?? "", body: result.bytes(row, 1) ?? [])
                }
            }
            guard let newest = sessions.last else { return }
            last = newest.id.text
            take(sessions)
        }
    }

    public func loadSlate(since: WallTime) async throws -> [ArrivedLine] {
        try await read { session in
            let result = try session.execute(ReadStatements.slate) { $0.int64(since.milliseconds) }
            return try result.map { row in
                try StoredRows.line(
                    try result.integer(row, 0) ?? 0, at: try result.integer(row, 1) ?? 0,
                    body: result.bytes(row, 2) ?? [])
            }
        }
    }

    public func timeline(device: DeviceID?, after: Int64?, limit: Int) async throws -> [SequencedTimelineRow] {
        guard limit > 0 else { return [] }
        let portions = try await read { session in
            let statement =
                switch (device, after) {
                case (nil, nil): ReadStatements.newestEntries
                case (nil, _): ReadStatements.entriesAfter
                case (_, nil): ReadStatements.newestOfDevice
                case (_, _): ReadStatements.entriesOfDevice
                }
            let result = try session.execute(statement) {
                // One more: the first row may end before `after` does.
                $0.int64(Int64(min(limit, Int(Int32.max))) + 1)
                if let after { $0.int64(after) }
                if let device {
                    $0.int16(Int16(partition(of: device)))
                    $0.text(device.text)
                }
            }
            return try result.map { row in
                try StoredRows.entries(
                    from: try result.integer(row, 0) ?? 0, device: result.text(row, 1) ?? "",
                    body: result.bytes(row, 2) ?? [])
            }
        }
        return StoredRows.page(portions, newestFirst: true, after: after, limit: limit)
    }

    public func pausedGateways() async throws -> Set<Gateway> {
        try await read { session in
            let result = try session.execute(ReadStatements.pauses) { _ in }
            return Set(try result.map { try StoredRows.gateway(result.text($0, 0) ?? "") })
        }
    }

    // MARK: - For a cluster

    func slate(after number: Int64) async throws -> [NumberedLine] {
        var lines: [NumberedLine] = []
        while true {
            let after = lines.last?.number ?? number
            let portion = try await read { session in
                let result = try session.execute(LinkStatements.slate) {
                    $0.int64(after)
                    $0.int64(Self.portion)
                }
                return try result.map { row in
                    let seq = try result.integer(row, 0) ?? 0
                    return NumberedLine(
                        number: seq, tag: try result.integer(row, 1) ?? 0,
                        arrived: try StoredRows.line(
                            seq, at: try result.integer(row, 2) ?? 0, body: result.bytes(row, 3) ?? []))
                }
            }
            lines += portion
            if portion.count < Int(Self.portion) { return lines }
        }
    }

    func sessions(changedAfter change: Int64) async throws -> [ChangedSession] {
        var sessions: [ChangedSession] = []
        while true {
            let after = sessions.last?.change ?? change
            let portion = try await read { session in
                let result = try session.execute(LinkStatements.sessions) {
                    $0.int64(after)
                    $0.int64(Self.portion)
                }
                return try result.map { row in
                    ChangedSession(
                        change: try result.integer(row, 0) ?? 0,
                        session: try StoredRows.session(result.text(row, 1) ?? "", body: result.bytes(row, 2) ?? []))
                }
            }
            sessions += portion
            if portion.count < Int(Self.portion) { return sessions }
        }
    }

    func isAwaited(_ device: DeviceID) async throws -> Bool {
        try await read { session in
            try session.execute(LinkStatements.awaited) {
                $0.int16(Int16(partition(of: device)))
                $0.text(device.text)
            }.bool(0, 0) ?? false
        }
    }

    /// Runs on one of the threads; once more when the connection turns out to be lost.
    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout PostgresSession) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let job = StoreExchange.ReadJob { session in
                do {
                    continuation.resume(returning: try body(&session))
                } catch let error as PostgresError {
                    if error.endsConnection || error.nextStep == .reconnect { return error }
                    continuation.resume(throwing: StoreError.unavailable(detail: "\(error)"))
                } catch {
                    continuation.resume(throwing: error)
                }
                return nil
            } fail: { error in
                continuation.resume(throwing: error)
            }
            if let refusal = exchange.offer(job) { continuation.resume(throwing: refusal) }
        }
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

extension PostgresResult {
    fileprivate func map<Value>(_ read: (Int) throws -> Value) throws -> [Value] { try (0..<rows).map(read) }
}

private enum ReadStatements {
    static let lanes = PostgresStatement(
        "load_lanes",
        "SELECT device, generation, body FROM lane WHERE partition = $1 AND device > $2 ORDER BY device LIMIT $3",
        [.int2, .text, .int8])
    static let lane = PostgresStatement(
        "load_lane", "SELECT generation, body FROM lane WHERE partition = $1 AND device = $2", [.int2, .text])
    static let mark = PostgresStatement("load_mark", "SELECT seconds FROM mark WHERE partition = $1", [.int2])
    static let owners = PostgresStatement(
        "load_owners",
        "SELECT token, device FROM owner WHERE (partition, token) > ($1, $2) ORDER BY partition, token LIMIT $3",
        [.int2, .bytea, .int8])
    static let sessions = PostgresStatement(
        "load_sessions", "SELECT id, body FROM session WHERE id > $1 ORDER BY id LIMIT $2", [.text, .int8])
    static let slate = PostgresStatement(
        "load_slate", "SELECT seq, at, body FROM slate_line WHERE at >= $1 ORDER BY seq", [.int8])
    static let pauses = PostgresStatement("load_pauses", "SELECT gateway FROM paused_gateway")

    // A row holds the entries of one turn and is numbered by the first: the one before may reach beyond `after`.
    static let newestEntries = PostgresStatement(
        "newest_entries", "SELECT seq, device, body FROM timeline ORDER BY seq DESC LIMIT $1", [.int8])
    static let entriesAfter = PostgresStatement(
        "entries_after",
        """
        SELECT seq, device, body FROM timeline
        WHERE seq >= coalesce((SELECT max(seq) FROM timeline WHERE seq <= $2), 0) ORDER BY seq LIMIT $1
        """, [.int8, .int8])
    static let newestOfDevice = PostgresStatement(
        "newest_of_device",
        "SELECT seq, device, body FROM timeline WHERE partition = $2 AND device = $3 ORDER BY seq DESC LIMIT $1",
        [.int8, .int2, .text])
    static let entriesOfDevice = PostgresStatement(
        "entries_of_device",
        """
        SELECT seq, device, body FROM timeline WHERE partition = $3 AND device = $4
        AND seq >= coalesce((SELECT max(seq) FROM timeline WHERE partition = $3 AND device = $4 AND seq <= $2), 0)
        ORDER BY seq LIMIT $1
        """, [.int8, .int8, .int2, .text])
}
