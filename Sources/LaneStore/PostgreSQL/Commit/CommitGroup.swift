internal import CardRules
internal import Lanes

/// Which counters a batch moves: those of its devices' partitions, and the writer's own for what belongs to no device.
struct CommitScope: Hashable, Sendable {
    private(set) var partitions: UInt64 = 0
    var isCommon = false

    init() {}

    init(_ batch: CommitBatch) {
        for lane in batch.lanes { insert(partition(of: lane.record.device)) }
        for device in batch.removed { insert(partition(of: device)) }
        for claim in batch.claims { insert(partition(of: claim.device)) }
        for owner in batch.owners { insert(partition(of: owner.device)) }
        for row in batch.timeline { insert(partition(of: row.device)) }
        for partition in batch.marks.keys { insert(partition) }
        for post in batch.applied { insert(post.id.partition) }
        isCommon =
            !batch.slateLines.isEmpty || !batch.sessions.isEmpty || !batch.pauses.isEmpty
            || batch.forgetSlateBefore != nil || batch.forgetSessionsBefore != nil
    }

    mutating func insert(_ partition: Int) { partitions |= 1 << UInt64(truncatingIfNeeded: partition) }

    func contains(_ partition: Int) -> Bool { partitions & 1 << UInt64(truncatingIfNeeded: partition) != 0 }

    /// In rising order: so no two commits wait for each other.
    var list: [Int] { (0..<partitionCount).filter(contains) }

    func isDisjoint(with other: CommitScope) -> Bool {
        partitions & other.partitions == 0 && !(isCommon && other.isCommon)
    }

    mutating func formUnion(_ other: CommitScope) {
        partitions |= other.partitions
        isCommon = isCommon || other.isCommon
    }

    mutating func subtract(_ other: CommitScope) {
        partitions &= ~other.partitions
        if other.isCommon { isCommon = false }
    }
}

/// A batch with whom to tell.
struct CommitOrder: Sendable {
    let batch: CommitBatch
    let scope: CommitScope
    let done: @Sendable (CommitOutcome) -> Void
}

/// What makes a commit happen at most once, and only while the partition is ours: the counter that it moves to `seq`.
struct CommitFence: Hashable, Sendable {
    let partition: Int
    let epoch: Int64
    let seq: Int64
}

/// Orders that go in one transaction: no two of them concern the same device, so that their rows can stand in one
/// statement.
struct CommitGroup: Sendable {
    let orders: [CommitOrder]
    let fences: [CommitFence]
    let writer: Int64
    /// Of the writer's own counter; `nil` where the group does not move it.
    let writerSeq: Int64?

    var scope: CommitScope {
        orders.reduce(into: CommitScope()) { $0.formUnion($1.scope) }
    }

    /// A group for each order alone, under the same counters.
    var parts: [CommitGroup] {
        orders.map { order in
            CommitGroup(
                orders: [order], fences: fences.filter { order.scope.contains($0.partition) }, writer: writer,
                writerSeq: order.scope.isCommon ? writerSeq : nil)
        }
    }

    /// One number further.
    var next: CommitGroup {
        CommitGroup(
            orders: orders,
            fences: fences.map { CommitFence(partition: $0.partition, epoch: $0.epoch, seq: $0.seq + 1) },
            writer: writer, writerSeq: writerSeq.map { $0 + 1 })
    }

    /// What of the counters' present state follows for this group. Source: measured-store 1.4.
    enum Verdict: Hashable, Sendable {
        /// It is in the database.
        case landed
        /// It is not, and cannot come to be: its cancelling is.
        case cancelled
        /// These have a newer owner, or were set back; nothing was written, or the newer owner knows.
        case fenced(CommitScope)
        /// Nothing stands in its way.
        case open
    }

    /// - Parameters:
    ///   - found: epoch and counter of each partition, read under their locks.
    ///   - writerSeq: the writer's counter; `nil` where it is not known any more.
    ///   - wasSent: an earlier attempt may have landed. Else a counter that is ahead was moved by another hand.
    func judge(
        found: [Int: (epoch: Int64, seq: Int64)], writerSeq foundWriter: Int64?, wasSent: Bool
    ) -> Verdict {
        var lost = CommitScope()
        for fence in fences {
            guard let now = found[fence.partition], now.epoch == fence.epoch else {
                lost.insert(fence.partition)
                continue
            }
            // The transaction is one: a single counter that it has moved speaks for all.
            if now.seq >= fence.seq, wasSent { return now.seq == fence.seq ? .landed : .cancelled }
            if now.seq != fence.seq - 1 { lost.insert(fence.partition) }
        }
        if let writerSeq {
            if let foundWriter, foundWriter >= writerSeq, wasSent {
                return foundWriter == writerSeq ? .landed : .cancelled
            }
            if foundWriter != writerSeq - 1 { lost.isCommon = true }
        }
        return lost == CommitScope() ? .open : .fenced(lost)
    }
}
