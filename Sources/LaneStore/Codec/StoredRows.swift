internal import CardRules
internal import Lanes

/// Rows as both stores read them: what does not parse is named by table and key.
enum StoredRows {
    /// Lanes of a partition, and those between them that do not parse.
    struct Lanes {
        private(set) var lanes: [StoredLane] = []
        private(set) var damaged: [DamagedLane] = []
        /// The last device, read or not; `nil` where there was no row.
        private(set) var last: String?

        mutating func add(_ name: String, generation: Int64, body: [UInt8]) {
            last = name
            do throws(StoreError) {
                lanes.append(try StoredRows.lane(name, generation: generation, body: body))
            } catch {
                let detail = if case .corrupt(_, _, let detail) = error { detail } else { "\(error)" }
                damaged.append(DamagedLane(key: name, detail: detail))
            }
        }
    }

    static func lane(_ name: String, generation: Int64, body: [UInt8]) throws(StoreError) -> StoredLane {
        guard let generation = UInt32(exactly: generation) else {
            throw .corrupt(table: "lane", key: name, detail: "generation: impossible value")
        }
        let record = try parsed("lane", name) { () throws(CodecFault) in try RecordCodec.decode(body) }
        guard record.device.text == name else {
            throw .corrupt(table: "lane", key: name, detail: "device: the record names another")
        }
        return StoredLane(record: record, generation: Generation(generation))
    }

    static func owner(token: [UInt8], device name: String) throws(StoreError) -> PhoneOwner {
        guard let device = DeviceID(name) else {
            throw .corrupt(table: "owner", key: name, detail: "device: impossible value")
        }
        return PhoneOwner(token: token, device: device)
    }

    static func session(_ name: String, body: [UInt8]) throws(StoreError) -> Session {
        let session = try parsed("session", name) { () throws(CodecFault) in try SessionCodec.decode(body) }
        guard session.id.text == name else {
            throw .corrupt(table: "session", key: name, detail: "id: the row names another")
        }
        return session
    }

    static func line(_ seq: Int64, at: Int64, body: [UInt8]) throws(StoreError) -> ArrivedLine {
        let line = try parsed("slate_line", "\(seq)") { () throws(CodecFault) in try SlateLineCodec.decode(body) }
        return ArrivedLine(line: line, at: WallTime(milliseconds: at))
    }

    static func post(
        _ id: PostID, device name: String, body: [UInt8], epoch: Int64
    ) throws(StoreError) -> ReceivedPost {
        let key = "\(id.partition) \(id.origin) \(id.number)"
        guard let device = DeviceID(name) else {
            throw .corrupt(table: "inbox", key: key, detail: "device: impossible value")
        }
        let event = try parsed("inbox", key) { () throws(CodecFault) in try EventCodec.decode(body, for: device) }
        return ReceivedPost(id: id, epoch: epoch, event: event)
    }

    static func reply(_ body: [UInt8]) throws(StoreError) -> DeviceReply {
        try parsed("inbox", "answer") { () throws(CodecFault) in try ReplyCodec.decode(body) }
    }

    /// The entries of one row, numbered from the row's own number on.
    static func entries(
        from first: Int64, device name: String, body: [UInt8]
    ) throws(StoreError) -> [SequencedTimelineRow] {
        guard let device = DeviceID(name) else {
            throw .corrupt(table: "timeline", key: "\(name) \(first)", detail: "device: impossible value")
        }
        let rows = try parsed("timeline", "\(name) \(first)") { () throws(CodecFault) in
            try TimelineCodec.decode(body, of: device)
        }
        return rows.enumerated().map { SequencedTimelineRow(sequence: first + Int64($0.offset), row: $0.element) }
    }

    static func gateway(_ name: String) throws(StoreError) -> Gateway {
        guard let gateway = Gateway(rawValue: name) else {
            throw .corrupt(table: "paused_gateway", key: name, detail: "gateway: impossible value")
        }
        return gateway
    }

    /// A timeline row's number is that of its first entry, so a row leaves room for this many.
    static let entriesPerRow = 64

    /// The entries of one device that follow each other become one row.
    static func turns(of entries: [TimelineRow]) -> [Range<Int>] {
        var turns: [Range<Int>] = []
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].device == entries[start].device, end - start < entriesPerRow {
                end += 1
            }
            turns.append(start..<end)
            start = end
        }
        return turns
    }

    /// The page that was asked for, of the entries of rows that reach over both its ends.
    static func page(
        _ portions: [[SequencedTimelineRow]], newestFirst: Bool, after: Int64?, limit: Int
    ) -> [SequencedTimelineRow] {
        guard let after else { return (newestFirst ? portions.reversed() : portions).flatMap(\.self).suffix(limit) }
        return Array(portions.flatMap(\.self).filter { $0.sequence > after }.prefix(limit))
    }

    private static func parsed<Value>(
        _ table: String, _ key: String, _ decode: () throws(CodecFault) -> Value
    ) throws(StoreError) -> Value {
        do throws(CodecFault) {
            return try decode()
        } catch {
            throw .corrupt(table: table, key: key, detail: error.detail)
        }
    }
}
