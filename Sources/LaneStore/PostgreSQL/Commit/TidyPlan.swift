internal import CardRules
internal import Lanes

/// What is too old to keep, milliseconds; deleted by age alone, by whoever comes to it.
struct Tidying: Hashable, Sendable {
    let timelineBefore: Int64
    /// Timeline rows to delete at most.
    let timelineRows: Int64
    /// `nil`: not this time.
    let claimsBefore: Int64?
}

/// When to tidy. The store has no clock: it goes by the newest time that a row named. Pure.
struct TidyPlan: Hashable, Sendable {
    let timelineSeconds: Int64
    private var newest: Int64 = .min
    private var tidiedAt: Int64 = .min
    private var claimsTidiedAt: Int64 = .min
    private var rows: Int64 = 0

    init(timelineSeconds: Int64) { self.timelineSeconds = timelineSeconds }

    mutating func note(_ batch: CommitBatch) {
        for claim in batch.claims { newest = max(newest, claim.at.milliseconds) }
        for row in batch.timeline { newest = max(newest, row.entry.at.milliseconds) }
        rows += Int64(batch.timeline.count)
        if tidiedAt == .min { (tidiedAt, claimsTidiedAt) = (newest, newest) }
    }

    /// The timeline once a minute, twice as many rows as have come; claims once an hour.
    mutating func next() -> Tidying? {
        guard newest > .min, newest >= tidiedAt.raised(by: 60) else { return nil }
        tidiedAt = newest
        let withClaims = newest >= claimsTidiedAt.raised(by: 3600)
        if withClaims { claimsTidiedAt = newest }
        defer { rows = 0 }
        return Tidying(
            timelineBefore: newest.lowered(by: timelineSeconds), timelineRows: max(1000, 2 * rows),
            claimsBefore: withClaims ? newest.lowered(by: SQLiteStore.claimSeconds) : nil)
    }
}
