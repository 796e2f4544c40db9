internal import CardRules

/// The games as the judge merges them: its own plain reading of api.md ("Slates") and S11, apart from the rules' code.
struct JudgeSlate: Sendable {
    private(set) var games: [GameID: Game] = [:]
    private let window: Tuning.Window
    /// How long past faces are kept: what a phone shows may be that old.
    private let rememberSeconds: Double
    /// What comes is kept by the server at once; else when `isKept` says so.
    private let isKeptAtOnce: Bool

    struct Face: Hashable, Sendable {
        var phase: Phase
        var home: Int
        var away: Int
    }

    struct Game: Sendable {
        var isAnnounced = false
        var startsAt: WallTime?
        var sport = Sport("other")
        var face = Face(phase: .pre, home: 0, away: 0)
        var period: Int?
        var innings: Int?
        /// Since when the server has kept that it is beyond regulation.
        var beyondSince: WallTime?
        /// What it looked like before, with the time until which it did; oldest first.
        var past: [(until: WallTime, face: Face)] = []
        /// S11: since when it is final or postponed.
        var overSince: WallTime?
        var newest: [Key: WallTime] = [:]
        var version: Int64?
        /// A lower score seen once, waiting to be repeated.
        var doubtful: Face?

        enum Key: Hashable, Sendable {
            case startsAt, sport, home, away, period, phase, detail
        }
    }

    init(window: Tuning.Window, rememberSeconds: Double, isKeptAtOnce: Bool) {
        self.window = window
        self.isKeptAtOnce = isKeptAtOnce
        self.rememberSeconds = rememberSeconds
    }

    mutating func apply(_ line: SlateLine, at now: WallTime) {
        switch line {
        case .game(let patch): announce(patch)
        case .score(let patch): score(patch, at: now)
        }
    }

    /// Sets a game's state outright, for judges that are told states instead of lines.
    mutating func set(_ id: GameID, startsAt: WallTime?, sport: Sport, face: Face, period: Int?, at now: WallTime) {
        var game = games[id] ?? Game()
        game.isAnnounced = true
        game.startsAt = startsAt ?? game.startsAt
        game.sport = sport
        game.period = period
        note(&game, at: now)
        turn(&game, to: face, lineAt: now, at: now)
        games[id] = game
    }

    /// The server has all that has come so far, whatever becomes of its process.
    mutating func isKept(at now: WallTime) {
        for (id, game) in games where game.isBeyondRegulation && game.beyondSince == nil {
            games[id]?.beyondSince = now
        }
    }

    private func note(_ game: inout Game, at now: WallTime) {
        if !game.isBeyondRegulation {
            game.beyondSince = nil
        } else if isKeptAtOnce {
            game.beyondSince = game.beyondSince ?? now
        }
    }

    private mutating func announce(_ patch: GamePatch) {
        var game = games[patch.game] ?? Game()
        game.isAnnounced = true
        if case .value(let startsAt) = patch.startsAt, isNewest(.startsAt, patch.at, &game) { game.startsAt = startsAt }
        if case .null = patch.startsAt, isNewest(.startsAt, patch.at, &game) { game.startsAt = nil }
        if case .value(let sport) = patch.sport, isNewest(.sport, patch.at, &game) { game.sport = sport }
        games[patch.game] = game
    }

    private mutating func score(_ patch: ScorePatch, at now: WallTime) {
        var game = games[patch.game] ?? Game()
        defer {
            note(&game, at: now)
            games[patch.game] = game
        }
        if let version = patch.version {
            if let held = game.version, version <= held { return }
            game.version = version
        }
        if case .value(let detail) = patch.detail, isNewest(.detail, patch.at, &game) {
            game.innings = detail["innings"]?.wholeNumber ?? game.innings
        }
        switch patch.period {
        case .value(let period): if isNewest(.period, patch.at, &game) { game.period = period }
        case .null: if isNewest(.period, patch.at, &game) { game.period = nil }
        case .absent: break
        }
        var face = game.face
        if case .value(let phase) = patch.phase, isNewest(.phase, patch.at, &game) { face.phase = phase }
        if case .value(let home) = patch.home, isNewest(.home, patch.at, &game) { face.home = home }
        if case .value(let away) = patch.away, isNewest(.away, patch.at, &game) { face.away = away }
        if patch.version == nil, !patch.isCorrection, face.home < game.face.home || face.away < game.face.away {
            let isRepeated = game.doubtful.map { $0.home == face.home && $0.away == face.away } ?? false
            if !isRepeated {
                game.doubtful = face
                face.home = game.face.home
                face.away = game.face.away
                turn(&game, to: face, lineAt: patch.at, at: now)
                return
            }
        }
        game.doubtful = nil
        turn(&game, to: face, lineAt: patch.at, at: now)
    }

