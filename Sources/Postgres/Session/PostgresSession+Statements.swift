internal import CPostgres

extension PostgresSession {
    /// Plain SQL, one statement or several (then one transaction), answered in text. The one way on a replication
    /// connection.
    /// - Returns: one result per statement; the last is a copy's beginning when the statement begins one.
    public mutating func query(_ sql: String) throws(PostgresError) -> [PostgresResult] {
        try begin()
        guard PQsendQuery(raw, sql) == 1 else { throw lost() }
        try flush()
        var results: [PostgresResult] = []
        var error: PostgresError?
        while let result = try nextResult() {
            switch PQresultStatus(result) {
            case PGRES_COPY_OUT, PGRES_COPY_BOTH:
                copy = PQresultStatus(result) == PGRES_COPY_OUT ? .out : .both
                results.append(PostgresResult(result))
                return results
            case PGRES_COPY_IN:
                PQclear(result)
                throw fail(.lost("a COPY FROM STDIN was begun, which nothing here feeds"))
            case PGRES_FATAL_ERROR, PGRES_NONFATAL_ERROR, PGRES_BAD_RESPONSE:
                // The first one stands; behind it there is nothing but what the server says while it goes.
                if error == nil { error = fault(of: result) }
                PQclear(result)
            default: results.append(PostgresResult(result))
            }
        }
        if let error { throw error }
        return results
    }

    /// One statement with parameters, both ways binary; a transaction of its own unless one is open.
    public mutating func execute(
        _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters()
    ) throws(PostgresError) -> PostgresResult {
        let results = try pipeline([PostgresCall(statement, parameters)])
        guard let result = results.first else { throw .unexpected("no result") }
        return result
    }

    /// Statements in one round trip, which are one transaction: all of them, or none.
    ///
    /// - Returns: one result each. It was read behind the server's word that the transaction is committed.
    /// - Throws: the first statement's error; the others were then not done.
    public mutating func pipeline(_ calls: [PostgresCall]) throws(PostgresError) -> [PostgresResult] {
        try begin()
        guard !calls.isEmpty else { return [] }
        let missing = calls.map(\.statement).filter { !preparedStatements.contains($0.name) }
        if !missing.isEmpty { try prepare(missing) }
        return try inPipeline { session in
            for call in calls { if !session.send(call) { return false } }
            return true
        } count: {
            calls.count
        }
    }

    /// Ahead of time; else each is prepared when it is first run. One round trip.
    public mutating func prepare(_ statements: [PostgresStatement]) throws(PostgresError) {
        try begin()
        var new: [PostgresStatement] = []
        for statement in statements
        where !preparedStatements.contains(statement.name) && !new.contains(where: { $0.name == statement.name }) {
            new.append(statement)
        }
        guard !new.isEmpty else { return }
        let wanted = new
        _ = try inPipeline { session in
            for statement in wanted {
                let types = statement.parameters.map { Oid($0.rawValue) }
                let sent = PQsendPrepare(session.raw, statement.name, statement.sql, Int32(types.count), types)
                if sent != 1 { return false }
            }
            return true
        } count: {
            wanted.count
        }
        // A statement prepared in a pipeline that failed stands or not; then nothing was noted, and all is dropped.
        for statement in wanted { preparedStatements.insert(statement.name) }
    }

    private mutating func inPipeline(
        _ send: (inout PostgresSession) -> Bool, count: () -> Int
    ) throws(PostgresError) -> [PostgresResult] {
        guard PQenterPipelineMode(raw) == 1 else { throw lost() }
        guard send(&self), PQpipelineSync(raw) == 1 else { throw lost() }
        try flush()
        var results: [PostgresResult] = []
        var error: PostgresError?
        for _ in 0..<count() {
            // The results of each call end with NULL.
            while let result = try nextResult() {
                switch PQresultStatus(result) {
                case PGRES_TUPLES_OK, PGRES_COMMAND_OK: results.append(PostgresResult(result))
                case PGRES_PIPELINE_ABORTED: PQclear(result)
                default:
                    if error == nil { error = fault(of: result) }
                    PQclear(result)
                }
            }
            if let error, error.endsConnection { throw error }
        }
        try endPipeline(&error)
        if let error { throw error }
        guard results.count == count() else { throw .unexpected("\(results.count) results for \(count()) statements") }
        return results
    }

    /// Reads the sync, which has no NULL behind it. An error here is one of the commit itself (a deferred constraint).
    private mutating func endPipeline(_ error: inout PostgresError?) throws(PostgresError) {
        while true {
            guard let result = try nextResult() else { continue }
            let status = PQresultStatus(result)
            if status != PGRES_PIPELINE_SYNC, error == nil { error = fault(of: result) }
            PQclear(result)
            if let error, error.endsConnection { throw error }
            if status == PGRES_PIPELINE_SYNC { break }
        }
        guard PQexitPipelineMode(raw) == 1 else { throw lost() }
    }

    /// Only copied into libpq's buffer here.
    private func send(_ call: PostgresCall) -> Bool {
        let parameters = call.parameters
        var lengths: [Int32] = []
        var formats: [Int32] = []
        for range in parameters.ranges {
            lengths.append(Int32(clamping: range?.count ?? 0))
            formats.append(1)
        }
        return parameters.bytes.withUnsafeBytes { bytes in
            // Of an empty arena there is no address, and an empty value is no NULL.
            let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            let values = parameters.ranges.map { range in
                range.flatMap { range in
                    start.map { ($0 + range.lowerBound).assumingMemoryBound(to: CChar.self) }
                }
            }
            return PQsendQueryPrepared(
                raw, call.statement.name, Int32(parameters.count), values, lengths, formats, 1) == 1
        }
    }

    /// - Returns: `nil` behind a statement's last result. The caller clears.
    mutating func nextResult() throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(raw) != 0 { try waitForAnswer() }
        return PQgetResult(raw)
    }
}
