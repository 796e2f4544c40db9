/// The span that nightly caps count in (section 0): from one roll-over to the next, on the device's wall clock.
public struct NightSpan: Hashable, Sendable {
    public let from: WallTime
    /// The instant at which the next night begins.
    public let to: WallTime

    /// A roll-over that comes twice is the first of them, one in a gap is the jump: nights always join without a hole.
    ///
    /// - Parameter rollsAtMinute: minutes after local midnight, 0...1439.
    public init(containing now: WallTime, in zone: Zone, rollsAtMinute: Int) {
        func begin(_ day: Int64) -> WallTime { NightSpan.begin(ofDay: day, in: zone, rollsAtMinute: rollsAtMinute) }
        var day = localDay(zone.localSeconds(at: now) - Int64(rollsAtMinute) * 60)
        var from = begin(day)
        var to = begin(day + 1)
        // Where the clock was set back, the wall clock alone does not tell which side of the roll-over it is; where a
        // whole day was skipped, one night is empty. A few steps settle either.
        for _ in 0..<4 where to <= now {
            day += 1
            from = to
            to = begin(day + 1)
        }
        for _ in 0..<4 where now < from {
            day -= 1
            to = from
            from = begin(day)
        }
        self.from = from
        self.to = to
    }

    /// When the night of a day of the wall clock begins.
    static func begin(ofDay day: Int64, in zone: Zone, rollsAtMinute: Int) -> WallTime {
        zone.instant(localSeconds: day * 86_400 + Int64(rollsAtMinute) * 60, .first)
    }

    /// The day of the wall clock whose night begins at about this instant.
    static func day(ofBegin begin: WallTime, in zone: Zone, rollsAtMinute: Int) -> Int64 {
        localDay(zone.localSeconds(at: begin) - Int64(rollsAtMinute) * 60 + 43_200)
    }

    public func contains(_ instant: WallTime) -> Bool { from <= instant && instant < to }
}
