/// A time at which a lane will decide something by itself, for people.
public struct LaneDeadline: Hashable, Sendable {
    public let at: WallTime
    public let kind: Kind
    /// `nil`: it concerns the whole phone.
    public let key: CardKey?

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// R1: the card is replaced.
        case reissue
        /// R3: a reissue that failed is tried again.
        case reissueRetry
        /// L8: the card is ended if nothing follows it.
        case endBeforeLimit
        /// L7: iOS ends the card.
        case limit
        /// L9: a start is called "accepted, never adopted".
        case acknowledgement
        /// S5: quiet hours are over and a start that they withheld is decided again.
        case quietHoursOver
        /// Section 2: a start that was withheld is decided again.
        case startRetry
        /// L1: an owed end is tried again.
        case endRetry
        /// U3, U6: content that waits is sent.
        case update
        /// A3: the selection is too old to count.
        case selectionAges
        /// T1: the lift of a made-up moment is over.
        case momentOver
        /// The next start of a probe.
        case probe
        /// S6: the next night begins.
        case night
    }

    public init(at: WallTime, kind: Kind, key: CardKey?) {
        self.at = at
        self.kind = kind
        self.key = key
    }
}

// What people may ask of a lane: derived, nothing of it is kept for that.
extension LaneState {
    /// What is ahead by time alone, the nearest first; what lies behind `now` is left out.
    public func deadlines(at now: WallTime, tuning: Tuning) -> [LaneDeadline] {
        var found: [LaneDeadline] = []
        func add(_ at: WallTime?, _ kind: LaneDeadline.Kind, _ key: CardKey? = nil) {
            if let at, at > now, at != .distantFuture { found.append(LaneDeadline(at: at, kind: kind, key: key)) }
        }
        add(kept.ledger.to, .night)
        for card in kept.cards {
            let sending = self[sendingFor: card.key]
            add(limit(of: card, tuning, else: .distantFuture), .limit, card.key)
            if card.state == .ending {
                add(sending.endRetryAt, .endRetry, card.key)
                continue
            }
            if let plan = plan(of: card.key) {
                if card.state == .confirmed { add(plan.reissueAt, .reissue, card.key) }
                if card.takesUpdates { add(plan.endAt, .endBeforeLimit, card.key) }
            }
            if card.awaitsAcknowledgement {
                add(card.ageBegan?.advanced(bySeconds: tuning.life.acknowledgeSeconds), .acknowledgement, card.key)
            }
            add(sending.holdUntil, .update, card.key)
        }
        for next in kept.successors {
            if case .refused(let retryAt) = next.state { add(retryAt, .reissueRetry, next.key) }
        }
        for owed in kept.owedEnds {
            add(oldEnds.first { $0.activity == owed.activity }?.retryAt, .endRetry, owed.key)
        }
        if let waiting = kept.deferred {
            add(waiting.until, waiting.rule == .s5 ? .quietHoursOver : .startRetry, .slate)
        }
        for member in kept.sessions {
            guard let waiting = member.pending else { continue }
            add(waiting.until, waiting.rule == .s5 ? .quietHoursOver : .startRetry, member.key)
        }
        if case .readable = kept.settings.personalisation {
            add(
                kept.selection?.arrivedAt.advanced(bySeconds: tuning.authority.selectionHours * 3600), .selectionAges,
                .slate)
        }
        add(madeUp?.liftEnds(tuning), .momentOver, .slate)
        add(kept.probes.compactMap(\.dueAt).min(), .probe, .probe)
        return found.sorted {
            ($0.at, $0.key?.text ?? "", $0.kind.rawValue) < ($1.at, $1.key?.text ?? "", $1.kind.rawValue)
        }
    }

    /// The next instants of a card's life; `nil` before there is evidence of it (L4).
    public func plan(of key: CardKey) -> LifePlan? { plans.first { $0.key == key } }

    /// What a card should show now; `nil` where there is no such card, or nothing that it could show.
    public func content(of key: CardKey, tuning: Tuning) -> CardContent? {
        guard let card = card(key) else { return nil }
        if card.state == .ending { return finalContent(key, card.finalGames) }
        if key == .slate { return arrangement(of: card, tuning).map { .slate($0) } }
        return session(key).map { .session(SessionShow(session: $0)) }
    }

    /// P6: how many more priority-10 updates this card may be sent within the hour.
    public func urgentLeft(of key: CardKey, at now: WallTime, tuning: Tuning) -> Int {
        let updates = tuning.updates
        let allowance = kept.settings.frequentUpdates ? updates.urgentPerHourFrequent : updates.urgentPerHour
        return max(0, allowance - self[sendingFor: key].urgentAt.count { now.seconds(since: $0) < 3600 })
    }

    /// S14: the app should report a push-to-start token. Its last nights' starts came to nothing and it has reported none
    /// since, or the token held was refused as dead (G2, G3) and iOS has not been said to have none.
    public func needsToken(_ tuning: Tuning) -> Bool {
        if kept.ledger.awaitsToken || kept.ledger.unprovenNights >= tuning.starts.unprovenNights { return true }
        guard let held = kept.pushToStart, held.address == nil else { return false }
        return held.noneReportedAt.map { $0 < held.reportedAt } ?? true
    }

    /// S7.
    public var supersededBy: DeviceID? {
        if case .superseded(let newer, _) = kept.pushToStart?.ownership { newer } else { nil }
    }

    /// Per card key, the rule that decided last, why, and what would change it. Of what was decided before a restart the
    /// timeline tells (`TimelineEntry.lastDecisions`).
    public var why: [CardKey: TimelineEntry] { TimelineEntry.lastDecisions(in: decisions.reversed()) }
}

extension Card {
    /// What feeds it.
    public var programme: Programme { key == .slate ? .slate : .session }

    public enum Programme: String, Hashable, Sendable, CaseIterable {
        case slate, session
    }
}
