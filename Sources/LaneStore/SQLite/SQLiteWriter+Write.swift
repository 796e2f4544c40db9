internal import CardRules
internal import Glibc
internal import Lanes

extension SQLiteWriter {
    /// Writes one batch inside the transaction that is open.
    /// - Returns: what was refused: lanes of an older generation, with all that their devices brought along, and claims
    ///   that stood already.
    func write(_ batch: CommitBatch) throws(StoreError) -> RefusedRows {
        var refused = RefusedRows()
        for lane in batch.lanes where try !writeLane(lane) { refused.lanes.append(lane.record.device) }
        let stale = Set(refused.lanes)
        for claim in batch.claims {
            newest = max(newest, claim.at.milliseconds)
            if stale.contains(claim.device) {
                refused.claims.append(claim)
            } else if try !writeClaim(claim) {
                refused.claims.append(claim)
            }
        }
        for owner in batch.owners where !stale.contains(owner.device) {
            try statements.owner.run(.blob(owner.token), .text(owner.device.text))
        }
        for device in batch.removed where !stale.contains(device) { try remove(device) }
        try write(timeline: batch.timeline)
        for (partition, seconds) in batch.marks {
            try statements.mark.run(.integer(Int64(partition)), .integer(seconds))
        }
        for line in batch.slateLines {
            try statements.slateLine.run(.integer(line.at.milliseconds), .blob(SlateLineCodec.encode(line.line)))
        }
        if let before = batch.forgetSlateBefore { try statements.forgetSlate.run(.integer(before.milliseconds)) }
        for session in batch.sessions {
            try statements.session.run(
                .text(session.id.text), .integer(session.version),
                session.stoppedAt.map { .integer($0.milliseconds) } ?? .null, .blob(SessionCodec.encode(session)))
        }
        if let before = batch.forgetSessionsBefore {
            try statements.forgetSessions.run(.integer(before.milliseconds))
        }
        for (gateway, isPaused) in batch.pauses {
            try (isPaused ? statements.pauseGateway : statements.resumeGateway).run(.text(gateway.rawValue))
        }
        return refused
    }

    /// - Returns: `false` when a newer incarnation of the lane has written.
    private func writeLane(_ lane: StoredLane) throws(StoreError) -> Bool {
        let device = lane.record.device
        return try statements.lane.run(
            .integer(Int64(partition(of: device))), .text(device.text), .integer(Int64(lane.generation.value)),
            .blob(RecordCodec.encode(lane.record))) == 1
    }

    /// - Returns: `false` when it stood already.
    private func writeClaim(_ claim: StartClaim) throws(StoreError) -> Bool {
        try statements.claim.run(
            .integer(Int64(partition(of: claim.device))), .text(claim.device.text), .integer(claim.night.milliseconds),
            .integer(Int64(claim.ordinal)), .text(claim.key.text), .integer(claim.at.milliseconds)) == 1
    }

    /// The claims stay until they are pruned: a device that comes back the same night starts no more than before (S6).
    private func remove(_ device: DeviceID) throws(StoreError) {
        let place = SQLiteStatement.Value.integer(Int64(partition(of: device)))
        try statements.removeLane.run(place, .text(device.text))
        try statements.removeOwner.run(.text(device.text))
        if try statements.removeTimeline.run(place, .text(device.text)) > 0 { try keepSequence() }
    }

    /// Before the newest entries can be gone: no number is given twice.
    func keepSequence() throws(StoreError) { try statements.sequence.run(.integer(nextSequence)) }

    private func write(timeline rows: [TimelineRow]) throws(StoreError) {
        for turn in StoredRows.turns(of: rows) {
            let entries = Array(rows[turn])
            let (device, at) = (entries[0].device, entries[0].entry.at.milliseconds)
            newest = max(newest, at)
            try statements.timeline.run(
                .integer(Int64(partition(of: device))), .text(device.text), .integer(nextSequence), .integer(at),
                .blob(TimelineCodec.encode(entries)))
            nextSequence += Int64(entries.count)
        }
    }
}

/// How long the write-ahead log of the store is; 0 where there is none.
func walBytes(of path: String) -> Int {
    var status = stat()
    return stat(path + "-wal", &status) == 0 ? Int(status.st_size) : 0
}
