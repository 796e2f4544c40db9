/// All of tonight's games, merged from lines, windowed by the server's clock, ranked once for every lane (T10, S11).
///
/// Pure: the caller gives the time. Feed it lines with `apply`, publish with `snapshot`, and publish again at `nextChange`.
public struct Slate: Sendable {
    private var tuning: Tuning
    private let limits: SlateLimits
    /// In order of joining; `places` says where each game is.
    private var entries: [SlateEntry] = []
    private var places: [GameID: Int] = [:]
    private var held = HeldScores()
    private var version: UInt64 = 0
    private var roster: UInt32 = 0
    /// The version at which the windows or the roster last changed.
    private var windows: UInt64 = 0
    private var lastRoster: UInt32 = 0
    private var lastSnapshot: WallTime = .distantPast
    /// The instant at which every game was looked at for room, in vain: a batch with thousands too many looks once, and once
    /// more only after what may have let a game go.
    private var fullAt: WallTime?
    public private(set) var counters = SlateCounters()

    public init(tuning: Tuning, limits: SlateLimits = SlateLimits()) {
        self.tuning = tuning
        self.limits = limits
    }

    /// Merges one line. Lines may come late, twice or out of order (api.md, "Slates").
    ///
    /// - Parameter now: when it arrived.
    public mutating func apply(_ line: SlateLine, at now: WallTime) -> SlateChange {
        counters.heldDropped += held.dropExpired(at: now, afterSeconds: tuning.slate.holdUnannouncedSeconds)
        let change =
            switch line {
            case .game(let patch): apply(patch, at: now)
            case .score(let patch): apply(patch, at: now)
            }
        counters.note(change)
        return change
    }

    /// The slate at `now`, with a version above the last one's. Only games that changed, or whose time has come, are
    /// judged anew.
    public mutating func snapshot(at now: WallTime) -> SlateSnapshot {
        counters.heldDropped += held.dropExpired(at: now, afterSeconds: tuning.slate.holdUnannouncedSeconds)
        retire(at: now)
        version += 1
        // A clock that was set back: what time has done may have to be undone.
        let isBack = now < lastSnapshot
        lastSnapshot = now
        for place in entries.indices {
            guard isBack || entries[place].isDirty || entries[place].nextChange.map({ $0 <= now }) ?? false else {
                continue
            }
            judge(place, at: now)
        }
        if roster != lastRoster { windows = version }
        lastRoster = roster
        // Every entry has been judged by now, so the places are the slots.
        return SlateSnapshot(
            version: version, roster: roster, windows: windows, asOf: now, games: entries.compactMap(\.ranked),
            slots: places)
    }

    /// Other values of `tuning`: every game is judged anew at the next snapshot, its moments at once. A moment that only
    /// the new values see begins now, one that they do not see is over now.
    public mutating func retune(_ tuning: Tuning, at now: WallTime) {
        self.tuning = tuning
        fullAt = nil
        for place in entries.indices {
            entries[place].retune(at: now, tuning: tuning)
            entries[place].findNextChange(after: now, tuning: tuning, limits: limits)
        }
    }

    /// The next instant at which time alone changes the slate: a game enters or leaves the window (S11), a lift's tail
    /// ends (T1), a held score expires, a game is forgotten. `nil` when nothing is due. Publish again then.
    public var nextChange: WallTime? {
        let ofGames = entries.compactMap(\.nextChange).min()
        let ofHeld = held.oldest?.advanced(bySeconds: tuning.slate.holdUnannouncedSeconds)
        return [ofGames, ofHeld].compactMap { $0 }.min()
    }

    /// The merged game, unknown keys included; `nil` for one never announced or forgotten.
    public func game(_ id: GameID) -> GameState? { places[id].map { entries[$0].state } }

    /// What the worth of a game is made of (T10).
    public func worthParts(of id: GameID) -> Worth? { game(id).map { worth(of: $0, tuning: tuning) } }

    /// Games held, in the window or not.
    public var count: Int { entries.count }

    public var heldScores: Int { held.count }

    // MARK: - Lines

