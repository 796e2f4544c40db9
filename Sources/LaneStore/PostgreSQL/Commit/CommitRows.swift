internal import CardRules
internal import Lanes
internal import Postgres

/// The rows of a group side by side, as its statements take them, and who had sent which.
struct CommitRows {
    private(set) var lanes: [StoredLane] = []
    private(set) var claims: [StartClaim] = []
    /// Of the one order that may have any.
    private(set) var sessions: [Session] = []
    private var sessionOrder = 0
    private var laneOrders: [Int] = []
    private var claimOrders: [Int] = []
    /// By order: what never goes to the server, since a row of the same batch stands before it.
    private(set) var refused: [RefusedRows]
    /// Of devices that write a record now.
    private var generations: [DeviceID: Generation] = [:]
    private var places: [DeviceID: Int] = [:]
    private let group: CommitGroup
    private let seqs: [Int: Int64]

    private struct ClaimName: Hashable {
        let device: DeviceID
        let night: WallTime
        let ordinal: Int
    }

    init(_ group: CommitGroup) {
        self.group = group
        seqs = Dictionary(group.fences.map { ($0.partition, $0.seq) }, uniquingKeysWith: { first, _ in first })
        refused = group.orders.map { _ in RefusedRows() }
        var names: Set<ClaimName> = []
        for (index, order) in group.orders.enumerated() {
            for lane in order.batch.lanes { add(lane, of: index) }
            if !order.batch.sessions.isEmpty {
                sessions = CommonCalls.rows(order.batch.sessions)
                sessionOrder = index
            }
            for claim in order.batch.claims {
                // Twice in one statement, the server would take the first and count one.
                let name = ClaimName(device: claim.device, night: claim.night, ordinal: claim.ordinal)
                guard names.insert(name).inserted else {
                    refused[index].claims.append(claim)
                    continue
                }
                claims.append(claim)
                claimOrders.append(index)
            }
        }
    }

    /// One row a device: two in a statement are an error (21000).
    private mutating func add(_ lane: StoredLane, of order: Int) {
        let device = lane.record.device
        if let place = places[device], let held = generations[device] {
            guard held <= lane.generation else { return refused[order].lanes.append(device) }
            lanes[place] = lane
        } else {
            places[device] = lanes.count
            lanes.append(lane)
            laneOrders.append(order)
        }
        generations[device] = lane.generation
    }

    /// - Parameters: places in `lanes`, `claims` and `sessions`, in rising order.
    mutating func refuse(lanes lanePlaces: [Int], claims claimPlaces: [Int], sessions sessionPlaces: [Int]) {
        for place in lanePlaces where lanes.indices.contains(place) {
            refused[laneOrders[place]].lanes.append(lanes[place].record.device)
        }
        for place in claimPlaces where claims.indices.contains(place) {
            refused[claimOrders[place]].claims.append(claims[place])
        }
        for place in sessionPlaces where sessions.indices.contains(place) {
            refused[sessionOrder].sessions.append(sessions[place].id)
        }
    }

    /// Of the device's record in this group; above all others where it writes none, so that nothing is older.
    private func generation(of device: DeviceID) -> Int64 { generations[device].map { Int64($0.value) } ?? .max }

    // MARK: - Calls

    /// Nothing to write, and no counter to move.
    var isNothing: Bool { group.fences.isEmpty && group.writerSeq == nil }

    var fenceCall: PostgresCall { CommitRows.fenceCall(group) }

    /// The counters go on by two, and nothing is written.
    var cancelCalls: [PostgresCall] { [fenceCall, CommitRows.fenceCall(group.next)] }

    private static func fenceCall(_ group: CommitGroup) -> PostgresCall {
        var values = PostgresParameters()
        values.array(of: .int2, group.fences) { $1.int16(Int16($0.partition)) }
        values.array(of: .int8, group.fences) { $1.int64($0.epoch) }
        values.array(of: .int8, group.fences) { $1.int64($0.seq) }
        if let seq = group.writerSeq {
            values.int64(group.writer)
            values.int64(seq)
        } else {
            values.null()
            values.null()
        }
        return PostgresCall(CommitStatements.fence, values)
    }

    /// The fence, then what there is to write, in the order in which it must happen.
    var calls: [PostgresCall] {
        var calls = [fenceCall]
        let batches = group.orders.map(\.batch)
        if !lanes.isEmpty { calls.append(laneCall) }
        if !claims.isEmpty { calls.append(claimCall) }
        addOwners(batches, to: &calls)
        addRemovals(batches, to: &calls)
        let marks = batches.flatMap { $0.marks.sorted { $0.key < $1.key } }
        if !marks.isEmpty {
            var values = PostgresParameters()
            values.array(of: .int2, marks) { $1.int16(Int16($0.key)) }
            values.array(of: .int8, marks) { $1.int64($0.value) }
            calls.append(PostgresCall(CommitStatements.marks, values))
        }
        addApplied(batches, to: &calls)
        for batch in batches where CommitScope(batch).isCommon { CommonCalls.add(batch, to: &calls) }
        addTimeline(batches, to: &calls)
        return calls
    }

    private var laneCall: PostgresCall {
        var values = PostgresParameters()
        values.array(of: .int2, lanes) { $1.int16(Int16(partition(of: $0.record.device))) }
        values.array(of: .text, lanes) { $1.text($0.record.device.text) }
        values.array(of: .int8, lanes) { $1.int64(Int64($0.generation.value)) }
        values.array(of: .bytea, lanes) { $1.bytea(RecordCodec.encode($0.record)) }
        return PostgresCall(CommitStatements.lanes, values)
    }

