public import CardRules

/// What a fleet must know of the night so that tastes and selections make sense: which games there are and when.
public struct FleetNight: Hashable, Sendable {
    /// By start, then by id.
    public let games: [Game]
    /// When the simulation begins: no phone acts before.
    public let begins: WallTime

    public struct Game: Hashable, Sendable {
        public let id: GameID
        public let sport: String
        public let league: String?
        public let home: String
        public let away: String
        public let startsAt: WallTime

        public init(id: GameID, sport: String, league: String?, home: String, away: String, startsAt: WallTime) {
            self.id = id
            self.sport = sport
            self.league = league
            self.home = home
            self.away = away
            self.startsAt = startsAt
        }
    }

    /// - Parameter begins: `nil`: half an hour before the first game.
    public init(games: [Game], begins: WallTime? = nil) {
        self.games = games.sorted { ($0.startsAt, $0.id) < ($1.startsAt, $1.id) }
        self.begins =
            begins ?? self.games.first?.startsAt.advanced(bySeconds: -1800) ?? WallTime(milliseconds: 0)
    }

    /// From the announcements of a slate; a game without teams or a start is left out.
    public init(lines: some Sequence<SlateLine>, begins: WallTime? = nil) {
        var games: [GameID: Game] = [:]
        for case .game(let patch) in lines {
            guard case .value(let home) = patch.home, case .value(let away) = patch.away,
                case .value(let startsAt) = patch.startsAt
            else { continue }
            let sport = if case .value(let sport) = patch.sport { sport.name } else { "other" }
            let league: String? = if case .value(let league) = patch.league { league } else { nil }
            games[patch.game] = Game(
                id: patch.game, sport: sport, league: league, home: home, away: away, startsAt: startsAt)
        }
        self.init(games: Array(games.values), begins: begins)
    }

    public var firstStart: WallTime { games.first?.startsAt ?? begins }
    public var lastStart: WallTime { games.last?.startsAt ?? begins }
}
