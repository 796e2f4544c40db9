import CardRules
import Foundation
import Lanes

/// SplitMix64: the same seed gives the same numbers everywhere.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
    mutating func chance(_ percent: Int = 50) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
    mutating func pick<Element>(_ values: [Element]) -> Element { values[Int.random(in: values.indices, using: &self)] }
    mutating func some<Value>(_ make: (inout Seeded) -> Value) -> Value? { chance() ? make(&self) : nil }
    mutating func many<Value>(_ make: (inout Seeded) -> Value) -> [Value] {
        (0..<Int.random(in: 0...4, using: &self)).map { _ in make(&self) }
    }
}

/// The seeds of random tests, or the one in LANEKEEPER_SEED.
let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["LANEKEEPER_SEED"].flatMap(UInt64.init).map { [$0] } ?? Array(0..<64)

let tenPM = WallTime(seconds: Int64(1_795_039_200))

func sampleLane(_ device: String, generation: UInt32 = 1, user: String? = nil) -> StoredLane {
    var record = LaneRecord(
        device: DeviceID(unchecked: device), app: AppID(unchecked: "lineup"),
        ledger: NightLedger(from: tenPM, to: tenPM.advanced(bySeconds: 86_400)))
    record.settings.user = user
    return StoredLane(record: record, generation: Generation(generation))
}

func sampleClaim(_ device: String, _ ordinal: Int, at: WallTime = tenPM) -> StartClaim {
    StartClaim(device: DeviceID(unchecked: device), night: tenPM, ordinal: ordinal, key: .slate, at: at)
}

func sampleRow(_ device: String, _ detail: String, at: WallTime = tenPM) -> TimelineRow {
    TimelineRow(
        device: DeviceID(unchecked: device),
        entry: TimelineEntry(
            at: at, key: .slate, kind: .start, rule: .s4, detail: detail, changesWhen: "never", push: PushNumber(7),
            probe: ProbeStep(variant: .full, event: .accepted)),
        apnsID: "01234567-89ab-4def-bedc-ba9876543210",
        push: PushSummary(event: .start, gateway: .sandbox, priority: 10, status: 200, reason: nil))
}

func sampleSession(_ id: String, version: Int64 = 1) -> Session {
    Session(
        id: CardKey(unchecked: id), version: version,
        terms: SessionTerms(
            devices: [DeviceID(unchecked: "d1")], attributesType: "SleepAttributes",
            attributes: .object(["session": .string(id)]), content: .object(["paused": .bool(false)]), title: "Sleep",
            startedAt: tenPM))
}

extension Store {
    /// Commits and waits for the outcome.
    func landed(_ change: (inout CommitBatch) -> Void) async -> CommitOutcome {
        var batch = CommitBatch()
        change(&batch)
        let made = batch
        return await withCheckedContinuation { continuation in commit(made) { continuation.resume(returning: $0) } }
    }

    func allLanes() async throws -> [StoredLane] {
        let found = Gathered<StoredLane>()
        for partition in 0..<partitionCount { _ = try await loadLanes(partition: partition) { found.add($0) } }
        return found.all.sorted { $0.record.device < $1.record.device }
    }

    func allSessions() async throws -> [Session] {
        let found = Gathered<Session>()
        try await loadSessions { found.add($0) }
        return found.all
    }

    func allOwners() async throws -> [PhoneOwner] {
        let found = Gathered<PhoneOwner>()
        try await loadOwners { found.add($0) }
        return found.all.sorted { $0.token.lexicographicallyPrecedes($1.token) }
    }
}

/// What a `@Sendable` closure gathers.
final class Gathered<Element: Sendable>: Sendable {
    private let values = Locked<[Element]>([])
    func add(_ more: [Element]) { values.change { $0 += more } }
    var all: [Element] { values.change { $0 } }
}

/// A folder of a test's own, gone with it.
final class TemporaryFolder {
    let url: URL
    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "lanestore-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(at: url) }
    var store: String { url.appending(path: "lanes.db").path }
}
