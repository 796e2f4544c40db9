public import CardRules

/// A made-up evening of basketball and hockey as slate lines: what a live feed would send, from a seed.
///
/// Half of the games are basketball, half hockey. They start in slots of half an hour, are all announced 30 minutes before
/// the first one, and the evening lasts about five hours. Three of every twelve go beyond regulation by script: one in
/// basketball, one in hockey, one in hockey to a shootout; others may by chance. The same values give the same lines.
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
            let sport: Sport = number.isMultiple(of: 2) ? .basketball : .hockey
            let home = draw(&teams[sport, default: []], &random)
            let away = draw(&teams[sport, default: []], &random)
            let rank = (Int.random(in: 1...30, using: &random), Int.random(in: 1...30, using: &random))
            // Slots 0...4, spread evenly; the first game is always in the first.
            let slot = count > 1 ? number * 5 / count : 0
            let sheet = ScoreSheet(
                id: GameID(unchecked: "\(idPrefix)-\(sport == .basketball ? "nba" : "nhl")-\(number + 1)"),
                announcedAt: announcedAt, startsAt: WallTime(seconds: first + Int64(slot) * 1800))
            announcements.append(announcement(sheet, sport, home, away, rank))
            // Places in the table, as an edge of the home side within ±1, the crowd included.
            let edge = Double(rank.1 - rank.0) / 30 + 0.08
            var own = random.split()
            switch sport {
            case .hockey:
                var game = HockeyGame(sheet: sheet, edge: edge, script: hockeyScript(number))
                play += game.play(&own)
            default:
                var game = BasketballGame(sheet: sheet, edge: edge, goesToOvertime: number % 12 == 4)
                play += game.play(&own)
            }
        }
        // A sort by time that keeps the order of equal times.
        let sorted = play.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        return announcements + sorted.map(\.element)
    }

    private func hockeyScript(_ number: Int) -> HockeyGame.Script {
        switch number % 12 {
        case 3: .shootout
        case 7: .overtime
        default: .free
        }
    }

    private func announcement(
        _ sheet: ScoreSheet, _ sport: Sport, _ home: String, _ away: String, _ rank: (Int, Int)
    ) -> SlateLine {
        var patch = GamePatch(game: sheet.id, at: announcedAt)
        patch.sport = .value(sport)
        patch.league = .value(sport == .basketball ? "NBA" : "NHL")
        patch.home = .value(home)
        patch.away = .value(away)
        patch.startsAt = .value(sheet.startsAt)
        patch.homeRank = .value(rank.0)
        patch.awayRank = .value(rank.1)
        let difference = rank.0 - rank.1
        if abs(difference) >= 5 { patch.favourite = .value(difference < 0 ? .home : .away) }
        if sport == .basketball { patch.spread = .value(Double(difference) / 2 - 1.5) }
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
