import CardRules

/// What the night of one phone came to, and how near it came to the caps.
struct ReplayTally: Hashable, Sendable {
    /// Of fronts that another game gave way to, by the rule that decided.
    private(set) var frontChanges: [Rule: Int] = [:]
    /// First fronts of fresh cards.
    private(set) var firstFronts = 0
    private(set) var starts = 0
    private(set) var urgentUpdates = 0
    private(set) var conservingUpdates = 0
    private(set) var ends = 0
    private(set) var withheld: [Rule: Int] = [:]
    private(set) var pushes = 0
    private(set) var bytes = 0
    private(set) var largestBytes = 0
    /// A card still stands when the replay ends.
    let isCardStanding: Bool
    let forecast: Forecast

    var frontChangeCount: Int { frontChanges.values.reduce(0, +) }
    var withheldCount: Int { withheld.values.reduce(0, +) }

    /// The most that the phone needed, against what it may have.
    struct Forecast: Hashable, Sendable {
        /// Starts of the night that had the most.
        let starts: Int
        /// S6.
        let startsUnacknowledged: Int
        let startsAcknowledged: Int
        let startsHardCap: Int
        /// The hour with the most updates of priority 10, and P6's allowance for it.
        let urgent: BusiestHour
        let urgentAllowance: Int
        /// Updates that went with priority 5 because the allowance was used up.
        let conserved: Int
        let pushes: BusiestHour
    }

    init(_ lane: ReplayLane, tuning: Tuning) {
        var urgentTimes: [WallTime] = []
        var pushTimes: [WallTime] = []
        isCardStanding = lane.isCardStanding
        let isFrequent = lane.phone.patch.frequentUpdates ?? false
        for step in lane.steps where step.push != nil {
            pushTimes.append(step.at)
            if step.kind == .update, step.push?.priority == .immediate { urgentTimes.append(step.at) }
        }
        forecast = Forecast(
            starts: lane.counts.starts.values.max() ?? 0, startsUnacknowledged: tuning.starts.unacknowledged,
            startsAcknowledged: tuning.starts.acknowledged, startsHardCap: tuning.starts.hardCap,
            urgent: BusiestHour(of: urgentTimes),
            urgentAllowance: isFrequent ? tuning.updates.urgentPerHourFrequent : tuning.updates.urgentPerHour,
            conserved: lane.counts.conserved, pushes: BusiestHour(of: pushTimes))
        for step in lane.steps { count(step) }
    }

    private mutating func count(_ step: ReplayStep) {
        if let push = step.push {
            pushes += 1
            bytes += push.byteCount
            largestBytes = max(largestBytes, push.byteCount)
        }
        switch step.kind {
        case .front:
            if step.change?.from == nil {
                firstFronts += 1
            } else if let rule = step.rule {
                frontChanges[rule, default: 0] += 1
            }
        case .start: starts += 1
        case .update:
            if step.push?.priority == .immediate { urgentUpdates += 1 } else { conservingUpdates += 1 }
        case .end: ends += 1
        case .withheld: if let rule = step.rule { withheld[rule, default: 0] += 1 }
        }
    }
}

/// The hour, beginning with one of the events, in which most of them fell.
struct BusiestHour: Hashable, Sendable {
    private(set) var count = 0
    /// `nil` when there were none.
    private(set) var from: WallTime?

    /// - Parameter times: in order.
    init(of times: [WallTime]) {
        var last = 0
        for first in times.indices {
            while last < times.count, times[last].seconds(since: times[first]) < 3600 { last += 1 }
            if last - first > count { (count, from) = (last - first, times[first]) }
        }
    }
}
