internal import Lanes

/// Which batch goes when, and under which counters. Pure.
///
/// A partition has one commit under way at a time: only so can its counter tell of each whether it landed. Batches that
/// have none in common go in one transaction; one that has to wait for a partition holds up later ones of that partition,
/// and nobody else.
struct CommitDesk {
    struct Fence: Hashable, Sendable {
        let epoch: Int64
        /// Of the last commit that landed.
        var seq: Int64
    }

    let writer: Int64
    /// Partitions that are ours.
    private(set) var held: [Int: Fence] = [:]
    private var writerSeq: Int64 = 0
    private var isWriterLost = false
    private var busy = CommitScope()
    private(set) var waiting: [CommitOrder] = []

    init(writer: Int64) { self.writer = writer }

    mutating func hold(_ partition: Int, epoch: Int64, seq: Int64) { held[partition] = Fence(epoch: epoch, seq: seq) }

    /// - Parameter epoch: of that tenure alone; `nil`: of any.
    mutating func letGo(_ partition: Int, epoch: Int64? = nil) {
        if epoch == nil || held[partition]?.epoch == epoch { held[partition] = nil }
    }

    mutating func offer(_ order: CommitOrder) { waiting.append(order) }

    /// Orders in their turn until they come to so many rows, at least one.
    /// - Parameter refused: orders whose partition is not ours; the caller tells them.
    mutating func next(rows limit: Int, refused: inout [CommitOrder]) -> CommitGroup? {
        var taken: [CommitOrder] = []
        var closed = busy
        var kept: [CommitOrder] = []
        var rows = 0
        for order in waiting {
            if rows >= limit || !order.scope.isDisjoint(with: closed) {
                kept.append(order)
                closed.formUnion(order.scope)
            } else if !isOurs(order) {
                refused.append(order)
            } else {
                taken.append(order)
                closed.formUnion(order.scope)
                rows += max(1, order.batch.rows)
            }
        }
        waiting = kept
        guard !taken.isEmpty else { return nil }
        let scope = taken.reduce(into: CommitScope()) { $0.formUnion($1.scope) }
        busy.formUnion(scope)
        let fences = scope.list.compactMap { place in
            held[place].map { CommitFence(partition: place, epoch: $0.epoch, seq: $0.seq + 1) }
        }
        return CommitGroup(
            orders: taken, fences: fences, writer: writer, writerSeq: scope.isCommon ? writerSeq + 1 : nil)
    }

    /// What was gathered under an earlier epoch is another owner's to write, also where the partition has come back.
    private func isOurs(_ order: CommitOrder) -> Bool {
        let epochs = order.batch.epochs
        return !(order.scope.isCommon && isWriterLost)
            && order.scope.list.allSatisfy { place in
                held[place].map { epochs.isEmpty || epochs[place] == $0.epoch } ?? false
            }
    }

    /// The group's counters were moved, by it or in its stead; its partitions are free for the next.
    mutating func moved(_ group: CommitGroup) {
        for fence in group.fences where held[fence.partition]?.epoch == fence.epoch {
            held[fence.partition]?.seq = fence.seq
        }
        if let seq = group.writerSeq { writerSeq = seq }
        busy.subtract(group.scope)
    }

    /// Nothing was written. The orders go back to the front.
    mutating func put(back group: CommitGroup, without lost: CommitScope = CommitScope()) -> [CommitOrder] {
        for fence in group.fences
        where lost.contains(fence.partition) && held[fence.partition]?.epoch == fence.epoch {
            held[fence.partition] = nil
        }
        if lost.isCommon { isWriterLost = true }
        busy.subtract(group.scope)
        waiting.insert(contentsOf: group.orders.filter { $0.scope.isDisjoint(with: lost) }, at: 0)
        return group.orders.filter { !$0.scope.isDisjoint(with: lost) }
    }

    /// Nothing was written, and nobody tries again.
    mutating func drop(_ group: CommitGroup) { busy.subtract(group.scope) }

    mutating func takeAll() -> [CommitOrder] {
        defer { waiting = [] }
        return waiting
    }

    var isIdle: Bool { waiting.isEmpty && busy == CommitScope() }
}

extension CommitBatch {
    /// Rows that it comes to.
    var rows: Int {
        lanes.count + removed.count + claims.count + owners.count + timeline.count + slateLines.count + sessions.count
            + marks.count + applied.count
    }
}
