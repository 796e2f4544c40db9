/// A merged game with what time adds to it: the window of S11 and the tails of T1.
struct SlateEntry: Sendable {
    private(set) var merged: MergedGame
    /// When the first line of the game came.
    let joined: WallTime
    private(set) var active: MomentSet = []
    /// When each kind that was on last ended, by `MomentKind.place`.
    private var endedAt = [WallTime?](repeating: nil, count: MomentKind.allCases.count)
    private(set) var momentsBegun: UInt32 = 0
    /// When it was last said to be postponed, or to be anything.
    private var lastLine: WallTime
    var isDirty = true
    /// What the last snapshot said of it.
    var ranked: RankedGame?
    /// The next instant at which time alone changes it.
    private(set) var nextChange: WallTime?

    init(_ merged: MergedGame, arrived: WallTime) {
        self.merged = merged
        joined = arrived
        lastLine = arrived
    }

    var state: GameState { merged.state }

    mutating func apply(_ patch: GamePatch, at now: WallTime, tuning: Tuning, limits: SlateLimits)
        throws(IncompleteGame)
        -> SlateChange
    {
        let change = try merged.merge(patch, limits: limits)
        noteLine(change, at: now, tuning: tuning)
        return change
    }

    mutating func apply(_ patch: ScorePatch, at now: WallTime, tuning: Tuning, limits: SlateLimits) -> SlateChange {
        let change = merged.merge(patch, arrived: now, limits: limits)
        noteLine(change, at: now, tuning: tuning)
        return change
    }

    /// Judged line by line, so that how lines are cut into ticks makes no difference.
    private mutating func noteLine(_ change: SlateChange, at now: WallTime, tuning: Tuning) {
        if case .ignored = change { return }
        lastLine = now
        judgeMoments(at: now, tuning: tuning)
    }

    mutating func retune(at now: WallTime, tuning: Tuning) { judgeMoments(at: now, tuning: tuning) }

    private mutating func judgeMoments(at now: WallTime, tuning: Tuning) {
        isDirty = true
        let on = moments(of: state, tuning: tuning)
        guard on != active else { return }
        for kind in MomentKind.allCases {
            let member = MomentSet(kind)
            if on.contains(member), !active.contains(member) { momentsBegun += 1 }
            if active.contains(member), !on.contains(member) { endedAt[kind.place] = now }
        }
        active = on
    }

    /// The largest boost among the moments on, or over for less than the tail (T1).
    func lift(at now: WallTime, tuning: Tuning.Takeover) -> Double {
        var lift = 0.0
        for kind in MomentKind.allCases {
            let isOn = active.contains(MomentSet(kind))
            let hasTail = endedAt[kind.place].map { now < $0.advanced(bySeconds: tuning.tailSeconds) } ?? false
            if isOn || hasTail { lift = max(lift, tuning.boosts[kind]) }
        }
        return lift
    }

    /// S11.
    func isInWindow(at now: WallTime, window: Tuning.Window) -> Bool {
        switch state.phase ?? .pre {
        case .live, .break: return true
        case .postponed: return false
        case .pre:
            guard let span = preSpan(window) else { return false }
            return span.opens <= now && now < span.closes
        case .final:
            guard let since = state.finalSince else { return false }
            return now < since.advanced(bySeconds: window.afterSeconds)
        }
    }

    /// When the game left the window for good, as far as its lines say; `nil` while it has not.
    func leftWindow(window: Tuning.Window) -> WallTime? {
        switch state.phase ?? .pre {
        case .live, .break: nil
        case .postponed: lastLine
        case .pre: max(preSpan(window)?.closes ?? lastLine, lastLine)
        case .final: (state.finalSince ?? lastLine).advanced(bySeconds: window.afterSeconds)
        }
    }

    /// To be called whenever the entry or the time has changed.
    mutating func findNextChange(after now: WallTime, tuning: Tuning, limits: SlateLimits) {
        var next: WallTime?
        func consider(_ instant: WallTime?) {
            guard let instant, instant > now, next.map({ instant < $0 }) ?? true else { return }
            next = instant
        }
        switch state.phase ?? .pre {
        case .pre:
            let span = preSpan(tuning.window)
            consider(span?.opens)
            consider(span?.closes)
        case .final: consider(state.finalSince?.advanced(bySeconds: tuning.window.afterSeconds))
        case .live, .break, .postponed: break
        }
        for ended in endedAt { consider(ended?.advanced(bySeconds: tuning.takeover.tailSeconds)) }
        consider(leftWindow(window: tuning.window)?.advanced(bySeconds: limits.retireAfterSeconds))
        nextChange = next
    }

    private func preSpan(_ window: Tuning.Window) -> (opens: WallTime, closes: WallTime)? {
        guard let startsAt = state.startsAt else { return nil }
        return (
            startsAt.advanced(bySeconds: -window.beforeSeconds), startsAt.advanced(bySeconds: window.stalePreSeconds)
        )
    }
}

extension SlateEntry {
    /// What a snapshot says of the game at `now`; its `changeVersion` is carried over and still to be judged.
    func rank(at now: WallTime, tuning: Tuning) -> RankedGame {
        let kinds = active.kinds(by: tuning.takeover.boosts)
        return RankedGame(
            id: state.id, sport: state.sport, league: state.league, home: state.home, away: state.away,
            startsAt: state.startsAt, phase: state.phase ?? .pre, period: state.period, clock: state.clock,
            homeScore: state.homeScore ?? 0, awayScore: state.awayScore ?? 0, detail: state.detail,
            worth: worth(of: state, tuning: tuning).total, moments: kinds,
            lift: lift(at: now, tuning: tuning.takeover),
            isInWindow: isInWindow(at: now, window: tuning.window),
            isBeyondRegulation: isBeyondRegulation(state, tuning: tuning.moments),
            changeVersion: ranked?.changeVersion ?? 0, momentsBegun: momentsBegun)
    }
}
