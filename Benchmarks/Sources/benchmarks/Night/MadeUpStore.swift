import CardRules
import Lanes
import Synchronization

/// A store whose lanes are made as they are read, and which keeps nothing: commits land at once. What is measured against it
/// is the lanes alone.
final class MadeUpStore: Store {
    private let phones: MadeUpPhones
    private let opening: [ArrivedLine]
    /// Numbers of phones by partition.
    private let numbers: [[Int32]]
    private let rows = Atomic<Int>(0)

    init(phones: MadeUpPhones, count: Int, opening: [SlateLine]) {
        self.phones = phones
        self.opening = opening.map { ArrivedLine(line: $0, at: $0.at) }
        var numbers = [[Int32]](repeating: [], count: partitionCount)
        for number in 0..<count { numbers[partition(of: phones.device(number))].append(Int32(number)) }
        self.numbers = numbers
    }

    /// Written so far.
    var rowsWritten: Int { rows.load(ordering: .relaxed) }

    func commit(_ batch: CommitBatch, done: @escaping @Sendable (CommitOutcome) -> Void) {
        rows.add(
            batch.lanes.count + batch.claims.count + batch.timeline.count + batch.marks.count, ordering: .relaxed)
        done(.landed(refused: RefusedRows()))
    }

    func loadLanes(partition: Int, _ take: @Sendable ([StoredLane]) -> Void) async throws -> [DamagedLane] {
        var portion: [StoredLane] = []
        for number in numbers[partition] {
            portion.append(StoredLane(record: phones.record(Int(number)), generation: Generation(1)))
            guard portion.count == 1000 else { continue }
            take(portion)
            portion.removeAll(keepingCapacity: true)
        }
        if !portion.isEmpty { take(portion) }
        return []
    }

    func loadLane(_ device: DeviceID) async throws -> StoredLane? {
        let place = Lanes.partition(of: device)
        guard let number = numbers[place].first(where: { phones.device(Int($0)) == device }) else { return nil }
        return StoredLane(record: phones.record(Int(number)), generation: Generation(1))
    }

    func timestampMark(partition: Int) async throws -> Int64? { nil }
    func loadOwners(_ take: @Sendable ([PhoneOwner]) -> Void) async throws {}
    func loadSessions(_ take: @Sendable ([Session]) -> Void) async throws {}
    func loadSlate(since: WallTime) async throws -> [ArrivedLine] { opening }
    func timeline(device: DeviceID?, after: Int64?, limit: Int) async throws -> [SequencedTimelineRow] { [] }
    func pausedGateways() async throws -> Set<Gateway> { [] }
}