    private var claimCall: PostgresCall {
        var values = PostgresParameters()
        values.array(of: .int2, claims) { $1.int16(Int16(partition(of: $0.device))) }
        values.array(of: .text, claims) { $1.text($0.device.text) }
        values.array(of: .int8, claims) { $1.int64(generation(of: $0.device)) }
        values.array(of: .int8, claims) { $1.int64($0.night.milliseconds) }
        values.array(of: .int8, claims) { $1.int64(Int64($0.ordinal)) }
        values.array(of: .text, claims) { $1.text($0.key.text) }
        values.array(of: .int8, claims) { $1.int64($0.at.milliseconds) }
        values.array(of: .int8, claims) { $1.int64(seqs[partition(of: $0.device)] ?? 0) }
        return PostgresCall(CommitStatements.claims, values)
    }

    private func addOwners(_ batches: [CommitBatch], to calls: inout [PostgresCall]) {
        var last: [[UInt8]: DeviceID] = [:]
        for owner in batches.flatMap(\.owners) { last[owner.token] = owner.device }
        guard !last.isEmpty else { return }
        // In one order everywhere: two nodes that move the same phones do not wait for each other in a ring.
        let owners = last.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        var values = PostgresParameters()
        values.array(of: .int2, owners) { $1.int16(Int16(partition(of: $0.value))) }
        values.array(of: .text, owners) { $1.text($0.value.text) }
        values.array(of: .int8, owners) { $1.int64(generation(of: $0.value)) }
        values.array(of: .int2, owners) { $1.int16(Int16(partition(ofToken: $0.key))) }
        values.array(of: .bytea, owners) { $1.bytea($0.key) }
        calls.append(PostgresCall(CommitStatements.owners, values))
    }

    private func addRemovals(_ batches: [CommitBatch], to calls: inout [PostgresCall]) {
        let removed = batches.flatMap(\.removed)
        guard !removed.isEmpty else { return }
        var values = PostgresParameters()
        values.array(of: .int2, removed) { $1.int16(Int16(partition(of: $0))) }
        values.array(of: .text, removed) { $1.text($0.text) }
        values.array(of: .int8, removed) { $1.int64(generation(of: $0)) }
        for statement in CommitStatements.removals { calls.append(PostgresCall(statement, values)) }
    }

    private func addApplied(_ batches: [CommitBatch], to calls: inout [PostgresCall]) {
        let posts = batches.flatMap(\.applied)
        guard !posts.isEmpty else { return }
        var values = PostgresParameters()
        values.array(of: .int2, posts) { $1.int16(Int16($0.id.partition)) }
        values.array(of: .int8, posts) { $1.int64($0.id.origin) }
        values.array(of: .int8, posts) { $1.int64($0.id.number) }
        values.array(of: .bytea, posts) { $1.bytea(ReplyCodec.encode($0.reply)) }
        calls.append(PostgresCall(CommitStatements.applied, values))
    }

    private func addTimeline(_ batches: [CommitBatch], to calls: inout [PostgresCall]) {
        let entries = batches.flatMap(\.timeline)
        guard !entries.isEmpty else { return }
        let turns = StoredRows.turns(of: entries)
        var values = PostgresParameters()
        values.int64(Int64(entries.count))
        values.array(of: .int2, turns) { $1.int16(Int16(partition(of: entries[$0.lowerBound].device))) }
        values.array(of: .text, turns) { $1.text(entries[$0.lowerBound].device.text) }
        values.array(of: .int8, turns) { $1.int64(Int64($0.lowerBound)) }
        values.array(of: .int8, turns) { $1.int64(entries[$0.lowerBound].entry.at.milliseconds) }
        values.array(of: .bytea, turns) { $1.bytea(TimelineCodec.encode(Array(entries[$0]))) }
        calls.append(PostgresCall(CommitStatements.timeline, values))
    }

    /// Which lanes and claims do not stand as they were sent; each answers with places, counted from 1.
    var refusalCalls: [PostgresCall] {
        var ofLanes = PostgresParameters()
        ofLanes.array(of: .int2, lanes) { $1.int16(Int16(partition(of: $0.record.device))) }
        ofLanes.array(of: .text, lanes) { $1.text($0.record.device.text) }
        ofLanes.array(of: .int8, lanes) { $1.int64(Int64($0.generation.value)) }
        var ofClaims = PostgresParameters()
        ofClaims.array(of: .int2, claims) { $1.int16(Int16(partition(of: $0.device))) }
        ofClaims.array(of: .text, claims) { $1.text($0.device.text) }
        ofClaims.array(of: .int8, claims) { $1.int64($0.night.milliseconds) }
        ofClaims.array(of: .int8, claims) { $1.int64(Int64($0.ordinal)) }
        ofClaims.array(of: .int8, claims) { $1.int64(seqs[partition(of: $0.device)] ?? 0) }
        var ofSessions = PostgresParameters()
        ofSessions.array(of: .text, sessions) { $1.text($0.id.text) }
        ofSessions.array(of: .int8, sessions) { $1.int64($0.version) }
        ofSessions.array(of: .bytea, sessions) { $1.bytea(SessionCodec.encode($0)) }
        return [
            PostgresCall(SettlingStatements.refusedLanes, ofLanes),
            PostgresCall(SettlingStatements.refusedClaims, ofClaims),
            PostgresCall(SettlingStatements.refusedSessions, ofSessions),
        ]
    }
}

/// Where the row of a token stands: by the token, so that it is one row whichever device names it (S7).
func partition(ofToken token: [UInt8]) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in token { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int(truncatingIfNeeded: (hash ^ hash >> 32) % UInt64(partitionCount))
}
