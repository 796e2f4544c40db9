import CardRules
import Foundation
import Glibc
import Intake
import Lanes
import Measuring
import Synchronization

/// Shards that commit one batch after the other to one store.
struct CommitRun: Sendable {
    struct Outcome: Sendable {
        let kind: StoreKind
        let batch: Int
        let rowsPerSecond: Double
        let floorRowsPerSecond: Double
        let commitSeconds: Spread
        let cpuMicrosecondsPerRow: Double
        let serverMicrosecondsPerRow: Double?
    }

    private struct Round {
        let rowsPerSecond: Double
        let floor: Double
        let seconds: [Double]
        let cpu: Double
        let server: Double?
    }

    let place: StorePlace
    let lanes: Int
    let batches: [Int]
    let rounds: Int
    let seed: UInt64

    /// A lane's row with its share of index and log, about.
    private static let floorBytes = 600

    func run() async throws -> [Outcome] {
        let store = try await place.open()
        let zones = ZoneDirectory()
        let slate = MadeUpSlate()
        let phones = MadeUpPhones(seed: seed, withCard: 1, games: slate.ids, zone: { zones.zone(named: $0) ?? .utc })
        say("store: \(place.kind.rawValue), \(grouped(lanes)) lanes are filled in")
        try await fill(store, phones, lanes, opening: slate.opening())
        // Made before: it is the store that is measured.
        let rows = (0..<min(lanes, 50_000)).map { number in
            StoredLane(record: phones.record(number), generation: Generation(1))
        }
        let ofShard = (0..<LaneSystem.shards).map { shard in
            rows.filter { partition(of: $0.record.device) % LaneSystem.shards == shard }
        }
        var outcomes: [Outcome] = []
        for batch in batches {
            var taken: [Round] = []
            for _ in 0..<rounds { taken.append(try await round(store, ofShard, batch)) }
            outcomes.append(
                Outcome(
                    kind: place.kind, batch: batch, rowsPerSecond: median(taken.map(\.rowsPerSecond)),
                    floorRowsPerSecond: median(taken.map(\.floor)), commitSeconds: Spread(taken.flatMap(\.seconds)),
                    cpuMicrosecondsPerRow: median(taken.map(\.cpu)),
                    serverMicrosecondsPerRow: place.kind == .postgres ? median(taken.compactMap(\.server)) : nil))
        }
        await place.close(store)
        return outcomes
    }

    private func round(_ store: any Store, _ ofShard: [[StoredLane]], _ batch: Int) async throws -> Round {
        let commits = max(3, min(400, 60_000 / batch / ofShard.count))
        let server = place.serverCPUSeconds
        let before = Usage.now
        let seconds = try await withThrowingTaskGroup(of: [Double].self) { group in
            for rows in ofShard {
                group.addTask {
                    var seconds: [Double] = []
                    var first = 0
                    for _ in 0..<commits {
                        var load = CommitBatch()
                        for _ in 0..<min(batch, rows.count) {
                            load.lanes.append(rows[first])
                            first = (first + 1) % rows.count
                        }
                        let began = uptimeSeconds()
                        try await commit(load, to: store)
                        seconds.append(uptimeSeconds() - began)
                    }
                    return seconds
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let took = Usage.now - before
        let count = Double(commits * ofShard.count * min(batch, ofShard.map(\.count).min() ?? batch))
        let floorCommits = max(3, min(400, 100_000 / batch))
        let floorSeconds = try floor(batch: batch, commits: floorCommits)
        return Round(
            rowsPerSecond: count / took.wallSeconds, floor: Double(batch * floorCommits) / floorSeconds,
            seconds: seconds,
            cpu: took.cpuSeconds / count * 1e6,
            server: server.flatMap { early in place.serverCPUSeconds.map { ($0 - early) / count * 1e6 } })
    }

    private func floor(batch: Int, commits: Int) throws -> Double {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("lanekeeper-floor-\(getpid())").path
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw Failure("\(path) cannot be made") }
        defer {
            close(file)
            unlink(path)
        }
        let bytes = [UInt8](repeating: 1, count: CommitRun.floorBytes * batch)
        // The room is there before, as in a log that is used again: a flush need not write where the file's blocks are.
        for place in 0..<commits {
            guard pwrite(file, bytes, bytes.count, off_t(place * bytes.count)) == bytes.count else {
                throw Failure("\(path) cannot be written")
            }
        }
        guard fsync(file) == 0 else { throw Failure("\(path) cannot be flushed") }
        let began = uptimeSeconds()
        for place in 0..<commits {
            guard pwrite(file, bytes, bytes.count, off_t(place * bytes.count)) == bytes.count, fdatasync(file) == 0
            else {
                throw Failure("\(path) cannot be written")
            }
        }
        return uptimeSeconds() - began
    }
}

/// Every lane of so many phones, and a slate for them.
func fill(_ store: any Store, _ phones: MadeUpPhones, _ lanes: Int, opening: [SlateLine]) async throws {
    var slate = CommitBatch()
    slate.slateLines = opening.map { ArrivedLine(line: $0, at: $0.at) }
    try await commit(slate, to: store)
    // One shard's lanes a transaction, as a node writes them.
    var loads = [CommitBatch](repeating: CommitBatch(), count: LaneSystem.shards)
    for number in 0..<lanes {
        let row = StoredLane(record: phones.record(number), generation: Generation(1))
        let shard = partition(of: row.record.device) % LaneSystem.shards
        loads[shard].lanes.append(row)
        guard loads[shard].lanes.count == 5000 else { continue }
        try await commit(loads[shard], to: store)
        loads[shard] = CommitBatch()
    }
    for load in loads where !load.isEmpty { try await commit(load, to: store) }
}

/// - Throws: unless everything is durable.
func commit(_ batch: CommitBatch, to store: any Store) async throws {
    let outcome = await withCheckedContinuation { done in store.commit(batch) { done.resume(returning: $0) } }
    guard outcome == .landed(refused: RefusedRows()) else {
        throw Failure("the store did not take a batch: \(outcome)")
    }
}
