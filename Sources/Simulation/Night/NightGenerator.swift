public import CardRules

/// A made-up evening of five sports as slate lines: what a live feed would send, from a seed.
///
/// Of every twelve games three are basketball, three hockey, two each football, baseball and soccer. They start in slots
/// of half an hour, are all announced 30 minutes before the first one, and the evening lasts about five hours. By script
/// one in basketball and one in hockey go to overtime, one in hockey and one in soccer to a shootout, and one in baseball
/// ends on a walk-off; others may by chance. A football or soccer game may end level. The same values give the same
/// lines.
public struct NightGenerator: Hashable, Sendable {
    public var seed: UInt64
    /// When all games are announced; the first starts half an hour later.
    public var announcedAt: WallTime
    /// 0...200; more are cut down to that.
    public var games: Int
    /// Stands before every game id.
    public var idPrefix: String

    public init(seed: UInt64, announcedAt: WallTime, games: Int = 12, idPrefix: String = "night") {
        self.seed = seed
        self.announcedAt = announcedAt
        self.games = games
        self.idPrefix = idPrefix
    }

    /// In order of time; lines of one second keep the order in which they happened. Each game: an announcement, a whole
    /// `pre` line, patches, and one `final` line, its last.
    public func lines() -> [SlateLine] {
        var random = SeededGenerator(seed: seed)
        let count = max(0, min(games, 200))
        let first = announcedAt.unixSeconds + 1800
        var teams: [Sport: [String]] = [:]
        var announcements: [SlateLine] = []
        var play: [SlateLine] = []
        for number in 0..<count {
            let kind = NightGenerator.kinds[number % NightGenerator.kinds.count]
            let sport = kind.sport
            let home = draw(&teams[sport, default: []], &random)
            let away = draw(&teams[sport, default: []], &random)
            let rank = (Int.random(in: 1...30, using: &random), Int.random(in: 1...30, using: &random))
            // Slots 0...4, spread evenly; the first game is always in the first.
            let slot = count > 1 ? number * 5 / count : 0
            let sheet = ScoreSheet(
                id: GameID(unchecked: "\(idPrefix)-\(NightGenerator.league(of: sport).lowercased())-\(number + 1)"),
                announcedAt: announcedAt, startsAt: WallTime(seconds: first + Int64(slot) * 1800))
            announcements.append(announcement(sheet, sport, home, away, rank))
            // Places in the table, as an edge of the home side within ±1, the crowd included.
            let edge = Double(rank.1 - rank.0) / 30 + 0.08
            var own = random.split()
            switch kind {
            case .hockey(let script):
                var game = HockeyGame(sheet: sheet, edge: edge, script: script)
                play += game.play(&own)
            case .basketball(let goesToOvertime):
                var game = BasketballGame(sheet: sheet, edge: edge, goesToOvertime: goesToOvertime)
                play += game.play(&own)
            case .football:
                var game = FootballGame(sheet: sheet, edge: edge)
                play += game.play(&own)
            case .baseball(let innings, let endsOnWalkOff):
                var game = BaseballGame(sheet: sheet, edge: edge, innings: innings, endsOnWalkOff: endsOnWalkOff)
                play += game.play(&own)
            case .soccer(let goesToShootout):
                var game = SoccerGame(sheet: sheet, edge: edge, goesToShootout: goesToShootout)
                play += game.play(&own)
            }
        }
        // A sort by time that keeps the order of equal times.
        let sorted = play.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        return announcements + sorted.map(\.element)
    }

    /// What a game is, with its script.
    private enum Kind {
        case basketball(goesToOvertime: Bool)
        case hockey(HockeyGame.Script)
        case football
        case baseball(innings: Int, endsOnWalkOff: Bool)
        case soccer(goesToShootout: Bool)

        var sport: Sport {
            switch self {
            case .basketball: .basketball
            case .hockey: .hockey
            case .football: .football
            case .baseball: .baseball
            case .soccer: .soccer
            }
        }
    }

    /// One dozen.
    private static let kinds: [Kind] = [
        .basketball(goesToOvertime: false), .hockey(.free), .football, .hockey(.shootout),
        .basketball(goesToOvertime: true), .baseball(innings: 9, endsOnWalkOff: true), .soccer(goesToShootout: false),
        .hockey(.overtime), .football, .baseball(innings: 7, endsOnWalkOff: false), .soccer(goesToShootout: true),
        .basketball(goesToOvertime: false),
    ]

    private static func league(of sport: Sport) -> String {
        switch sport {
        case .basketball: "NBA"
        case .hockey: "NHL"
        case .football: "NFL"
        case .baseball: "MLB"
        case .soccer, .other: "SOC"
        }
    }

    private func announcement(
        _ sheet: ScoreSheet, _ sport: Sport, _ home: String, _ away: String, _ rank: (Int, Int)
    ) -> SlateLine {
        var patch = GamePatch(game: sheet.id, at: announcedAt)
        patch.sport = .value(sport)
        patch.league = .value(NightGenerator.league(of: sport))
        patch.home = .value(home)
        patch.away = .value(away)
        patch.startsAt = .value(sheet.startsAt)
        patch.homeRank = .value(rank.0)
        patch.awayRank = .value(rank.1)
        let difference = rank.0 - rank.1
        if abs(difference) >= 5 { patch.favourite = .value(difference < 0 ? .home : .away) }
        if sport == .basketball || sport == .football { patch.spread = .value(Double(difference) / 2 - 1.5) }
        return .game(patch)
    }

    /// A team that does not play yet tonight, as long as there is one.
    private func draw(_ teams: inout [String], _ random: inout SeededGenerator) -> String {
        if teams.isEmpty { teams = NightGenerator.cities.shuffled(using: &random) }
        return teams.removeLast()
    }

    private static let cities = [
        "Anaheim", "Atlanta", "Boston", "Brooklyn", "Buffalo", "Calgary", "Charlotte", "Chicago", "Cleveland",
        "Columbus",
        "Dallas", "Denver", "Detroit", "Edmonton", "Houston", "Indianapolis", "Memphis", "Miami", "Milwaukee",
        "Minneapolis", "Montreal", "Nashville", "New Orleans", "Oakland", "Orlando", "Ottawa", "Philadelphia",
        "Phoenix",
        "Portland", "Sacramento", "Salt Lake City", "San Antonio", "San Jose", "Seattle", "St. Louis", "Tampa",
        "Toronto", "Vancouver", "Washington", "Winnipeg",
    ]
}
