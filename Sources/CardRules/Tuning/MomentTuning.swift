/// The constants of T9: regulation lengths, and when a moment is on. Points, goals and runs are plain score units.
public struct MomentTuning: Hashable, Sendable {
    public var basketball = Basketball()
    public var hockey = Hockey()
    public var football = Regulation(periods: 4)
    public var soccer = Regulation(periods: 2)
    /// Innings, where the detail names no other number.
    public var baseball = Regulation(periods: 9)
    public var upset = Upset()

    public init() {}

    public struct Basketball: Hashable, Sendable {
        public var regulationPeriods = 4
        public var periodSeconds = 720.0
        /// The whole of one overtime.
        public var overtimeSeconds = 300.0
        /// The last stretch of regulation, and of an overtime, in which a close score is a close finish.
        public var closeSeconds = 300.0
        /// At most one score.
        public var closeMargin = 3
        /// A side that trailed by so much and is level or ahead came back.
        public var comebackMargin = 15
    }

    public struct Hockey: Hashable, Sendable {
        public var regulationPeriods = 3
        public var periodSeconds = 1200.0
        public var overtimeSeconds = 300.0
        /// From this period on there may be a shootout: its lines have no clock, or say so in their detail.
        public var shootoutPeriod = 5
        public var closeSeconds = 180.0
        public var closeMargin = 1
        public var comebackMargin = 2
    }

    /// A sport of which only the length of regulation is known.
    public struct Regulation: Hashable, Sendable {
        public var regulationPeriods: Int

        public init(periods: Int) { regulationPeriods = periods }
    }

    public struct Upset: Hashable, Sendable {
        /// The share of regulation played from which a lead of the less favoured side is an upset.
        public var fromShare = 0.75
        /// Where no favourite is named: a spread of so many points names one.
        public var spreadPoints = 3.0
    }
}
