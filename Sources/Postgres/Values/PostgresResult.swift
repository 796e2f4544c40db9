internal import CPostgres

/// The answer to one statement. Rows and columns count from 0.
///
/// Values of statements with parameters are binary, those of plain queries text: the readers take both.
public final class PostgresResult: @unchecked Sendable {  // libpq: a PGresult is read-only and may go between threads
    private let raw: OpaquePointer  // ours: cleared in deinit

    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { PQclear(raw) }

    public var rows: Int { Int(PQntuples(raw)) }

    public var columns: Int { Int(PQnfields(raw)) }

    /// Rows that the statement wrote or, for a query, gave; 0 for statements that do neither.
    public var affected: Int { Int(String(cString: PQcmdTuples(raw))) ?? 0 }

    /// The name of a column; empty for one that is not there.
    public func name(of column: Int) -> String { PQfname(raw, Int32(column)).map { String(cString: $0) } ?? "" }

    public func isNull(_ row: Int, _ column: Int) -> Bool { !isThere(row, column) }

    /// The value's bytes, for as long as `body` runs; `nil` for NULL.
    public func withBytes<Value>(_ row: Int, _ column: Int, _ body: (Span<UInt8>?) -> Value) -> Value {
        guard isThere(row, column), let value = PQgetvalue(raw, Int32(row), Int32(column)) else { return body(nil) }
        let count = Int(PQgetlength(raw, Int32(row), Int32(column)))
        return value.withMemoryRebound(to: UInt8.self, capacity: max(1, count)) { start in
            body(UnsafeBufferPointer(start: start, count: count).span)
        }
    }

    /// A copy of the bytes; `nil` for NULL.
    public func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
        withBytes(row, column) { span in
            guard let span else { return nil }
            return span.withUnsafeBufferPointer { Array($0) }
        }
    }

    /// The value as UTF-8 text; `nil` for NULL.
    public func text(_ row: Int, _ column: Int) -> String? {
        bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A whole number of 2, 4 or 8 bytes; `nil` for NULL.
    /// - Throws: `unexpected` for a value that is none.
    public func integer(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        guard let bytes = bytes(row, column) else { return nil }
        if PQfformat(raw, Int32(column)) == 0 {
            guard let value = Int64(String(decoding: bytes, as: UTF8.self)) else { throw wrong(column, "a number") }
            return value
        }
        switch bytes.count {
        case 2: return Int64(Int16(truncatingIfNeeded: bytes.bigEndian))
        case 4: return Int64(Int32(truncatingIfNeeded: bytes.bigEndian))
        case 8: return Int64(truncatingIfNeeded: bytes.bigEndian)
        default: throw wrong(column, "a number of 2, 4 or 8 bytes")
        }
    }

    /// `nil` for NULL.
    /// - Throws: `unexpected` for a value that is none.
    public func bool(_ row: Int, _ column: Int) throws(PostgresError) -> Bool? {
        guard let bytes = bytes(row, column) else { return nil }
        switch bytes {
        case [1], [UInt8(ascii: "t")]: return true
        case [0], [UInt8(ascii: "f")]: return false
        default: throw wrong(column, "true or false")
        }
    }

    private func isThere(_ row: Int, _ column: Int) -> Bool {
        (0..<rows).contains(row) && (0..<columns).contains(column) && PQgetisnull(raw, Int32(row), Int32(column)) == 0
    }

    private func wrong(_ column: Int, _ expected: String) -> PostgresError {
        .unexpected("column \(name(of: column)) is not \(expected)")
    }
}

extension [UInt8] {
    fileprivate var bigEndian: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}
