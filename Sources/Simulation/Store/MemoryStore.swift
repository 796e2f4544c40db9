public import CardRules
public import Lanes
internal import Synchronization

/// A store that keeps everything in memory and does what a test tells it: answers at once, holds its answers back,
/// fails, or dies with what it held. What it keeps outlives the program under test, as a disk would.
public final class MemoryStore: Store {
    private let state = Mutex(State())

    private struct State {
        var kept = Kept()
        var failure: StoreError?
        var fence: @Sendable (CommitBatch) -> Bool = { _ in true }
        var readDelay: (@Sendable () async -> Void)?
        var isHolding = false
        var held: [(batch: CommitBatch, done: @Sendable (CommitOutcome) -> Void)] = []
        var commits = 0

        mutating func write(_ batch: CommitBatch) -> CommitOutcome {
            if let failure { return .failed(failure) }
            guard fence(batch) else { return .failed(.fenced) }
            commits += 1
            return .landed(refused: kept.write(batch))
        }
    }

    public init() {}

    /// Writes at once and answers on the caller's stack, unless told otherwise.
    public func commit(_ batch: CommitBatch, done: @escaping @Sendable (CommitOutcome) -> Void) {
        let outcome: CommitOutcome? = state.withLock { state in
            if state.isHolding {
                state.held.append((batch, done))
                return nil
            }
            return state.write(batch)
        }
        if let outcome { done(outcome) }
    }

    public func loadLanes(
        partition: Int, _ take: @Sendable ([StoredLane]) -> Void
    ) async throws -> [DamagedLane] {
        let (lanes, damaged) = try await reading { kept in
            let devices = (kept.devices[partition] ?? []).sorted()
            return (
                devices.compactMap { kept.damaged[$0] == nil ? kept.lanes[$0] : nil },
                devices.compactMap { device in
                    kept.damaged[device].map { DamagedLane(key: device.text, detail: $0) }
                }
            )
        }
        if !lanes.isEmpty { take(lanes) }
        return damaged
    }

    public func loadLane(_ device: DeviceID) async throws -> StoredLane? {
        let (lane, damage) = try await reading { ($0.lanes[device], $0.damaged[device]) }
        if let damage { throw StoreError.corrupt(table: "lane", key: device.text, detail: damage) }
        return lane
    }

    public func timestampMark(partition: Int) async throws -> Int64? {
        try await reading { $0.marks[partition] }
    }

    public func loadOwners(_ take: @Sendable ([PhoneOwner]) -> Void) async throws {
        let owners = try await reading { kept in
            kept.owners.map { PhoneOwner(token: $0.key, device: $0.value) }
                .sorted { $0.token.lexicographicallyPrecedes($1.token) }
        }
        if !owners.isEmpty { take(owners) }
    }

    public func loadSessions(_ take: @Sendable ([Session]) -> Void) async throws {
        let sessions = try await reading { $0.sessions.values.sorted { $0.id < $1.id } }
        if !sessions.isEmpty { take(sessions) }
    }

    public func loadSlate(since: WallTime) async throws -> [ArrivedLine] {
        try await reading { $0.slateLines.filter { $0.at >= since } }
    }

    public func timeline(device: DeviceID?, after: Int64?, limit: Int) async throws -> [SequencedTimelineRow] {
        try await reading { kept in
            let rows = kept.timeline.filter {
                (device == nil || $0.row.device == device) && $0.sequence > after ?? .min
            }
            return Array(after == nil ? rows.suffix(max(0, limit)) : rows.prefix(max(0, limit)))
        }
    }

    public func pausedGateways() async throws -> Set<Gateway> { try await reading { $0.paused } }

    private func reading<Value: Sendable>(_ body: (Kept) -> Value) async throws -> Value {
        let (value, delay) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            return (body(state.kept), state.readDelay)
        }
        await delay?()
        return value
    }
}

// What a test tells it.
extension MemoryStore {
    /// Writes a transaction at once, unless it fails.
    func write(_ batch: CommitBatch) -> CommitOutcome { state.withLock { $0.write(batch) } }

    /// From now on everything fails with this; `nil`: it works again.
    public func fail(with error: StoreError?) { state.withLock { $0.failure = error } }

    /// The device's row does not parse from now on; `nil`: somebody has mended it.
    public func damage(_ device: DeviceID, as detail: String?) { state.withLock { $0.kept.damaged[device] = detail } }

    /// From now on what this says no to fails as `fenced`; asked as it is about to be written. It must not call the store.
    public func fence(_ isOurs: @escaping @Sendable (CommitBatch) -> Bool) { state.withLock { $0.fence = isOurs } }

