/// A game that may stand in front of a card, as one phone sees it (T1).
public struct Contender: Hashable, Sendable {
    public let game: GameID
    /// Worth + taste, points.
    public let base: Double
    /// Points; lasts a while beyond the moment.
    public let lift: Double
    public let phase: Phase

    public init(game: GameID, base: Double, lift: Double, phase: Phase) {
        self.game = game
        self.base = base
        self.lift = lift
        self.phase = phase
    }

    /// Worth + taste + lift (T1).
    public var effective: Double { base + lift }
}

/// What choosing a front came to.
public struct FrontChoice: Hashable, Sendable {
    /// The front from now on; `nil` only where there is no contender.
    public var front: Front?
    /// The rule that changed it; `nil` where it stayed.
    public var rule: Rule?
    /// When time alone can change the answer; `nil` where only news can.
    public var lookAgain: WallTime?
}

/// What of the phone holds takeovers back (A2).
public struct TakeoverHold: Hashable, Sendable {
    /// The owner's pinned game.
    public var pinned: GameID?
    /// Until then the app's own selection stands as it came.
    public var until: WallTime?
    /// The personalisation cannot be read: nothing takes over.
    public var isUnreadable: Bool

    public init(pinned: GameID? = nil, until: WallTime? = nil, isUnreadable: Bool = false) {
        self.pinned = pinned
        self.until = until
        self.isUnreadable = isUnreadable
    }
}

/// Chooses the game to show in front. The same function on the server and in the app (C6). Rules T3-T8, T11, T12, A2.
///
/// - Parameters:
///   - contenders: the phone's whole eligible set in any order, muted games already left out.
///   - front: the front now; `nil` on a fresh card.
/// - Returns: a front among the contenders. Equal scores: the lower `GameID` (T7). Cost: a few passes over them.
public func chooseFront(
    among contenders: [Contender], front: Front?, hold: TakeoverHold, at now: WallTime, tuning: Tuning.Takeover
) -> FrontChoice {
    // T6: what is final stands in front of nothing that is under way.
    let isAnyUnderWay = contenders.contains(where: \.phase.isUnderWay)
    let eligible = isAnyUnderWay ? contenders.filter { $0.phase != .final } : contenders
    guard let best = strongest(eligible, by: { $0.effective }) else { return FrontChoice() }
    let pin = contenders.first { $0.game == hold.pinned && $0.phase != .final }

    guard var front else {
        let first = pin ?? best
        let wonByLift = pin == nil && needsLift(first, among: eligible)
        return FrontChoice(front: Front(game: first.game, since: now, wonByLift: wonByLift), rule: .t12)
    }
    front.forgetOld(at: now, tuning: tuning)

    guard let standing = eligible.first(where: { $0.game == front.game }) else {
        // T6: whatever margin, bench and holds say, and no takeover.
        let next = pin ?? best
        front.replace(with: next, wonByLift: pin == nil && needsLift(next, among: eligible), at: now)
        return FrontChoice(front: front, rule: .t6)
    }

    if let pin {
        if pin.game == front.game { return FrontChoice(front: front) }
        if let free = front.nextFreeChange(at: now, tuning: tuning) {
            return FrontChoice(front: front, lookAgain: free)
        }
        front.change(to: pin, wonByLift: false, at: now)
        return FrontChoice(front: front, rule: .t12)
    }

    if front.wonByLift, standing.lift <= 0, strongest(eligible, by: { $0.base })?.game == front.game {
        front.wonByLift = false  // the lift is over, and the front is the best without it too
    }
    var lookAgain = WallTime.distantFuture
    guard let (challenger, rule) = challenge(standing, front, eligible, now, tuning, &lookAgain) else {
        return FrontChoice(front: front, lookAgain: lookAgain == .distantFuture ? nil : lookAgain)
    }
    if hold.isUnreadable { return FrontChoice(front: front) }
    let waits = [
        hold.until, front.since.advanced(bySeconds: tuning.settleSeconds),
        front.nextFreeChange(at: now, tuning: tuning),
    ]
    if let latest = waits.compactMap({ $0 }).filter({ $0 > now }).max() {
        return FrontChoice(front: front, lookAgain: latest)
    }
    let wonByLift = rule == .t3 && challenger.lift > 0 && challenger.base < standing.effective + tuning.marginPoints
    front.change(to: challenger, wonByLift: wonByLift, at: now)
    // What waits behind the new front: a game on the bench, or after T11 one that leads by its lift.
    let next = chooseFront(among: contenders, front: front, hold: hold, at: now, tuning: tuning)
    return FrontChoice(front: front, rule: rule, lookAgain: next.rule == nil ? next.lookAgain : now)
}

/// Who would take the front if nothing held it back: by T11, else by T3 and T5.
private func challenge(
    _ standing: Contender, _ front: Front, _ contenders: [Contender], _ now: WallTime, _ tuning: Tuning.Takeover,
    _ lookAgain: inout WallTime
) -> (Contender, Rule)? {
    if front.wonByLift, standing.lift <= 0, let settled = strongest(contenders, by: { $0.base }) {
        return (settled, .t11)
    }
    var winner: Contender?
    for contender in contenders where contender.game != front.game {
        guard contender.effective >= standing.effective + tuning.marginPoints else { continue }
        if let lost = front.bench.last(where: { $0.game == contender.game }) {
            lookAgain = min(lookAgain, lost.at.advanced(bySeconds: tuning.benchSeconds))
            continue
        }
        if winner.map({ isStronger(contender, than: $0, by: { $0.effective }) }) ?? true { winner = contender }
    }
    return winner.map { ($0, .t3) }
}

/// `true` when the game has a lift and would not lead without it (T11).
private func needsLift(_ contender: Contender, among contenders: [Contender]) -> Bool {
    contender.lift > 0 && strongest(contenders, by: { $0.base })?.game != contender.game
}

private func strongest(_ contenders: [Contender], by score: (Contender) -> Double) -> Contender? {
    var best: Contender?
    for contender in contenders where best.map({ isStronger(contender, than: $0, by: score) }) ?? true {
        best = contender
    }
    return best
}

/// T7: equal scores, the lower id.
private func isStronger(_ one: Contender, than other: Contender, by score: (Contender) -> Double) -> Bool {
    let (mine, theirs) = (score(one), score(other))
    return mine != theirs ? mine > theirs : one.game < other.game
}

extension Front {
    /// What T5 and T8 no longer ask about.
    fileprivate mutating func forgetOld(at now: WallTime, tuning: Tuning.Takeover) {
        bench.removeAll { now.seconds(since: $0.at) >= tuning.benchSeconds }
        changes.removeAll { now.seconds(since: $0) >= 60 }
    }

    /// T8: when another change is free; `nil` for now.
    fileprivate func nextFreeChange(at now: WallTime, tuning: Tuning.Takeover) -> WallTime? {
        guard changes.count >= tuning.changesPerMinute, let oldest = changes.suffix(tuning.changesPerMinute).first
        else {
            return nil
        }
        return oldest.advanced(bySeconds: 60)
    }

    /// A change that T8 counts.
    fileprivate mutating func change(to contender: Contender, wonByLift: Bool, at now: WallTime) {
        changes.append(now)
        replace(with: contender, wonByLift: wonByLift, at: now)
    }

    fileprivate mutating func replace(with contender: Contender, wonByLift: Bool, at now: WallTime) {
        bench.removeAll { $0.game == game || $0.game == contender.game }
        bench.append(Benched(game: game, at: now))
        game = contender.game
        since = now
        self.wonByLift = wonByLift
    }
}
