/// The constants of T9: regulation lengths, and when a moment is on. Points, goals and runs are plain score units.
public struct MomentTuning: Hashable, Sendable {
    public var basketball = Basketball()
    public var hockey = Hockey()
    public var football = Football()
    public var baseball = Baseball()
    public var soccer = Soccer()
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

    public struct Football: Hashable, Sendable {
        public var regulationPeriods = 4
        public var periodSeconds = 900.0
        /// The whole of one overtime.
        public var overtimeSeconds = 600.0
        /// The last stretch of regulation, and of an overtime, in which a close score is a close finish.
        public var closeSeconds = 300.0
        /// At most one score: a touchdown and two points after it.
        public var closeMargin = 8
        public var comebackMargin = 14
    }

    public struct Baseball: Hashable, Sendable {
        /// Innings, where the game's detail names no smaller number; a larger one counts as none.
        public var regulationPeriods = 9
        /// There is no clock: what one out counts for in the course of a game.
        public var outSeconds = 200.0
        /// In the last scheduled inning and later ones.
        public var closeMargin = 1
        public var comebackMargin = 4
    }

    public struct Soccer: Hashable, Sendable {
        /// Halves.
        public var regulationPeriods = 2
        public var periodSeconds = 2700.0
        /// Each of the periods of extra time, which are those between regulation and the shootout.
        public var overtimeSeconds = 900.0
        /// The period that is a shootout; there is none after it.
        public var shootoutPeriod = 5
        /// From so much time played on a close score is a close finish: minute 80.
        public var closeFromSeconds = 4800.0
        public var closeMargin = 1
        public var comebackMargin = 2
    }

    public struct Upset: Hashable, Sendable {
        /// The share of regulation played from which a lead of the less favoured side is an upset.
        public var fromShare = 0.75
        /// Where no favourite is named: a spread of so many points names one.
        public var spreadPoints = 3.0
    }
}
