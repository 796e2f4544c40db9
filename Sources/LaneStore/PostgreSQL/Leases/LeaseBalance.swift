/// Which partitions a node should take, and which it should give up, so that all nodes come to hold as many. Pure: every
/// node works it out alone, from what stands in the database.
enum LeaseBalance {
    struct Plan: Hashable, Sendable {
        /// Free ones, in the order in which to try.
        var take: [Int] = []
        /// Ours, to hand over when their lanes are at rest.
        var give: [Int] = []
    }

    /// - Parameters:
    ///   - me: among `nodes`, else nothing is taken.
    ///   - nodes: alive, and to stay.
    ///   - leaving: alive, and about to go: they give up what they hold by themselves.
    ///   - holders: by partition, alive or not; `nil` for one that is free.
    static func plan(me: Int64, nodes: [Int64], leaving: [Int64] = [], holders: [Int64?]) -> Plan {
        let alive = Set(nodes)
        guard alive.contains(me) else { return Plan() }
        var held: [Int64: Int] = [:]
        for case let holder? in holders where alive.contains(holder) { held[holder, default: 0] += 1 }
        // The larger shares go to those who hold most: so that nobody gives one up for nothing.
        let order = alive.sorted { (held[$1] ?? 0, $0) < (held[$0] ?? 0, $1) }
        guard let place = order.firstIndex(of: me) else { return Plan() }
        let target = holders.count / order.count + (place < holders.count % order.count ? 1 : 0)
        let mine = holders.indices.filter { holders[$0] == me }
        guard mine.count < target else { return Plan(give: Array(mine.suffix(mine.count - target))) }
        let free = holders.indices.filter { holders[$0].map { !alive.contains($0) && !leaving.contains($0) } ?? true }
        // Each begins elsewhere, so that few want the same one.
        let first = free.isEmpty ? 0 : place * free.count / order.count
        return Plan(take: Array((free[first...] + free[..<first]).prefix(target - mine.count)))
    }
}
