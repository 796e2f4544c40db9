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

    /// See `Store.timeline`.
    func timeline(device: DeviceID?, after: Int64?, limit: Int) throws(StoreError) -> [SequencedTimelineRow] {
        guard limit > 0 else { return [] }
        var portions: [[SequencedTimelineRow]] = []
        let take = { [self] (row: SQLiteRow) throws(StoreError) in portions.append(try entries(in: row)) }
        let place = device.map { SQLiteStatement.Value.integer(Int64(partition(of: $0))) } ?? .null
        let name = device.map { SQLiteStatement.Value.text($0.text) } ?? .null
        guard let after else {
            let rows = SQLiteStatement.Value.integer(Int64(limit))
            if device == nil {
                try statements.newestEntries.rows(rows, take: take)
            } else {
                try statements.newestOfDevice.rows(place, name, rows, take: take)
            }
            return portions.reversed().flatMap(\.self).suffix(limit)
        }
        // One more: the first row may end before `after` does.
        let rows = SQLiteStatement.Value.integer(Int64(limit) + 1)
        if device == nil {
            try statements.entriesAfter.rows(.integer(after), rows, take: take)
        } else {
            try statements.entriesOfDevice.rows(place, name, .integer(after), rows, take: take)
        }
        return Array(portions.flatMap(\.self).filter { $0.sequence > after }.prefix(limit))
    }

    /// A row of number, device and body.
    private func entries(in row: SQLiteRow) throws(StoreError) -> [SequencedTimelineRow] {
        let first = row.integer(0)
        let name = row.text(1)
        guard let device = DeviceID(name) else {
            throw .corrupt(table: "timeline", key: "\(name) \(first)", detail: "device: impossible value")
        }
        let body = row.blob(2)
        let rows = try parsed(table: "timeline", key: "\(name) \(first)") { () throws(CodecFault) in
            try TimelineCodec.decode(body, of: device)
        }
        return rows.enumerated().map { SequencedTimelineRow(sequence: first + Int64($0.offset), row: $0.element) }
    }

    func pausedGateways() throws(StoreError) -> Set<Gateway> {
        var paused: Set<Gateway> = []
        try statements.loadPauses.rows { row throws(StoreError) in
            guard let gateway = Gateway(rawValue: row.text(0)) else {
                throw .corrupt(table: "paused_gateway", key: row.text(0), detail: "gateway: impossible value")
            }
            paused.insert(gateway)
        }
        return paused
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
