/// A device's starts tonight: sent, accepted, acknowledged, and why others were withheld (S6, section 0).
public struct NightLedger: Hashable, Sendable {
    /// The night it counts in, from `from` until `to`.
    public var from: WallTime
    public var to: WallTime
    /// Claims made, given back or not: the next claim's ordinal. Never falls within a night.
    public var claims = 0
    /// By card key; at most a handful.
    public var keys: [KeyLedger] = []
    /// How often each rule withheld a start.
    public var withheld: [Withheld] = []
    /// Games that joined the eligible set tonight, or stood in it when the night began (S4, A3).
    public var joined: [GameID] = []
    /// S7: older records of this phone whose spend of tonight is counted here.
    public var handedOver: [DeviceID] = []
    /// S14: nights in a row, before this one, whose starts all went unacknowledged.
    public var unprovenNights = 0
    /// S14: the app gave a sign of life tonight.
    public var hasSignOfLife = false
    /// S14: that app has given a sign of life, and is asked for a token until it reports one.
    public var awaitsToken = false
    /// L6: activities whose update token turned out dead tonight, newest last, at most `goneKept`: mostly their owner had
    /// dismissed them, which the app may tell much later (L5).
    public var gone: [ActivityID] = []

    public static let goneKept = 4

    public struct KeyLedger: Hashable, Sendable {
        public let key: CardKey
        /// Spent: claimed and neither refused nor known not to have left (L2).
        public var sent = 0
        /// Reissues and successors, spent as `sent` is: only the hard cap counts them (S6).
        public var reissued = 0
        public var accepted = 0
        public var acknowledged = 0
        public var lastAcceptedAt: WallTime?
        /// Its owner dismissed it tonight (S9).
        public var isDismissed = false

        public init(key: CardKey) { self.key = key }
    }

    public struct Withheld: Hashable, Sendable {
        public let rule: Rule
        public var count: Int

        public init(rule: Rule, count: Int) {
            self.rule = rule
            self.count = count
        }
    }

    public init(from: WallTime, to: WallTime) {
        self.from = from
        self.to = to
    }
}
