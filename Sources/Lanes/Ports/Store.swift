public import CardRules

/// What the lanes need of a store. SQLite when embedded, PostgreSQL in a cluster; the same conformance tests hold for both.
///
/// All calls may come from any thread; none blocks the caller.
public protocol Store: Sendable {
    /// Queues one transaction. `done` is called exactly once, from a thread of the store's own, after the outcome is
    /// known: after the commit is durable (L1), or when it can no longer happen. It must not block.
    func commit(_ batch: CommitBatch, done: @escaping @Sendable (CommitOutcome) -> Void)

    /// Reads every lane of a partition, in order of device id, a portion at a time.
    /// - Returns: the rows that do not parse, in that order: they hold up no other.
    /// - Throws: `StoreError`.
    func loadLanes(partition: Int, _ take: @Sendable ([StoredLane]) -> Void) async throws -> [DamagedLane]

    /// Reads one lane.
    /// - Returns: `nil` where there is no such device.
    /// - Throws: `StoreError`.
    func loadLane(_ device: DeviceID) async throws -> StoredLane?

    /// - Returns: the partition's timestamp mark (P5); `nil` where none was ever stored.
    /// - Throws: `StoreError`.
    func timestampMark(partition: Int) async throws -> Int64?

    /// Reads every owner row: which device owns the phone behind a push-to-start token (S7).
    /// - Throws: `StoreError`.
    func loadOwners(_ take: @Sendable ([PhoneOwner]) -> Void) async throws

    /// Reads every session, running or stopped, in order of id, a portion at a time.
    /// - Throws: `StoreError`.
    func loadSessions(_ take: @Sendable ([Session]) -> Void) async throws

    /// The slate's lines in the order in which they came, those that arrived before `since` left out: played again they
    /// give tonight's slate.
    /// - Throws: `StoreError`.
    func loadSlate(since: WallTime) async throws -> [ArrivedLine]

    /// Entries of one device's timeline, or of all (`nil`), in order of their numbers: with `after` the first `limit`
    /// above it, without the newest `limit`. What a device had goes with it; what is old goes by the store's own bound.
    /// - Parameter limit: none below 1.
    /// - Throws: `StoreError`.
    func timeline(device: DeviceID?, after: Int64?, limit: Int) async throws -> [SequencedTimelineRow]

    /// The gateways that an operator has paused.
    /// - Throws: `StoreError`.
    func pausedGateways() async throws -> Set<Gateway>
}

/// One line of the slate with its time of arrival by the server's clock.
public struct ArrivedLine: Hashable, Sendable {
    public let line: SlateLine
    public let at: WallTime

    public init(line: SlateLine, at: WallTime) {
        self.line = line
        self.at = at
    }
}

/// Devices hash to this many partitions; a shard runs the lanes of some of them.
public let partitionCount = 64

/// The partition of a device: FNV-1a of its id. Stored, so it never changes.
public func partition(of device: DeviceID) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in device.text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int(truncatingIfNeeded: (hash ^ hash >> 32) % UInt64(partitionCount))
}

/// Which incarnation of a lane wrote something. The store refuses what an earlier one sends.
public struct Generation: Hashable, Comparable, Sendable {
    public let value: UInt32
    public init(_ value: UInt32) { self.value = value }
    public static func < (left: Generation, right: Generation) -> Bool { left.value < right.value }
}

public struct StoredLane: Hashable, Sendable {
    public let record: LaneRecord
    public let generation: Generation

    public init(record: LaneRecord, generation: Generation) {
        self.record = record
        self.generation = generation
    }
}

/// A lane's row that does not parse: it needs a person, and is left alone.
public struct DamagedLane: Hashable, Sendable {
    /// The device, as the row has it.
    public let key: String
    /// Which field, and what is wrong with it.
    public let detail: String

    public init(key: String, detail: String) {
        self.key = key
        self.detail = detail
    }

    public var error: StoreError { .corrupt(table: "lane", key: key, detail: detail) }
}

/// The row that makes a start happen at most once: unique by (device, night, ordinal), written before the push leaves.
public struct StartClaim: Hashable, Sendable {
    public let device: DeviceID
    /// When the night began, the device's own.
    public let night: WallTime
    public let ordinal: Int
    public let key: CardKey
    public let at: WallTime

    public init(device: DeviceID, night: WallTime, ordinal: Int, key: CardKey, at: WallTime) {
        self.device = device
        self.night = night
        self.ordinal = ordinal
        self.key = key
        self.at = at
    }
}

/// Which device owns the phone behind a push-to-start token: one row a token (S7).
public struct PhoneOwner: Hashable, Sendable {
    /// The token itself.
    public let token: [UInt8]
    public let device: DeviceID

