internal import CPostgres
internal import TLS

/// Messages of a copy, one behind the other.
public struct PostgresCopyChunk: Hashable, Sendable {
    public private(set) var bytes: [UInt8] = []
    public private(set) var ranges: [Range<Int>] = []
    /// The copy is over, and ended well.
    public internal(set) var isFinished = false

    public init() {}

    public var isEmpty: Bool { ranges.isEmpty }

    mutating func append(_ message: UnsafeBufferPointer<CChar>) {
        let start = bytes.count
        message.withMemoryRebound(to: UInt8.self) { bytes.append(contentsOf: $0) }
        ranges.append(start..<bytes.count)
    }
}

extension PostgresSession {
    /// Whether a copy was begun by `query` and has not ended.
    public var isCopying: Bool { copy != .none }

    /// What has come of a copy (`COPY ... TO STDOUT`: a message a row; replication: a message each).
    ///
    /// - Parameters:
    ///   - maximumBytes: stops behind the message that reaches it. One message may be as large as a row.
    ///   - waitMilliseconds: for the first message; empty after that time or a nudge. An answer of ours is not due here, so
    ///     that silence is no fault.
    public mutating func readCopy(
        maximumBytes: Int, waitMilliseconds: Int32
    ) throws(PostgresError) -> PostgresCopyChunk {
        if let fault { throw fault }
        guard copy != .none else { throw .unexpected("no copy is under way") }
        var chunk = PostgresCopyChunk()
        var hasWaited = false
        while chunk.bytes.count < maximumBytes {
            var message: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(raw, &message, 1)
            if count > 0, let message {
                chunk.append(UnsafeBufferPointer(start: message, count: Int(count)))
                PQfreemem(message)
                continue
            }
            if count == 0 {
                if hasWaited { return chunk }
                // Behind the first message: only what is there already.
                let wake = try wait(
                    for: .read, timeoutMilliseconds: chunk.isEmpty ? waitMilliseconds : 0, mayEnd: chunk.isEmpty)
                if wake.isReadable { try consume() } else { hasWaited = true }
                continue
            }
            if count == -2 { throw try endOfCopy() ?? lost() }
            if let error = try endOfCopy() { throw error }
            chunk.isFinished = true
            return chunk
        }
        return chunk
    }

    /// Sends one message of a copy that goes both ways, at once.
    public mutating func sendCopy(_ message: [UInt8]) throws(PostgresError) {
        if let fault { throw fault }
        guard copy == .both else { throw .unexpected("no copy goes both ways") }
        let sent = message.withUnsafeBytes { bytes in
            PQputCopyData(raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count))
        }
        guard sent == 1 else { throw lost() }
        try flush()
    }

    /// Ends a copy that goes both ways, and reads on until the server has ended its side or is silent for so long: only
    /// then has it taken in what was sent last.
    public mutating func finishCopy(silenceMilliseconds: Int32) throws(PostgresError) {
        guard copy == .both else { return }
        guard PQputCopyEnd(raw, nil) == 1 else { throw lost() }
        try flush()
        while copy != .none {
            let chunk = try readCopy(maximumBytes: 1 << 20, waitMilliseconds: silenceMilliseconds)
            if chunk.isEmpty, !chunk.isFinished { throw fail(.silent(milliseconds: silenceMilliseconds)) }
        }
    }

    /// Reads the copy's result.
    /// - Returns: the error with which it ended.
    private mutating func endOfCopy() throws(PostgresError) -> PostgresError? {
        let wasBoth = copy == .both
        copy = .none
        var error: PostgresError?
        while let result = try nextResult() {
            switch PQresultStatus(result) {
            case PGRES_COPY_IN where wasBoth:
                // The server has ended its side first: ours is due.
                PQclear(result)
                guard PQputCopyEnd(raw, nil) == 1 else { throw lost() }
                try flush()
            case PGRES_FATAL_ERROR, PGRES_NONFATAL_ERROR, PGRES_BAD_RESPONSE:
                if error == nil { error = fault(of: result) }
                PQclear(result)
            default: PQclear(result)
            }
        }
        return error
    }
}
