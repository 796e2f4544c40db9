/// A game and when each of its keys was last set: merging as api.md ("Slates") says.
struct MergedGame: Hashable, Sendable {
    private(set) var state: GameState
    private(set) var version: Int64?
    /// The newest `t` of any line of the game.
    private(set) var newest: WallTime = .distantPast
    private var setAt = KeyTimes()
    private var othersSetAt: [String: WallTime] = [:]
    /// A lower score that waits to be repeated, with the line that gave it: that same line sent again is no repeat.
    private var fall: ScorePatch?
    /// The history as it was before the last change of the score: a score taken back takes its traces with it.
    private var historyBefore = GameHistory()

    /// - Throws: the first missing of `sport`, `home`, `away`.
    init(announcedBy patch: GamePatch, limits: SlateLimits) throws(IncompleteGame) {
        guard case .value(let sport) = patch.sport else { throw IncompleteGame(key: "sport") }
        guard case .value(let home) = patch.home else { throw IncompleteGame(key: "home") }
        guard case .value(let away) = patch.away else { throw IncompleteGame(key: "away") }
        state = GameState(id: patch.game, sport: sport, home: home, away: away)
        _ = try merge(patch, limits: limits)
    }

    mutating func merge(_ patch: GamePatch, limits: SlateLimits) throws(IncompleteGame) -> SlateChange {
        guard patch.sport != .null else { throw IncompleteGame(key: "sport") }
        guard patch.home != .null else { throw IncompleteGame(key: "home") }
        guard patch.away != .null else { throw IncompleteGame(key: "away") }
        guard let stamp = stamp(of: patch.at, version: patch.version) else {
            return .ignored(.version(held: version ?? 0))
        }
        let before = state
        var isOutdated = true
        if let value = take(patch.sport, as: .sport, stamp, &isOutdated), let value { state.sport = value }
        if let value = take(patch.home, as: .homeName, stamp, &isOutdated), let value { state.home = value }
        if let value = take(patch.away, as: .awayName, stamp, &isOutdated), let value { state.away = value }
        if let value = take(patch.league, as: .league, stamp, &isOutdated) { state.league = value }
        if let value = take(patch.startsAt, as: .startsAt, stamp, &isOutdated) { state.startsAt = value }
        if let value = take(patch.homeRank, as: .homeRank, stamp, &isOutdated) { state.homeRank = value }
        if let value = take(patch.awayRank, as: .awayRank, stamp, &isOutdated) { state.awayRank = value }
        if let value = take(patch.spread, as: .spread, stamp, &isOutdated) { state.spread = value }
        if let value = take(patch.favourite, as: .favourite, stamp, &isOutdated) { state.favourite = value }
        takeOthers(patch.others, stamp, limits, &isOutdated)
        return finish(before: before, stamp: stamp, isOutdated: isOutdated)
    }

    mutating func merge(_ patch: ScorePatch, arrived: WallTime, limits: SlateLimits) -> SlateChange {
        guard let stamp = stamp(of: patch.at, version: patch.version) else {
            return .ignored(.version(held: version ?? 0))
        }
        let before = state
        var isOutdated = true
        let isSetAside = takeScores(patch, stamp, &isOutdated)
        if let value = take(patch.period, as: .period, stamp, &isOutdated) { state.period = value }
        if let value = take(patch.clock, as: .clock, stamp, &isOutdated) { state.clock = value }
        if let value = take(patch.detail, as: .detail, stamp, &isOutdated) { state.detail = value }
        if let value = take(patch.phase, as: .phase, stamp, &isOutdated) {
            if value != .final {
                state.finalSince = nil
            } else if state.phase != .final {
                state.finalSince = min(patch.at, arrived)
            }
            state.phase = value
        }
        takeOthers(patch.others, stamp, limits, &isOutdated)
        let change = finish(before: before, stamp: stamp, isOutdated: isOutdated)
        return isSetAside ? .awaitsRepeat : change
    }

    // MARK: - Order

    /// When a line counts as seen; `nil` for one whose version is not above the one held. A higher version is newer
    /// than everything held, whatever its `t`: the feed says so itself.
    private mutating func stamp(of at: WallTime, version new: Int64?) -> WallTime? {
        guard let new else { return at }
        if let version, new <= version { return nil }
        version = new
        return max(at, newest)
    }

