internal import Lanes
internal import Postgres

/// Where a commit stands, and what an error makes of it. Pure. Source: measured-store 1.4, 1.5.
///
/// What may have landed is never given up: the same statements under the same counters again, until they are written or
/// the fence refuses them. Only the first of the two says "not landed".
struct CommitCourse: Hashable, Sendable {
    enum Stage: Hashable, Sendable {
        case writing
        /// Moves the counters, twice so that it is told from the commit itself, and writes nothing: then no earlier
        /// attempt can land any more.
        case cancelling(StoreError)
        /// It has landed; what was refused is still to be asked.
        case landed
    }

    enum Step: Hashable, Sendable {
        /// The fence has refused: look whose the counters are.
        case lookUp
        case again(afterPause: Bool)
        /// Drop the connection; again on the next.
        case reconnect
        /// Each order alone: one of them cannot be written.
        case split
        /// Again, in the stage that is set now.
        case goOn
        case fail(StoreError)
    }

    /// Attempts for what an orderly answer of the server has ended.
    static let repeatsAtMost = 6

    var stage = Stage.writing
    /// An attempt may have landed, or may land yet.
    private(set) var wasSent = false
    private var repeats = 0

    /// Neither "written" nor "not written" can be said.
    var isOpen: Bool { wasSent || stage != .writing }

    /// Why it is being cancelled.
    var failure: StoreError {
        if case .cancelling(let error) = stage { error } else { .unavailable(detail: "the commit was cancelled") }
    }

    mutating func take(_ error: PostgresError, orders: Int) -> Step {
        if stage == .writing, error.outcome == .unknown { wasSent = true }
        let failure = StoreError.unavailable(detail: "\(error)")
        repeats += 1
        switch error.nextStep {
        case .fenced: return .lookUp
        case .reconnect: return .reconnect
        case .repeatNow, .repeatLater:
            guard isOpen || repeats < Self.repeatsAtMost else { return .fail(failure) }
            return .again(afterPause: error.nextStep == .repeatLater || repeats > 2)
        case .backOffAndAlarm: return isOpen ? .again(afterPause: true) : .fail(failure)
        case .stop:
            if error.endsConnection { return .reconnect }
            guard isOpen else { return orders > 1 ? .split : .fail(failure) }
            if stage == .writing {
                stage = .cancelling(failure)
                return .goOn
            }
            return .again(afterPause: true)
        }
    }
}
