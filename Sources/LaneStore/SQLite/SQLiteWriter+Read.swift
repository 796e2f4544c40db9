internal import CardRules
internal import Lanes

extension SQLiteWriter {
    /// At most `limit` lanes of a partition, in order of device, those after `device`.
    func lanes(partition: Int, after device: String, limit: Int) throws(StoreError) -> [StoredLane] {
        var lanes: [StoredLane] = []
        try statements.loadLanes.rows(.integer(Int64(partition)), .text(device), .integer(Int64(limit))) {
            row throws(StoreError) in lanes.append(try lane(in: row))
        }
        return lanes
    }

    func lane(_ device: DeviceID) throws(StoreError) -> StoredLane? {
        var found: StoredLane?
        try statements.loadLane.rows(.integer(Int64(partition(of: device))), .text(device.text)) {
            row throws(StoreError) in found = try lane(in: row)
        }
        return found
    }

    /// A row of device, generation and body.
    private func lane(in row: SQLiteRow) throws(StoreError) -> StoredLane {
        let name = row.text(0)
        guard let generation = UInt32(exactly: row.integer(1)) else {
            throw .corrupt(table: "lane", key: name, detail: "generation: impossible value")
        }
        let body = row.blob(2)
        let record = try parsed(table: "lane", key: name) { () throws(CodecFault) in try RecordCodec.decode(body) }
        guard record.device.text == name else {
            throw .corrupt(table: "lane", key: name, detail: "device: the record names another")
        }
        return StoredLane(record: record, generation: Generation(generation))
    }

    func owners(after token: [UInt8], limit: Int) throws(StoreError) -> [PhoneOwner] {
        var owners: [PhoneOwner] = []
        try statements.loadOwners.rows(.blob(token), .integer(Int64(limit))) { row throws(StoreError) in
            guard let device = DeviceID(row.text(1)) else {
                throw .corrupt(table: "owner", key: row.text(1), detail: "device: impossible value")
            }
            owners.append(PhoneOwner(token: row.blob(0), device: device))
        }
        return owners
    }

    func sessions(after id: String, limit: Int) throws(StoreError) -> [Session] {
        var sessions: [Session] = []
        try statements.loadSessions.rows(.text(id), .integer(Int64(limit))) { row throws(StoreError) in
            let name = row.text(0)
            let body = row.blob(1)
            let session = try parsed(table: "session", key: name) { () throws(CodecFault) in
                try SessionCodec.decode(body)
            }
            guard session.id.text == name else {
                throw .corrupt(table: "session", key: name, detail: "id: the row names another")
            }
            sessions.append(session)
        }
        return sessions
    }

    func mark(partition: Int) throws(StoreError) -> Int64? {
        var mark: Int64?
        try statements.loadMark.rows(.integer(Int64(partition))) { row throws(StoreError) in mark = row.integer(0) }
        return mark
    }

    func slate(since: WallTime) throws(StoreError) -> [ArrivedLine] {
        var lines: [ArrivedLine] = []
        try statements.loadSlate.rows(.integer(since.milliseconds)) { row throws(StoreError) in
            let body = row.blob(2)
            let line = try parsed(table: "slate_line", key: "\(row.integer(0))") { () throws(CodecFault) in
                try SlateLineCodec.decode(body)
            }
            lines.append(ArrivedLine(line: line, at: WallTime(milliseconds: row.integer(1))))
        }
        return lines
    }

    /// At most `limit` entries with numbers below `before`, the newest first.
    func timeline(of device: DeviceID, before: Int64, limit: Int) throws(StoreError) -> [StoredTimelineEntry] {
        var entries: [StoredTimelineEntry] = []
        try statements.loadTimeline.rows(
            .integer(Int64(partition(of: device))), .text(device.text), .integer(before), .integer(Int64(limit))
        ) { row throws(StoreError) in
            let first = row.integer(0)
            let body = row.blob(1)
            let rows = try parsed(table: "timeline", key: "\(device) \(first)") { () throws(CodecFault) in
                try TimelineCodec.decode(body, of: device)
            }
            for (index, row) in rows.enumerated().reversed() where first + Int64(index) < before {
                entries.append(StoredTimelineEntry(sequence: first + Int64(index), row: row))
            }
        }
        return Array(entries.prefix(limit))
    }

    private func parsed<Value>(
        table: String, key: String, _ decode: () throws(CodecFault) -> Value
    ) throws(StoreError) -> Value {
        do throws(CodecFault) {
            return try decode()
        } catch {
            throw .corrupt(table: table, key: key, detail: error.detail)
        }
    }
}