    private mutating func apply(_ patch: GamePatch, at now: WallTime) -> SlateChange {
        do {
            if let place = places[patch.game] {
                let change = try entries[place].apply(patch, at: now, tuning: tuning, limits: limits)
                reschedule(place, after: now)
                return change
            }
            let merged = try MergedGame(announcedBy: patch, limits: limits)
            guard makeRoom(at: now) else { return .refused(.slateFull) }
            join(SlateEntry(merged, arrived: now), at: now)
            return .announced
        } catch {
            return .refused(.incomplete(key: error.key))
        }
    }

    private mutating func apply(_ patch: ScorePatch, at now: WallTime) -> SlateChange {
        guard let place = places[patch.game] else {
            counters.heldDropped += held.hold(patch, arrived: now, limit: limits.heldScores)
            return .held
        }
        let change = entries[place].apply(patch, at: now, tuning: tuning, limits: limits)
        reschedule(place, after: now)
        return change
    }

    /// Only of a game that the next snapshot judges in any case: of another an instant that is due would be lost.
    private mutating func reschedule(_ place: Int, after now: WallTime) {
        guard entries[place].isDirty else { return }
        entries[place].findNextChange(after: now, tuning: tuning, limits: limits)
        if let left = entries[place].leftWindow(window: tuning.window), left <= now { fullAt = nil }
    }

    private mutating func join(_ entry: SlateEntry, at now: WallTime) {
        var entry = entry
        for waiting in held.take(of: entry.state.id) {
            _ = entry.apply(waiting.patch, at: waiting.arrived, tuning: tuning, limits: limits)
        }
        entry.findNextChange(after: now, tuning: tuning, limits: limits)
        places[entry.state.id] = entries.count
        entries.append(entry)
        roster += 1
    }

    // MARK: - Leaving

    private mutating func retire(at now: WallTime) {
        let isOver = { [tuning, limits] (entry: SlateEntry) in
            entry.leftWindow(window: tuning.window)
                .map { $0.advanced(bySeconds: limits.retireAfterSeconds) <= now } ?? false
        }
        guard entries.contains(where: isOver) else { return }
        counters.retired += entries.count { isOver($0) }
        entries.removeAll(where: isOver)
        rosterMoved()
    }

    /// At the limit the game that left the window first goes.
    private mutating func makeRoom(at now: WallTime) -> Bool {
        guard entries.count >= limits.games else { return true }
        guard fullAt != now else { return false }
        let left = entries.indices.compactMap { place in
            entries[place].leftWindow(window: tuning.window).map { (place, $0) }
        }
        guard let first = left.filter({ $0.1 <= now }).min(by: { $0.1 < $1.1 }) else {
            fullAt = now
            return false
        }
        entries.remove(at: first.0)
        counters.retired += 1
        rosterMoved()
        return true
    }

    private mutating func rosterMoved() {
        places = Dictionary(entries.enumerated().map { ($1.state.id, $0) }, uniquingKeysWith: { first, _ in first })
        roster += 1
        fullAt = nil
    }

    // MARK: - Judging

    private mutating func judge(_ place: Int, at now: WallTime) {
        let last = entries[place].ranked
        var game = entries[place].rank(at: now, tuning: tuning)
        if game != last { game.changeVersion = version }
        if game.isInWindow != last?.isInWindow { windows = version }
        entries[place].ranked = game
        entries[place].isDirty = false
        entries[place].findNextChange(after: now, tuning: tuning, limits: limits)
    }
}

/// What became of the lines so far.
public struct SlateCounters: Hashable, Sendable {
    /// Lines that changed something, announcements included.
    public internal(set) var applied = 0
    public internal(set) var unchanged = 0
    public internal(set) var ignored = 0
    public internal(set) var refused = 0
    public internal(set) var held = 0
    /// Held scores whose announcement did not come in time, or that had to make room.
    public internal(set) var heldDropped = 0
    /// Games forgotten.
    public internal(set) var retired = 0

    public init() {}

    mutating func note(_ change: SlateChange) {
        switch change {
        case .announced, .applied, .awaitsRepeat: applied += 1
        case .unchanged: unchanged += 1
        case .held: held += 1
        case .ignored: ignored += 1
        case .refused: refused += 1
        }
    }
}
