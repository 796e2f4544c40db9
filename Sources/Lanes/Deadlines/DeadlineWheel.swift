public import CardRules

/// When each lane wants to be looked at: one deadline a lane, in a flat timing wheel of tenths of a second.
///
/// 12 bytes a lane; arming, moving and clearing cost a few writes, without cascades. Anything beyond the horizon of
/// 14.5 hours comes due at the horizon, and the lane then asks again. Not thread-safe: it belongs to its shard.
public struct DeadlineWheel: Sendable {
    private static let slots = 1 << 19
    private static let mask = slots - 1
    static let resolutionMilliseconds: Int64 = 100

    /// The wheel's own present, in tenths since the epoch; everything due up to it has fired.
    private var tick: Int64
    /// First lane of each slot, stored + 1; 0 is none.
    private var heads = [UInt32](repeating: 0, count: slots)
    private var next: [UInt32] = []
    private var previous: [UInt32] = []
    /// When each lane is due, in tenths past `base`; 0 is never.
    private var due: [UInt32] = []
    private let base: Int64
    /// One bit a slot that is not empty, and one bit a word of those.
    private var filled = [UInt64](repeating: 0, count: slots / 64)
    private var filledWords = [UInt64](repeating: 0, count: slots / 64 / 64)
    /// Lanes that have one.
    public private(set) var armed = 0

    public init(now: WallTime) {
        tick = DeadlineWheel.floorTick(now)
        base = tick - 1
    }

    /// Makes room for lanes `0..<count`.
    public mutating func grow(to count: Int) {
        guard count > due.count else { return }
        let more = count - due.count
        due += repeatElement(0, count: more)
        next += repeatElement(0, count: more)
        previous += repeatElement(0, count: more)
    }

    /// Moves the lane's deadline; `nil` clears it. A time that has passed comes due at the next `advance`.
    public mutating func arm(_ lane: Int, at time: WallTime?) {
        guard let time else {
            clear(lane)
            return
        }
        let wanted = min(max(DeadlineWheel.ceilingTick(time), tick + 1), tick + Int64(DeadlineWheel.slots) - 1)
        let stored = UInt32(clamping: wanted - base)
        guard due[lane] != stored else { return }
        clear(lane)
        let slot = Int(truncatingIfNeeded: wanted) & DeadlineWheel.mask
        let head = heads[slot]
        due[lane] = stored
        next[lane] = head
        previous[lane] = 0
        if head != 0 { previous[Int(head) - 1] = UInt32(lane) + 1 }
        heads[slot] = UInt32(lane) + 1
        mark(slot)
        armed += 1
    }

    /// Takes the lane's deadline away.
    public mutating func clear(_ lane: Int) {
        guard due[lane] != 0 else { return }
        let slot = Int(truncatingIfNeeded: base + Int64(due[lane])) & DeadlineWheel.mask
        let (before, after) = (previous[lane], next[lane])
        if before != 0 { next[Int(before) - 1] = after } else { heads[slot] = after }
        if after != 0 { previous[Int(after) - 1] = before }
        if heads[slot] == 0 { unmark(slot) }
        due[lane] = 0
        armed -= 1
    }

    /// The earliest deadline; `nil` when none is armed.
    public var earliest: WallTime? {
        guard armed > 0 else { return nil }
        let start = Int(truncatingIfNeeded: tick + 1) & DeadlineWheel.mask
        let slot = firstFilled(from: start) ?? firstFilled(from: 0)
        guard let slot else { return nil }
        let distance = Int64((slot - start) & DeadlineWheel.mask)
        return WallTime(milliseconds: (tick + 1 + distance) * DeadlineWheel.resolutionMilliseconds)
    }

    /// Takes every lane due up to `now`, earliest deadline first, and clears its deadline.
    public mutating func advance(to now: WallTime) -> [Int] {
        var lanes: [Int] = []
        let target = DeadlineWheel.floorTick(now)
        while armed > 0, let time = earliest, time <= now {
            tick = DeadlineWheel.floorTick(time)
            let slot = Int(truncatingIfNeeded: tick) & DeadlineWheel.mask
            let first = lanes.count
            while heads[slot] != 0 {
                let lane = Int(heads[slot]) - 1
                clear(lane)
                lanes.append(lane)
            }
            lanes[first...].sort()  // never in an order that depends on arming
        }
        tick = max(tick, target)
        return lanes
    }

    private mutating func mark(_ slot: Int) {
        filled[slot >> 6] |= 1 << UInt64(slot & 63)
        filledWords[slot >> 12] |= 1 << UInt64((slot >> 6) & 63)
    }

    private mutating func unmark(_ slot: Int) {
        filled[slot >> 6] &= ~(1 << UInt64(slot & 63))
        if filled[slot >> 6] == 0 { filledWords[slot >> 12] &= ~(1 << UInt64((slot >> 6) & 63)) }
    }

    /// The first slot at or after `start` that is not empty.
    private func firstFilled(from start: Int) -> Int? {
        let word = start >> 6
        let rest = filled[word] & (~0 << UInt64(start & 63))
        if rest != 0 { return word << 6 + rest.trailingZeroBitCount }
        var group = (word + 1) >> 6
        guard group < filledWords.count else { return nil }
        var words = filledWords[group] & (~0 << UInt64((word + 1) & 63))
        while words == 0 {
            group += 1
            guard group < filledWords.count else { return nil }
            words = filledWords[group]
        }
        let found = group << 6 + words.trailingZeroBitCount
        return found << 6 + filled[found].trailingZeroBitCount
    }

    private static func floorTick(_ time: WallTime) -> Int64 {
        let clamped = min(max(time.milliseconds, 0), 1 << 60)
        return clamped / resolutionMilliseconds
    }

    /// Rounded up, so that nothing fires early.
    private static func ceilingTick(_ time: WallTime) -> Int64 {
        let clamped = min(max(time.milliseconds, 0), 1 << 60)
        return (clamped + resolutionMilliseconds - 1) / resolutionMilliseconds
    }
}
