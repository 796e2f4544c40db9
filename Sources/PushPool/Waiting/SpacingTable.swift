internal import Lanes

/// When each token's burst will be whole again (G7). Written for every push to a token of its own, so it is a flat table and
/// no dictionary: two words a token, found by the hash that its key holds. Bounded: it grows while what it holds still counts,
/// up to `kept`; then the entry that counts least is forgotten.
struct SpacingTable: Sendable {
    private struct Entry {
        /// 0: free.
        var bits: UInt64 = 0
        var full = SteadyTime.zero
    }

    private var entries: [Entry] = []
    private let kept: Int
    /// Places that one token may have, next to each other.
    private static let reach = 16
    private static let first = 4096

    init(kept: Int) { self.kept = kept }

    /// `.zero` where nothing is known.
    func full(_ address: AddressKey) -> SteadyTime {
        guard !entries.isEmpty else { return .zero }
        let bits = address.bits
        for step in 0..<Self.reach {
            let place = place(bits, step)
            if entries[place].bits == bits { return entries[place].full }
            // The first free one would have been taken, and none becomes free again.
            if entries[place].bits == 0 { break }
        }
        return .zero
    }

    mutating func set(_ address: AddressKey, full: SteadyTime, at now: SteadyTime) {
        if entries.isEmpty { entries = [Entry](repeating: Entry(), count: Self.first) }
        let bits = address.bits
        while !put(Entry(bits: bits, full: full), mayForget: entries.count >= kept, at: now) { grow(at: now) }
    }

    private mutating func put(_ entry: Entry, mayForget: Bool, at now: SteadyTime) -> Bool {
        var best = place(entry.bits, 0)
        for step in 0..<Self.reach {
            let place = place(entry.bits, step)
            if entries[place].bits == entry.bits {
                entries[place] = entry
                return true
            }
            if entries[place].full < entries[best].full { best = place }
            if entries[place].bits == 0 { break }
        }
        guard mayForget || entries[best].full <= now else { return false }
        entries[best] = entry
        return true
    }

    private mutating func grow(at now: SteadyTime) {
        let old = entries
        entries = [Entry](repeating: Entry(), count: 2 * old.count)
        for entry in old where entry.full > now { _ = put(entry, mayForget: true, at: now) }
    }

    private func place(_ bits: UInt64, _ step: Int) -> Int {
        let mixed = bits &* 0x9e37_79b9_7f4a_7c15
        return (Int(truncatingIfNeeded: mixed >> 32) + step) & (entries.count - 1)  // a power of two
    }
}
