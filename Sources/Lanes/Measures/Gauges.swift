public import CardRules

/// How things stand on this node, counted on demand: one look at each lane.
public struct Gauges: Hashable, Sendable {
    /// Every condition is there, also with none.
    public internal(set) var lanes: [LaneCondition: Int] = [:]
    /// Only what there is.
    public internal(set) var cards: [CardKind: Int] = [:]
    /// L9: cards taken to be alive whose start was accepted and of which nobody has told.
    public internal(set) var neverAdopted = 0
    public internal(set) var probing = 0
    /// How far the oldest deadline that is due lies back.
    public internal(set) var timersOverdueSeconds = 0.0
    /// Calls that wait for their turn, or for their record to be durable.
    public internal(set) var callsWaiting = 0
    /// Pushes ordered and not answered.
    public internal(set) var pushesInFlight = 0
    /// Followers of timelines.
    public internal(set) var followers = 0

    public enum LaneCondition: String, Hashable, Sendable, CaseIterable {
        /// At least one card.
        case standing
        case idle
        /// S14.
        case needsToken = "needs-token"
        /// S7.
        case superseded
        /// Its ends are still owed.
        case removed
        /// Thrown away, and being read again.
        case restarting
        /// Died too often.
        case parked
        /// Its row needs a person.
        case unreadable
    }

    public struct CardKind: Hashable, Sendable {
        public let programme: Card.Programme
        public let state: Card.State

        public init(programme: Card.Programme, state: Card.State) {
            self.programme = programme
            self.state = state
        }
    }

    init() {
        for condition in LaneCondition.allCases { lanes[condition] = 0 }
    }

    mutating func add(_ lane: LaneTally) {
        lanes[lane.condition, default: 0] += 1
        for card in lane.cards {
            cards[CardKind(programme: card.programme, state: card.state), default: 0] += 1
            if card.isNeverAdopted, card.state == .believed { neverAdopted += 1 }
        }
        if lane.isProbing { probing += 1 }
    }

    static func += (left: inout Gauges, right: Gauges) {
        left.lanes.merge(right.lanes, uniquingKeysWith: +)
        left.cards.merge(right.cards, uniquingKeysWith: +)
        left.neverAdopted += right.neverAdopted
        left.probing += right.probing
        left.timersOverdueSeconds = max(left.timersOverdueSeconds, right.timersOverdueSeconds)
        left.callsWaiting += right.callsWaiting
        left.pushesInFlight += right.pushesInFlight
    }
}

/// What one lane adds to the gauges; its cards are shared, not copied.
struct LaneTally: Sendable {
    let condition: Gauges.LaneCondition
    let cards: [Card]
    let isProbing: Bool
}

extension Shard {
    /// Turns go on in between: a lane is counted as it is when it is looked at.
    func gauges() async -> Gauges {
        var gauges = Gauges()
        var index = 0
        while index < lanes.count {
            if let lane = lanes[index] { gauges.add(await lane.tally(tuning)) }
            index += 1
            if index % Shard.lanesPerStretch == 0 { await Task.yield() }
        }
        for gone in fallen.values {
            switch gone.stage {
            case .writing, .reading, .waiting: gauges.lanes[.restarting, default: 0] += 1
            case .parked: gauges.lanes[.parked, default: 0] += 1
            case .unreadable: gauges.lanes[.unreadable, default: 0] += 1
            }
        }
        let replies = outbox.gathering.replies.count + (outbox.committing?.replies.count ?? 0)
        let parked = fallen.values.reduce(0) { $0 + $1.calls.count }
        gauges.callsWaiting = inbox.callsWaiting + replies + parked
        gauges.pushesInFlight = inFlight.count
        if let deadline = deadlines.earliest {
            gauges.timersOverdueSeconds = max(0, environment.clock.now.seconds(since: deadline))
        }
        return gauges
    }
}

extension Supervisor {
    /// One look at every lane of the node: some 50 ns each.
    public nonisolated func gauges() async -> Gauges {
        var gauges = Gauges()
        for shard in shards { gauges += await shard.gauges() }
        gauges.followers = hub.followers
        return gauges
    }
}