    /// - Returns: `nil` when the patch leaves the key out or a later line has set it; else the new value, or `nil` in it
    ///   for a key that is cleared.
    private mutating func take<Value>(
        _ patched: Patched<Value>, as key: Key, _ stamp: WallTime, _ isOutdated: inout Bool
    ) -> Value?? {
        guard patched != .absent, stamp >= setAt[key] else { return nil }
        setAt[key] = stamp
        isOutdated = false
        if case .value(let value) = patched { return .some(value) }
        return .some(nil)
    }

    private mutating func takeOthers(
        _ others: [String: JSONValue], _ stamp: WallTime, _ limits: SlateLimits, _ isOutdated: inout Bool
    ) {
        guard !others.isEmpty else { return }
        for (key, value) in others.sorted(by: { $0.key < $1.key }) {
            if let last = othersSetAt[key] {
                guard stamp >= last else { continue }
            } else {
                guard othersSetAt.count < limits.unknownKeys else { continue }
            }
            othersSetAt[key] = stamp
            isOutdated = false
            state.others[key] = value == .null ? nil : value
        }
    }

    private mutating func finish(before: GameState, stamp: WallTime, isOutdated: Bool) -> SlateChange {
        let wasOlder = stamp < newest
        newest = max(newest, stamp)
        if isOutdated && wasOlder { return .ignored(.outdated) }
        return state == before ? .unchanged : .applied
    }

    // MARK: - Scores

    /// Scores that rise count at once. One that falls counts at once from a versioned or marked line; else it is set
    /// aside, and counts if the next line of the game, as new or newer, gives it again.
    ///
    /// - Returns: whether a score was set aside.
    private mutating func takeScores(_ patch: ScorePatch, _ stamp: WallTime, _ isOutdated: inout Bool) -> Bool {
        let earlier = fall
        if let earlier, patch == earlier { return true }
        if earlier.map({ stamp >= $0.at }) ?? true { fall = nil }
        let isTrusted = patch.isCorrection || patch.version != nil
        let previousLead = state.lead
        var falls = false
        var isSetAside = false
        if mayCount(patch.home, over: state.homeScore, isTrusted, repeating: earlier?.home, stamp, .homeScore, &falls) {
            if let value = take(patch.home, as: .homeScore, stamp, &isOutdated) { state.homeScore = value }
        } else {
            isSetAside = true
        }
        if mayCount(patch.away, over: state.awayScore, isTrusted, repeating: earlier?.away, stamp, .awayScore, &falls) {
            if let value = take(patch.away, as: .awayScore, stamp, &isOutdated) { state.awayScore = value }
        } else {
            isSetAside = true
        }
        if isSetAside {
            // An older line does not take the place of the one that waits.
            fall = fall ?? patch
            isOutdated = false
        }
        noteScore(previousLead: previousLead, falls: falls)
        return isSetAside
    }

    private func mayCount(
        _ new: Patched<Int>, over held: Int?, _ isTrusted: Bool, repeating earlier: Patched<Int>?, _ stamp: WallTime,
        _ key: Key, _ falls: inout Bool
    ) -> Bool {
        guard case .value(let value) = new, let held, value < held, stamp >= setAt[key] else { return true }
        guard isTrusted || (fall == nil && earlier == new) else { return false }
        falls = true
        return true
    }

    private mutating func noteScore(previousLead: Int?, falls: Bool) {
        guard let lead = state.lead, lead != previousLead else { return }
        if falls {
            state.history = historyBefore
        } else {
            historyBefore = state.history
        }
        state.history.note(lead: lead)
    }
}

/// A game line that would leave a game without what it needs.
struct IncompleteGame: Error, Hashable {
    let key: String
}

extension MergedGame {
    /// The keys of the two kinds of lines.
    fileprivate enum Key: Int {
        case sport, league, homeName, awayName, startsAt, homeRank, awayRank, spread, favourite
        case homeScore, awayScore, period, clock, phase, detail
    }

    /// When each key was last set, by `Key.rawValue`.
    fileprivate struct KeyTimes: Hashable, Sendable {
        private var times = [WallTime](repeating: .distantPast, count: Key.detail.rawValue + 1)

        subscript(key: Key) -> WallTime {
            get { times[key.rawValue] }
            set { times[key.rawValue] = newValue }
        }
    }
}
