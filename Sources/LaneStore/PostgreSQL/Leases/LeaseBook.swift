internal import Lanes

/// What one node knows of its own leases. Pure: the thread reads the database and tells.
struct LeaseBook {
    let ttlSeconds: Double
    let marginSeconds: Double
    /// `nil`: not a node yet, or not any more.
    private(set) var node: Int64?
    /// With the epoch of each.
    private(set) var held: [Int: Int64] = [:]
    /// Its owner was asked to hand these over.
    private(set) var asked: Set<Int> = []
    /// Until then nobody else can have them.
    private(set) var mayActUntil = SteadyTime.zero

    init(ttlSeconds: Double, marginSeconds: Double) {
        self.ttlSeconds = ttlSeconds
        self.marginSeconds = marginSeconds
    }

    mutating func joined(as node: Int64, sentAt: SteadyTime) {
        self.node = node
        renewed(sentAt: sentAt)
    }

    /// - Parameter sentAt: read before the renewal was sent: the server counted from a later moment.
    mutating func renewed(sentAt: SteadyTime) {
        mayActUntil = max(mayActUntil, sentAt.advanced(bySeconds: ttlSeconds - marginSeconds))
    }

    mutating func took(_ partition: Int, epoch: Int64) { held[partition] = epoch }

    /// Found in another's hand.
    /// - Returns: those that were held.
    mutating func lost(_ partitions: some Sequence<Int>) -> [Int] {
        let gone = partitions.filter { held[$0] != nil }
        released(gone)
        return gone
    }

    /// - Returns: those that its owner was not asked for before.
    mutating func ask(_ partitions: [Int]) -> [Int] {
        let new = partitions.filter { held[$0] != nil && !asked.contains($0) }
        asked.formUnion(new)
        return new
    }

    mutating func released(_ partitions: [Int]) {
        for partition in partitions { held[partition] = nil }
        asked.subtract(partitions)
    }

    /// The time is over, or the server says that the node is dead.
    /// - Returns: all that were held.
    mutating func died() -> [Int] {
        defer {
            node = nil
            held = [:]
            asked = []
            mayActUntil = .zero
        }
        return held.keys.sorted()
    }

    func isOver(at now: SteadyTime) -> Bool { node != nil && now >= mayActUntil }
}
