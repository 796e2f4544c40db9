internal import CardRules
internal import Lanes
internal import Postgres

/// What belongs to no device: slate, sessions, paused gateways.
enum CommonCalls {
    static func add(_ batch: CommitBatch, to calls: inout [PostgresCall]) {
        if !batch.slateLines.isEmpty {
            var values = PostgresParameters()
            values.int64(Int64(batch.slateLines.count))
            values.array(of: .int8, batch.slateLines) { $1.int64($0.at.milliseconds) }
            values.array(of: .bytea, batch.slateLines) { $1.bytea(SlateLineCodec.encode($0.line)) }
            values.int64(batch.slateTag)
            calls.append(PostgresCall(CommitStatements.slateLines, values))
        }
        addTime(batch.forgetSlateBefore, CommitStatements.forgetSlate, to: &calls)
        addSessions(batch.sessions, to: &calls)
        addTime(batch.forgetSessionsBefore, CommitStatements.forgetSessions, to: &calls)
        for (statement, isPaused) in [(CommitStatements.pause, true), (CommitStatements.resume, false)] {
            let gateways = batch.pauses.filter { $0.value == isPaused }.keys.map(\.rawValue).sorted()
            guard !gateways.isEmpty else { continue }
            var values = PostgresParameters()
            values.array(of: .text, gateways) { $1.text($0) }
            calls.append(PostgresCall(statement, values))
        }
    }

    /// The newest of each, by id.
    static func rows(_ sessions: [Session]) -> [Session] {
        var newest: [CardKey: Session] = [:]
        for session in sessions where session.version > newest[session.id]?.version ?? .min {
            newest[session.id] = session
        }
        return newest.values.sorted { $0.id < $1.id }
    }

    private static func addSessions(_ sessions: [Session], to calls: inout [PostgresCall]) {
        let rows = rows(sessions)
        guard !rows.isEmpty else { return }
        var values = PostgresParameters()
        values.array(of: .text, rows) { $1.text($0.id.text) }
        values.array(of: .int8, rows) { $1.int64($0.version) }
        values.array(of: .int8, rows) { session, value in
            if let stopped = session.stoppedAt { value.int64(stopped.milliseconds) }
        }
        values.array(of: .bytea, rows) { $1.bytea(SessionCodec.encode($0)) }
        values.int64(Int64(rows.count))
        calls.append(PostgresCall(CommitStatements.sessions, values))
    }

    private static func addTime(_ time: WallTime?, _ statement: PostgresStatement, to calls: inout [PostgresCall]) {
        guard let time else { return }
        var values = PostgresParameters()
        values.int64(time.milliseconds)
        calls.append(PostgresCall(statement, values))
    }
}
