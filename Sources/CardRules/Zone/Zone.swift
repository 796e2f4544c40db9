/// A time zone as a table of transitions: a value, so that the rules need no system data. The server fills it from
/// tzdata, the app from `TimeZone`.
public struct Zone: Sendable {
    /// From `at` on, local time is `offsetSeconds` ahead of UTC.
    public struct Transition: Hashable, Sendable {
        /// Unix seconds.
        public var at: Int64
        public var offsetSeconds: Int32

        public init(at: Int64, offsetSeconds: Int32) {
            self.at = at
            self.offsetSeconds = offsetSeconds
        }
    }

    /// Which instant a local time means that comes twice.
    public enum Occurrence: Hashable, Sendable { case first, last }

    /// IANA's name, or one that says the offset, such as `GMT+5:30`.
    public let name: String
    /// Strictly rising; the first holds for all time before the second.
    private let transitions: [Transition]

    public static let utc = Zone(name: "UTC", fixedOffsetSeconds: 0)

    public init(name: String, fixedOffsetSeconds: Int32 = 0) {
        self.name = name
        transitions = [Transition(at: .min, offsetSeconds: fixedOffsetSeconds)]
    }

    /// - Parameter transitions: in rising order; those that leave the offset as it is may be there.
    /// - Returns: `nil` when the order is broken, or an offset is 26 h or more.
    public init?(name: String, offsetBefore: Int32, transitions: [Transition]) {
        let bound: Int32 = 26 * 3600
        var table = [Transition(at: .min, offsetSeconds: offsetBefore)]
        var last = Int64.min
        for transition in transitions {
            guard transition.at > last else { return nil }
            last = transition.at
            if transition.offsetSeconds != table[table.count - 1].offsetSeconds { table.append(transition) }
        }
        guard table.allSatisfy({ -bound < $0.offsetSeconds && $0.offsetSeconds < bound }) else { return nil }
        self.name = name
        self.transitions = table
    }

    /// Seconds that local time is ahead of UTC.
    public func offsetSeconds(at instant: WallTime) -> Int {
        Int(transitions[place(of: instant.unixSeconds)].offsetSeconds)
    }

    /// The wall clock, as seconds since the midnight that began 1 January 1970 on it.
    public func localSeconds(at instant: WallTime) -> Int64 {
        bounded(instant.unixSeconds) + Int64(offsetSeconds(at: instant))
    }

    /// When the wall clock shows `local`. A time in a gap means the jump; of one that comes twice, as asked.
    ///
    /// - Parameter local: as `localSeconds(at:)` gives it.
    public func instant(localSeconds local: Int64, _ occurrence: Occurrence = .first) -> WallTime {
        let local = bounded(local)
        let day: Int64 = 86_400 * 2  // offsets differ by less
        switch occurrence {
        case .first:
            var place = place(of: local - day)
            while true {
                let instant = local - Int64(transitions[place].offsetSeconds)
                guard let end = end(of: place), instant >= end else {
                    return WallTime(seconds: max(instant, transitions[place].at))
                }
                place += 1
            }
        case .last:
            var place = place(of: local + day)
            while true {
                let instant = local - Int64(transitions[place].offsetSeconds)
                guard instant < transitions[place].at else {
                    return WallTime(seconds: end(of: place).map { min(instant, $0) } ?? instant)
                }
                place -= 1
            }
        }
    }

    /// The last transition at or before `second`.
    private func place(of second: Int64) -> Int {
        var low = 0
        var high = transitions.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if transitions[middle].at <= second { low = middle } else { high = middle }
        }
        return low
    }

    private func end(of place: Int) -> Int64? {
        place + 1 < transitions.count ? transitions[place + 1].at : nil
    }

    /// Far enough from the edges for sums.
    private func bounded(_ seconds: Int64) -> Int64 { min(max(seconds, -(1 << 60)), 1 << 60) }
}

extension Zone: Hashable {
    public static func == (left: Zone, right: Zone) -> Bool {
        left.name == right.name && left.transitions == right.transitions
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Days of the wall clock, counted from 1 January 1970.
func localDay(_ localSeconds: Int64) -> Int64 {
    let (quotient, remainder) = localSeconds.quotientAndRemainder(dividingBy: 86_400)
    return remainder < 0 ? quotient - 1 : quotient
}
