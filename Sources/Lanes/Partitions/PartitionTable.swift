/// What this node does with each partition. Pure: whoever hears of leases tells it, and carries out what it says.
///
/// A partition's stages: `elsewhere` -> `arriving` (gained: its lanes are being loaded) -> `here` -> `resting` (another node
/// should have it) -> `elsewhere`. From any of them a loss leads to `elsewhere` at once. Each tenure has the epoch of its
/// lease, and news of an earlier one change nothing.
struct PartitionTable: Hashable, Sendable {
    enum Stage: Hashable, Sendable {
        case elsewhere
        case arriving(epoch: Int64)
        case here(epoch: Int64)
        case resting(epoch: Int64)

        var epoch: Int64? {
            switch self {
            case .elsewhere: nil
            case .arriving(let epoch), .here(let epoch), .resting(let epoch): epoch
            }
        }
    }

    /// What is to be done, in this order. Each is about one tenure: done late, it must not touch the next one.
    enum Step: Hashable, Sendable {
        /// Throw away what is in memory of it; nothing of it may leave.
        case drop(Int, epoch: Int64)
        case load(Int, epoch: Int64)
        /// Finish turns, commits and pushes.
        case rest(Int, epoch: Int64)
        /// Give the lease up.
        case release(Int, epoch: Int64)
    }

    private(set) var stages: [Stage]

    /// - Parameter ownsAll: a system without a cluster.
    init(ownsAll: Bool) {
        stages = Array(repeating: ownsAll ? .here(epoch: 0) : .elsewhere, count: partitionCount)
    }

    subscript(partition: Int) -> Stage { stages.indices.contains(partition) ? stages[partition] : .elsewhere }

    /// Whether events for its devices go to a lane of this node; else they are posted for its owner.
    func takesEvents(of partition: Int) -> Bool {
        switch self[partition] {
        case .here, .arriving: true
        case .elsewhere, .resting: false
        }
    }

    /// Lanes are there.
    func runs(_ partition: Int) -> Bool {
        if case .here = self[partition] { true } else { false }
    }

    var arriving: [Int] { stages.indices.filter { if case .arriving = stages[$0] { true } else { false } } }
    var owned: [Int] { stages.indices.filter { stages[$0] != .elsewhere } }

    mutating func gained(_ partition: Int, epoch: Int64) -> [Step] {
        guard stages.indices.contains(partition), stages[partition].epoch.map({ $0 < epoch }) ?? true else { return [] }
        // Gained anew without having heard of the loss: what is in memory is from before.
        let drop = stages[partition].epoch.map { [Step.drop(partition, epoch: $0)] } ?? []
        stages[partition] = .arriving(epoch: epoch)
        return drop + [.load(partition, epoch: epoch)]
    }

    /// - Returns: whether that tenure goes on.
    mutating func loaded(_ partition: Int, epoch: Int64) -> Bool {
        guard self[partition] == .arriving(epoch: epoch) else { return false }
        stages[partition] = .here(epoch: epoch)
        return true
    }

    /// Another node should have it, or this one is about to go.
    mutating func asked(_ partition: Int) -> [Step] {
        switch self[partition] {
        case .here(let epoch):
            stages[partition] = .resting(epoch: epoch)
            return [.rest(partition, epoch: epoch)]
        case .arriving(let epoch):
            stages[partition] = .elsewhere
            return [.drop(partition, epoch: epoch), .release(partition, epoch: epoch)]
        case .elsewhere, .resting: return []
        }
    }

    /// Its lanes are at rest, or were given time enough.
    mutating func rested(_ partition: Int, epoch: Int64) -> [Step] {
        guard self[partition] == .resting(epoch: epoch) else { return [] }
        stages[partition] = .elsewhere
        return [.drop(partition, epoch: epoch), .release(partition, epoch: epoch)]
    }

    mutating func lost(_ partitions: [Int]) -> [Step] {
        partitions.compactMap { partition in
            guard let epoch = self[partition].epoch else { return nil }
            stages[partition] = .elsewhere
            return .drop(partition, epoch: epoch)
        }
    }

    /// The store refuses what is written of it. If the lease is still ours, its epoch is not: it must be taken anew.
    mutating func fenced(_ partition: Int, epoch: Int64) -> [Step] {
        guard self[partition].epoch == epoch else { return [] }
        return lost([partition]) + [.release(partition, epoch: epoch)]
    }
}
