internal import CardRules
internal import Lanes

extension SQLiteWriter {
    /// At most `limit` lanes of a partition, in order of device, those after `device`.
    func lanes(partition: Int, after device: String, limit: Int) throws(StoreError) -> StoredRows.Lanes {
        var lanes = StoredRows.Lanes()
        try statements.loadLanes.rows(.integer(Int64(partition)), .text(device), .integer(Int64(limit))) {
            row throws(StoreError) in lanes.add(row.text(0), generation: row.integer(1), body: row.blob(2))
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
        try StoredRows.lane(row.text(0), generation: row.integer(1), body: row.blob(2))
    }

    func owners(after token: [UInt8], limit: Int) throws(StoreError) -> [PhoneOwner] {
        var owners: [PhoneOwner] = []
        try statements.loadOwners.rows(.blob(token), .integer(Int64(limit))) { row throws(StoreError) in
            owners.append(try StoredRows.owner(token: row.blob(0), device: row.text(1)))
        }
        return owners
    }

    func sessions(after id: String, limit: Int) throws(StoreError) -> [Session] {
        var sessions: [Session] = []
        try statements.loadSessions.rows(.text(id), .integer(Int64(limit))) { row throws(StoreError) in
            sessions.append(try StoredRows.session(row.text(0), body: row.blob(1)))
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
            lines.append(try StoredRows.line(row.integer(0), at: row.integer(1), body: row.blob(2)))
        }
        return lines
    }

    /// See `Store.timeline`.
    func timeline(device: DeviceID?, after: Int64?, limit: Int) throws(StoreError) -> [SequencedTimelineRow] {
        guard limit > 0 else { return [] }
        var portions: [[SequencedTimelineRow]] = []
        let take = { (row: SQLiteRow) throws(StoreError) in
            portions.append(try StoredRows.entries(from: row.integer(0), device: row.text(1), body: row.blob(2)))
        }
        let place = device.map { SQLiteStatement.Value.integer(Int64(partition(of: $0))) } ?? .null
        let name = device.map { SQLiteStatement.Value.text($0.text) } ?? .null
        if let after {
            // One more: the first row may end before `after` does.
            let rows = SQLiteStatement.Value.integer(Int64(min(limit, Int(Int32.max))) + 1)
            if device == nil {
                try statements.entriesAfter.rows(.integer(after), rows, take: take)
            } else {
                try statements.entriesOfDevice.rows(place, name, .integer(after), rows, take: take)
            }
        } else {
            let rows = SQLiteStatement.Value.integer(Int64(limit))
            if device == nil {
                try statements.newestEntries.rows(rows, take: take)
            } else {
                try statements.newestOfDevice.rows(place, name, rows, take: take)
            }
        }
        return StoredRows.page(portions, newestFirst: true, after: after, limit: limit)
    }

    func pausedGateways() throws(StoreError) -> Set<Gateway> {
        var paused: Set<Gateway> = []
        try statements.loadPauses.rows { row throws(StoreError) in
            paused.insert(try StoredRows.gateway(row.text(0)))
        }
        return paused
    }
}