    public init(token: [UInt8], device: DeviceID) {
        self.token = token
        self.device = device
    }
}

/// One timeline entry with what the push was called outside.
public struct TimelineRow: Hashable, Sendable {
    public let device: DeviceID
    public let entry: TimelineEntry
    /// `apns-id` of the push concerned, canonical lower-case text.
    public let apnsID: String?
    /// Event, gateway, priority, status and reason of the push, where there is one.
    public let push: PushSummary?

    public init(device: DeviceID, entry: TimelineEntry, apnsID: String?, push: PushSummary?) {
        self.device = device
        self.entry = entry
        self.apnsID = apnsID
        self.push = push
    }
}

/// A timeline entry with its number. Numbers rise in the order in which entries become readable, over all devices, and
/// are never given twice, also over restarts: whoever has read up to one may go on from it.
public struct SequencedTimelineRow: Hashable, Sendable {
    public let sequence: Int64
    public let row: TimelineRow

    public init(sequence: Int64, row: TimelineRow) {
        self.sequence = sequence
        self.row = row
    }
}

public struct PushSummary: Hashable, Sendable {
    public let event: PushEvent
    public let gateway: Gateway
    public let priority: Int
    public let status: Int?
    public let reason: String?

    public init(event: PushEvent, gateway: Gateway, priority: Int, status: Int?, reason: String?) {
        self.event = event
        self.gateway = gateway
        self.priority = priority
        self.status = status
        self.reason = reason
    }
}

/// What one shard wants durable in one transaction. At most one row a device in `lanes`: the newest.
public struct CommitBatch: Sendable {
    public var lanes: [StoredLane] = []
    /// Devices whose record is to go.
    public var removed: [DeviceID] = []
    public var claims: [StartClaim] = []
    public var owners: [PhoneOwner] = []
    public var timeline: [TimelineRow] = []
    /// New timestamp marks (P5), Unix seconds, by partition.
    public var marks: [Int: Int64] = [:]
    public var slateLines: [ArrivedLine] = []
    /// In a cluster: by which this node knows its own lines again.
    public var slateTag: Int64 = 0
    /// In a cluster: events taken by any node and applied here.
    public var applied: [AppliedPost] = []
    /// In a cluster: the epochs under which this was gathered, by partition. Of a partition with a newer one, or none here,
    /// nothing may be written, also where that newer one is this node's own again. Empty: of whatever is owned now.
    public var epochs: [Int: Int64] = [:]
    /// Sessions as they are now; a version that is not above the stored one changes nothing.
    public var sessions: [Session] = []
    /// Sessions stopped before this are of no use any more.
    public var forgetSessionsBefore: WallTime?
    /// Slate lines that arrived before this are of no use any more.
    public var forgetSlateBefore: WallTime?
    /// Gateways that an operator pauses (`true`) or lets go on (`false`).
    public var pauses: [Gateway: Bool] = [:]

    public init() {}

    public var isEmpty: Bool {
        lanes.isEmpty && removed.isEmpty && claims.isEmpty && owners.isEmpty && timeline.isEmpty && marks.isEmpty
            && slateLines.isEmpty && forgetSlateBefore == nil && sessions.isEmpty && forgetSessionsBefore == nil
            && pauses.isEmpty && applied.isEmpty
    }
}

public enum CommitOutcome: Hashable, Sendable {
    /// Durable, except for what is listed: rows of a generation older than the stored one, and claims that another
    /// writer had made before. Neither was written.
    case landed(refused: RefusedRows)
    /// Nothing of it was written.
    case failed(StoreError)
}

public struct RefusedRows: Hashable, Sendable {
    public var lanes: [DeviceID]
    public var claims: [StartClaim]
    /// In a cluster: another node has changed them meanwhile.
    public var sessions: [CardKey]

    public init(lanes: [DeviceID] = [], claims: [StartClaim] = [], sessions: [CardKey] = []) {
        self.lanes = lanes
        self.claims = claims
        self.sessions = sessions
    }

    public var isEmpty: Bool { lanes.isEmpty && claims.isEmpty && sessions.isEmpty }
}

/// Each case says what, where and what to do.
public enum StoreError: Error, Hashable, Sendable {
    /// The file or server cannot be used now; nothing was written. Try again.
    case unavailable(detail: String)
    /// Another process owns the file.
    case inUse(path: String)
    /// A newer version of this program wrote it.
    case newerSchema(found: Int, known: Int)
    /// A row does not parse: needs a person. The row is left alone.
    case corrupt(table: String, key: String, detail: String)
    /// A newer owner of the store exists; this one must stop writing.
    case fenced
}
