/// The updates that wait, by the device token of their card (G7). Looked at four times a push, so it is a flat table and no
/// dictionary: the hash that a token's key holds finds its place, and tokens that share one are told apart by their owner.
/// As large as what has waited at once.
struct WaitingUpdates: Sendable {
    private struct Entry {
        /// 0: free.
        var bits: UInt64 = 0
        var push = PushID(place: 0)
    }

    /// A power of two, at least half of them free: an entry stands at its place or after it, with no gap between.
    private var entries: [Entry] = []
    private(set) var count = 0

    private static let first = 64

    var isEmpty: Bool { count == 0 }

    /// - Parameter isWanted: whether that push goes to the very token; its bits are the same.
    func first(_ bits: UInt64, where isWanted: (PushID) -> Bool) -> PushID? {
        guard count > 0 else { return nil }
        var place = home(of: bits)
        while entries[place].bits != 0 {
            if entries[place].bits == bits, isWanted(entries[place].push) { return entries[place].push }
            place = next(place)
        }
        return nil
    }

    /// Whatever stands for that token must have been removed.
    mutating func insert(_ push: PushID, _ bits: UInt64) {
        if 2 * count >= entries.count { grow() }
        put(Entry(bits: bits, push: push))
        count += 1
    }

    /// Does nothing if that push is not there.
    mutating func remove(_ push: PushID, _ bits: UInt64) {
        guard count > 0 else { return }
        var place = home(of: bits)
        while entries[place].bits != bits || entries[place].push != push {
            guard entries[place].bits != 0 else { return }
            place = next(place)
        }
        count -= 1
        close(place)
    }

    /// What follows moves up where it may, so that nobody's search ends at a gap.
    private mutating func close(_ gap: Int) {
        var gap = gap
        var place = next(gap)
        while entries[place].bits != 0 {
            let home = home(of: entries[place].bits)
            let mask = entries.count - 1
            // It may stand in the gap if its home is not behind it.
            if (place - home) & mask >= (place - gap) & mask {
                entries[gap] = entries[place]
                gap = place
            }
            place = next(place)
        }
        entries[gap] = Entry()
    }

    private mutating func put(_ entry: Entry) {
        var place = home(of: entry.bits)
        while entries[place].bits != 0 { place = next(place) }
        entries[place] = entry
    }

    private mutating func grow() {
        let old = entries
        entries = [Entry](repeating: Entry(), count: max(Self.first, 2 * old.count))
        for entry in old where entry.bits != 0 { put(entry) }
    }

    private func home(of bits: UInt64) -> Int {
        Int(truncatingIfNeeded: (bits &* 0x9e37_79b9_7f4a_7c15) >> 32) & (entries.count - 1)
    }

    private func next(_ place: Int) -> Int { (place + 1) & (entries.count - 1) }
}
