/// A field of a patch: left out, cleared by null, or given (C5). Absent and null differ.
public enum Patched<Value: Hashable & Sendable>: Hashable, Sendable {
    case absent
    case null
    case value(Value)
}

/// One line of the slate format: a patch over what is held of one game.
public enum SlateLine: Hashable, Sendable {
    /// `"type":"game"`: announces or corrects a game.
    case game(GamePatch)
    /// `"type":"score"`: changes its state.
    case score(ScorePatch)

    public var game: GameID {
        switch self {
        case .game(let patch): patch.game
        case .score(let patch): patch.game
        }
    }

    /// When the feed saw it.
    public var at: WallTime {
        switch self {
        case .game(let patch): patch.at
        case .score(let patch): patch.at
        }
    }
}

/// What a game is: announced once, corrected seldom.
public struct GamePatch: Hashable, Sendable {
    public var game: GameID
    public var at: WallTime
    public var sport: Patched<Sport> = .absent
    public var league: Patched<String> = .absent
    public var home: Patched<String> = .absent
    public var away: Patched<String> = .absent
    public var startsAt: Patched<WallTime> = .absent
    /// Places in the league table before the day, 1 is best.
    public var homeRank: Patched<Int> = .absent
    public var awayRank: Patched<Int> = .absent
    /// Points added to the home side: negative means that home is favoured.
    public var spread: Patched<Double> = .absent
    public var favourite: Patched<Side> = .absent
    /// Rises per game, together with those of its score lines; a line whose version is not above the one held is ignored.
    public var version: Int64?
    /// Keys that this version does not know, kept and passed on.
    public var others: [String: JSONValue] = [:]

    public init(game: GameID, at: WallTime) {
        self.game = game
        self.at = at
    }
}

/// How a game stands.
public struct ScorePatch: Hashable, Sendable {
    public var game: GameID
    public var at: WallTime
    public var home: Patched<Int> = .absent
    public var away: Patched<Int> = .absent
    public var period: Patched<Int> = .absent
    public var clock: Patched<String> = .absent
    public var phase: Patched<Phase> = .absent
    /// Replaces the whole detail.
    public var detail: Patched<JSONValue> = .absent
    /// Rises per game; a line whose version is not above the one held is ignored.
    public var version: Int64?
    /// A score that falls counts at once.
    public var isCorrection = false
    public var others: [String: JSONValue] = [:]

    public init(game: GameID, at: WallTime) {
        self.game = game
        self.at = at
    }
}
