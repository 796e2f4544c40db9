import CardRules

/// What one shard's lanes want done, gathered until it is durable.
///
/// Records of many lanes go in one transaction; what depends on them is released only when it has landed (durable before
/// visible). At most one commit is under way; the next batch gathers meanwhile.
struct Outbox {
    /// What is released when the batch has landed.
    struct Gathering {
        /// Lanes by index whose record is to be written, as it is when the commit begins.
        var lanes: Set<Int> = []
        var erased: Set<Erased> = []
        var claims: [StartClaim] = []
        var owners: [PhoneOwner] = []
        var timeline: [TimelineRow] = []
        /// When the first of it came.
        var timelineSince: WallTime?
        var marks: [Int: Int64] = [:]
        var pushes: [HeldPush] = []
        var messages: [HeldMessage] = []
        var replies: [Reply] = []
        var applied: [AppliedPost] = []

        /// Something waits for this to be durable; a timeline alone can wait for company.
        var isUrgent: Bool {
            !lanes.isEmpty || !erased.isEmpty || !claims.isEmpty || !owners.isEmpty || !marks.isEmpty
                || !pushes.isEmpty || !messages.isEmpty || !replies.isEmpty || !applied.isEmpty
                || timeline.count >= Outbox.timelineHeld
        }

        /// Rows that it comes to.
        var rows: Int {
            lanes.count + erased.count + claims.count + owners.count + timeline.count + marks.count + applied.count
        }

        /// Puts what could not be written in front of what has gathered since.
        mutating func takeBack(_ failed: Gathering) {
            lanes.formUnion(failed.lanes)
            erased.formUnion(failed.erased)
            claims = failed.claims + claims
            owners = failed.owners + owners
            timelineSince = failed.timelineSince ?? timelineSince
            timeline = Array((failed.timeline + timeline).suffix(Outbox.timelineKept))
            marks.merge(failed.marks) { max($0, $1) }
            pushes = failed.pushes + pushes
            messages = failed.messages + messages
            applied = failed.applied + applied
        }

        /// Takes out what belongs to partitions that are not ours any more.
        /// - Parameter places: of their lanes.
        /// - Returns: whom to tell.
        mutating func drop(_ partitions: Set<Int>, places: Set<Int>) -> [Reply] {
            let isGone = { (device: DeviceID) in partitions.contains(partition(of: device)) }
            lanes.subtract(places)
            erased = erased.filter { !isGone($0.device) }
            claims.removeAll { isGone($0.device) }
            owners.removeAll { isGone($0.device) }
            timeline.removeAll { isGone($0.device) }
            for partition in partitions { marks[partition] = nil }
            pushes.removeAll { isGone($0.push.ticket.device) }
            messages.removeAll { isGone($0.from) }
            applied.removeAll { partitions.contains($0.id.partition) }
            let gone = replies.filter { partitions.contains($0.partition) }
            replies.removeAll { partitions.contains($0.partition) }
            return gone
        }

        /// Something of the partition is still to be written, or waits for that.
        func concerns(_ place: Int) -> Bool {
            let isOurs = { (device: DeviceID) in partition(of: device) == place }
            return marks[place] != nil || erased.contains { isOurs($0.device) } || claims.contains { isOurs($0.device) }
                || pushes.contains { isOurs($0.push.ticket.device) } || messages.contains { isOurs($0.from) }
                || applied.contains { $0.id.partition == place } || replies.contains { $0.partition == place }
                || timeline.contains { isOurs($0.device) }
        }

        /// The oldest rows go when a store that is away, or does not answer, lets them pile up.
        mutating func append(_ row: TimelineRow, at now: WallTime) {
            timelineSince = timelineSince ?? now
            timeline.append(row)
            if timeline.count > 2 * Outbox.timelineKept { timeline.removeFirst(timeline.count - Outbox.timelineKept) }
        }
    }

    /// Somebody who waits for the batch.
    struct Reply {
        let partition: Int
        let tell: @Sendable (DeviceAnswer) -> Void
    }

    struct Erased: Hashable {
        let lane: Int
        let device: DeviceID
    }

    /// A push that must not leave before its batch has landed.
    struct HeldPush {
        let lane: Int
        let order: PushOrder
        let push: OutgoingPush
        let claim: StartClaim?
    }

    /// Something for another lane that must not be said before this one's record is durable (S7).
    struct HeldMessage {
        let from: DeviceID
        let effect: LaneEffect
    }

    /// Timeline rows that make a commit of their own worth it.
    static let timelineHeld = 256
    /// Timeline rows kept while the store is away; the oldest go first.
    static let timelineKept = 10_000
    /// A row waits no longer for company: people are looking on.
    static let timelineWaitSeconds = 1.0

    var gathering = Gathering()
    var committing: Gathering?
    /// Partitions were lost while it was under way: it may be refused for them alone.
    var hasDropped = false
    /// When the commit under way was handed over.
    var committingSince: SteadyTime?
    /// While the store is away, when to try again.
    var retryAt: WallTime?

    /// The lane's record, as the last turn left it, is not in the store yet.
    func isUnwritten(_ lane: Int) -> Bool {
        gathering.lanes.contains(lane) || committing?.lanes.contains(lane) == true
    }

    /// When a timeline that waits for company is written without; `nil` while a commit is under way or held off.
    var timelineDueAt: WallTime? {
        guard committing == nil, retryAt == nil else { return nil }
        return gathering.timelineSince?.advanced(bySeconds: Self.timelineWaitSeconds)
    }

    /// Something of the lane is still to be written, or waits for that.
    func concerns(_ lane: Int) -> Bool {
        [gathering, committing].contains { part in
            guard let part else { return false }
            return part.lanes.contains(lane) || part.erased.contains { $0.lane == lane }
                || part.pushes.contains { $0.lane == lane }
        }
    }

    /// Pushes that have not left yet.
    var heldPushes: Int { gathering.pushes.count + (committing?.pushes.count ?? 0) }

    /// Nothing can be done before time passes or news come.
    var isIdle: Bool { committing == nil && (!gathering.isUrgent || retryAt != nil) }
}