    private func isNewest(_ key: Game.Key, _ at: WallTime, _ game: inout Game) -> Bool {
        if let newest = game.newest[key], at < newest { return false }
        game.newest[key] = at
        return true
    }

    private func turn(_ game: inout Game, to face: Face, lineAt: WallTime, at now: WallTime) {
        guard face != game.face else { return }
        game.past.append((now, game.face))
        let horizon = now.advanced(bySeconds: -rememberSeconds)
        game.past.removeAll { $0.until < horizon }
        if face.phase != game.face.phase {
            game.overSince = face.phase == .final || face.phase == .postponed ? min(lineAt, now) : nil
        }
        game.face = face
    }

    /// S11, as things stand at that time if nothing has changed since.
    func isInWindow(_ id: GameID, at time: WallTime) -> Bool {
        guard let game = games[id], game.isAnnounced else { return false }
        switch game.face.phase {
        case .live, .break: return true
        case .pre:
            guard let startsAt = game.startsAt else { return false }
            return time >= startsAt.advanced(bySeconds: -window.beforeSeconds)
                && time < startsAt.advanced(bySeconds: window.stalePreSeconds)
        case .final:
            guard let since = game.overSince else { return false }
            return time < since.advanced(bySeconds: window.afterSeconds)
        case .postponed: return false
        }
    }

    /// Out of the window now and for that long already.
    func isOut(_ id: GameID, for seconds: Double, at now: WallTime) -> Bool {
        guard !isInWindow(id, at: now) else { return false }
        guard let game = games[id], game.isAnnounced else { return true }
        switch game.face.phase {
        case .live, .break: return false
        case .pre:
            // Too early is out, however it came to be shown.
            return !isInWindow(id, at: now.advanced(bySeconds: -seconds))
        case .final:
            guard let since = game.overSince else { return true }
            return now > since.advanced(bySeconds: window.afterSeconds + seconds)
        case .postponed:
            guard let since = game.overSince else { return true }
            return now > since.advanced(bySeconds: seconds)
        }
    }

    /// In the window now and for that long already.
    func isIn(_ id: GameID, for seconds: Double, at now: WallTime) -> Bool {
        guard isInWindow(id, at: now) else { return false }
        let before = now.advanced(bySeconds: -seconds)
        guard let game = games[id] else { return false }
        switch game.face.phase {
        case .live, .break:
            // It counts from going live, or from five minutes before its start, whichever was first.
            let cameEarly = game.startsAt.map { before >= $0.advanced(bySeconds: -window.beforeSeconds) } ?? false
            return cameEarly || !game.past.contains { $0.until > before && !$0.face.phase.isUnderWay }
        case .pre, .final, .postponed: return isInWindow(id, at: before)
        }
    }

    /// Whether the game looked like this at any time within the last seconds.
    func looked(
        like matches: (Face) -> Bool, _ id: GameID, within seconds: Double, at now: WallTime
    ) -> Bool {
        guard let game = games[id] else { return false }
        if matches(game.face) { return true }
        let horizon = now.advanced(bySeconds: -seconds)
        return game.past.contains { $0.until >= horizon && matches($0.face) }
    }

    /// Play beyond regulation (T9, P2), already then; of a sport that the judge does not know, never.
    func isBeyondRegulation(_ id: GameID, since time: WallTime) -> Bool {
        games[id]?.beyondSince.map { $0 <= time } ?? false
    }
}

extension JudgeSlate.Game {
    fileprivate var isBeyondRegulation: Bool {
        guard let period else { return false }
        return switch sport {
        case .basketball, .football: period > 4
        case .hockey: period > 3
        case .soccer: period > 2
        case .baseball: period > innings ?? 9
        case .other: false
        }
    }
}
