/// One message of PostgreSQL's output plugin `pgoutput`, protocol version 1.
/// Source: PostgreSQL, "Logical Replication Message Formats".
enum RowChange: Hashable, Sendable {
    /// A transaction begins, which is committed: `commit` is where, `at` when.
    case begin(commit: LogPosition, at: ServerTime)
    /// It is complete. `end` is confirmed when its changes are durable.
    case commit(end: LogPosition, at: ServerTime)
    /// What a table looks like from here on.
    case relation(Relation)
    case insert(table: UInt32, new: Tuple)
    /// `key`: the old values of the replica identity's columns where one changed; with `REPLICA IDENTITY FULL` the whole
    /// old row.
    case update(table: UInt32, key: Tuple?, new: Tuple)
    case delete(table: UInt32, key: Tuple)
    case truncate(tables: [UInt32])
    /// The transaction came from another server's replication.
    case origin(name: String)
    /// A type's name, ahead of the table that uses it.
    case type(number: UInt32, name: String)

    struct Relation: Hashable, Sendable {
        let number: UInt32
        let schema: String
        let name: String
        let columns: [Column]
    }

    struct Column: Hashable, Sendable {
        let name: String
        /// Part of the replica identity.
        let isKey: Bool
    }

    /// A row, by the columns of its table.
    struct Tuple: Hashable, Sendable {
        var values: [Value]
    }

    enum Value: Hashable, Sendable {
        case null
        /// A value too large to stand in the row, which the change did not touch: it is not sent, and what is held stays
        /// (C5).
        case unchanged
        /// Where its text stands in the bytes that were read.
        case text(Range<Int>)
    }
}

/// The server's time: microseconds since 2000-01-01 UTC.
struct ServerTime: Hashable, Sendable {
    let microseconds: Int64
}

extension RowChange {
    /// - Parameter range: the message, in `bytes`.
    static func read(_ bytes: Span<UInt8>, in range: Range<Int>) throws(WireFault) -> RowChange {
        var reader = WireReader(range)
        let change = try read(bytes, &reader)
        guard reader.isAtEnd else { throw WireFault(.tooLong, at: reader.position) }
        return change
    }

    private static func read(_ bytes: Span<UInt8>, _ reader: inout WireReader) throws(WireFault) -> RowChange {
        let start = reader.position
        switch try reader.byte(bytes) {
        case UInt8(ascii: "B"):
            let commit = try reader.position(bytes)
            let at = try reader.time(bytes)
            _ = try reader.uint32(bytes)  // the transaction's number
            return .begin(commit: commit, at: at)
        case UInt8(ascii: "C"):
            _ = try reader.byte(bytes)  // flags, none defined
            _ = try reader.position(bytes)
            let end = try reader.position(bytes)
            return .commit(end: end, at: try reader.time(bytes))
        case UInt8(ascii: "R"): return .relation(try relation(bytes, &reader))
        case UInt8(ascii: "I"):
            let table = try reader.uint32(bytes)
            try reader.expectNew(bytes)
            return .insert(table: table, new: try tuple(bytes, &reader))
        case UInt8(ascii: "U"):
            let table = try reader.uint32(bytes)
            var key: Tuple?
            let kind = try reader.byte(bytes)
            switch kind {
            case UInt8(ascii: "K"), UInt8(ascii: "O"):
                key = try tuple(bytes, &reader)
                try reader.expectNew(bytes)
            case UInt8(ascii: "N"): break
            default: throw WireFault(.unknownTuple(kind), at: reader.position - 1)
            }
            return .update(table: table, key: key, new: try tuple(bytes, &reader))
        case UInt8(ascii: "D"):
            let table = try reader.uint32(bytes)
            let kind = try reader.byte(bytes)
            guard kind == UInt8(ascii: "K") || kind == UInt8(ascii: "O") else {
                throw WireFault(.unknownTuple(kind), at: reader.position - 1)
            }
            return .delete(table: table, key: try tuple(bytes, &reader))
        case UInt8(ascii: "T"):
            let count = try reader.uint32(bytes)
            _ = try reader.byte(bytes)  // CASCADE, RESTART IDENTITY
            var tables: [UInt32] = []
            for _ in 0..<count { tables.append(try reader.uint32(bytes)) }
            return .truncate(tables: tables)
        case UInt8(ascii: "O"):
            _ = try reader.position(bytes)
            return .origin(name: try reader.text(bytes))
        case UInt8(ascii: "Y"):
            let number = try reader.uint32(bytes)
            _ = try reader.text(bytes)
            return .type(number: number, name: try reader.text(bytes))
        case let kind: throw WireFault(.unknownMessage(kind), at: start)
        }
    }

    private static func relation(
        _ bytes: Span<UInt8>, _ reader: inout WireReader
    ) throws(WireFault) -> Relation {
        let number = try reader.uint32(bytes)
        let schema = try reader.text(bytes)
        let name = try reader.text(bytes)
        _ = try reader.byte(bytes)  // the kind of replica identity; the columns tell
        var columns: [Column] = []
        for _ in 0..<(try reader.uint16(bytes)) {
            let isKey = try reader.byte(bytes) & 1 != 0
            columns.append(Column(name: try reader.text(bytes), isKey: isKey))
            _ = try reader.uint32(bytes)  // its type
            _ = try reader.uint32(bytes)  // and the type's modifier
        }
        // The system schema comes as an empty name.
        return Relation(
            number: number, schema: schema.isEmpty ? "pg_catalog" : schema, name: name, columns: columns)
    }

    private static func tuple(_ bytes: Span<UInt8>, _ reader: inout WireReader) throws(WireFault) -> Tuple {
        var values: [Value] = []
        for _ in 0..<(try reader.uint16(bytes)) {
            let kind = try reader.byte(bytes)
            switch kind {
            case UInt8(ascii: "n"): values.append(.null)
            case UInt8(ascii: "u"): values.append(.unchanged)
            case UInt8(ascii: "t"): values.append(.text(try reader.take(Int(try reader.uint32(bytes)))))
            // Binary values ('b') come only to who asks for them.
            default: throw WireFault(.unknownValue(kind), at: reader.position - 1)
            }
        }
        return Tuple(values: values)
    }
}

extension WireReader {
    mutating func time(_ bytes: Span<UInt8>) throws(WireFault) -> ServerTime {
        ServerTime(microseconds: Int64(bitPattern: try uint64(bytes)))
    }

    fileprivate mutating func expectNew(_ bytes: Span<UInt8>) throws(WireFault) {
        let kind = try byte(bytes)
        guard kind == UInt8(ascii: "N") else { throw WireFault(.unknownTuple(kind), at: position - 1) }
    }
}