    /// From now on an answer is under way as long as this takes, and what it says may be old then; `nil`: it comes at once.
    public func delayReads(_ delay: (@Sendable () async -> Void)?) { state.withLock { $0.readDelay = delay } }

    /// From now on commits wait, unwritten, for `release` or `crash`.
    public func hold() { state.withLock { $0.isHolding = true } }

    /// Writes and answers what waits, in order, and goes on as usual.
    public func release() {
        let answers = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held.map { ($0.done, state.write($0.batch)) }
        }
        for (done, outcome) in answers { done(outcome) }
    }

    /// Writes and answers the first that waits; what comes waits as before.
    public func releaseOne() {
        let answer = state.withLock { state -> (@Sendable (CommitOutcome) -> Void, CommitOutcome)? in
            guard !state.held.isEmpty else { return nil }
            let first = state.held.removeFirst()
            return (first.done, state.write(first.batch))
        }
        if let (done, outcome) = answer { done(outcome) }
    }

    /// The process died: what waits was never written, or was written although nobody heard of it. Answers to none.
    public func crash(landing: Int = 0) {
        state.withLock { state in
            for entry in state.held.prefix(landing) { _ = state.write(entry.batch) }
            state.held = []
            state.isHolding = false
        }
    }

    public var heldCommits: Int { state.withLock { $0.held.count } }

    /// Commits that were written.
    public var commits: Int { state.withLock { $0.commits } }

    public func lane(_ device: DeviceID) -> StoredLane? { state.withLock { $0.kept.lanes[device] } }

    public var claims: Set<StartClaim> { state.withLock { Set($0.kept.claims.values) } }

    public func session(_ id: CardKey) -> Session? { state.withLock { $0.kept.sessions[id] } }

    public var timeline: [TimelineRow] { state.withLock { $0.kept.timeline.map(\.row) } }
}

/// What is kept, and the rules for what is refused: those of every store.
private struct Kept: Sendable {
    struct ClaimName: Hashable, Sendable {
        let device: DeviceID
        let night: WallTime
        let ordinal: Int
    }

    var lanes: [DeviceID: StoredLane] = [:]
    /// Those of `lanes` that do not parse, with the reason.
    var damaged: [DeviceID: String] = [:]
    /// Those of `lanes`, by partition.
    var devices: [Int: Set<DeviceID>] = [:]
    var claims: [ClaimName: StartClaim] = [:]
    var owners: [[UInt8]: DeviceID] = [:]
    /// The newest `timelineKept`, and up to as many more: they go together.
    var timeline: [SequencedTimelineRow] = []
    var sequence: Int64 = 0
    var paused: Set<Gateway> = []
    var marks: [Int: Int64] = [:]
    var slateLines: [ArrivedLine] = []
    var sessions: [CardKey: Session] = [:]

    static let timelineKept = 100_000

    mutating func write(_ batch: CommitBatch) -> RefusedRows {
        var refused = RefusedRows()
        for lane in batch.lanes {
            let device = lane.record.device
            if let held = lanes[device], held.generation > lane.generation {
                refused.lanes.append(device)
            } else {
                if lanes.updateValue(lane, forKey: device) == nil {
                    devices[partition(of: device), default: []].insert(device)
                }
            }
        }
        let stale = Set(refused.lanes)
        for claim in batch.claims {
            let name = ClaimName(device: claim.device, night: claim.night, ordinal: claim.ordinal)
            if stale.contains(claim.device) || claims[name] != nil {
                refused.claims.append(claim)
            } else {
                claims[name] = claim
            }
        }
        for owner in batch.owners where !stale.contains(owner.device) { owners[owner.token] = owner.device }
        for device in batch.removed where !stale.contains(device) {
            lanes[device] = nil
            devices[partition(of: device)]?.remove(device)
            owners = owners.filter { $0.value != device }
            timeline.removeAll { $0.row.device == device }
        }
        for row in batch.timeline {
            sequence += 1
            timeline.append(SequencedTimelineRow(sequence: sequence, row: row))
        }
        if timeline.count > 2 * Self.timelineKept { timeline.removeFirst(timeline.count - Self.timelineKept) }
        for (partition, seconds) in batch.marks { marks[partition] = max(marks[partition] ?? .min, seconds) }
        slateLines += batch.slateLines
        if let before = batch.forgetSlateBefore { slateLines.removeAll { $0.at < before } }
        for session in batch.sessions where session.version > sessions[session.id]?.version ?? .min {
            sessions[session.id] = session
        }
        if let before = batch.forgetSessionsBefore {
            sessions = sessions.filter { $0.value.stoppedAt.map { $0 >= before } ?? true }
        }
        for (gateway, isPaused) in batch.pauses {
            if isPaused { paused.insert(gateway) } else { paused.remove(gateway) }
        }
        return refused
    }
}
