import CardRules

/// Tonight's thirty games, all under way, as lines that a feed would send. Game 0 is the most followed.
struct MadeUpSlate: Sendable {
    static let evening = WallTime(seconds: Int64(1_768_075_200))
    static let count = 30

    let ids: [GameID]
    private var scores = [(home: Int, away: Int)](repeating: (40, 41), count: MadeUpSlate.count)
    private var steps = 0
    private var overtime: Set<Int> = []

    /// - Parameter longNames: ids of 22 bytes, as many feeds have; else of 14, which Swift keeps without a piece of memory
    ///   of its own.
    init(longNames: Bool = true) {
        ids = (0..<MadeUpSlate.count).map { number in
            let two = number < 10 ? "0\(number)" : "\(number)"
            return GameID(unchecked: longNames ? "nba-2026-01-10-h\(two)-a\(two)" : "nba-00215006\(two)")
        }
    }

    /// All games announced and under way.
    func opening() -> [SlateLine] {
        let at = MadeUpSlate.evening.advanced(bySeconds: -3600)
        return ids.indices.flatMap { game -> [SlateLine] in
            var patch = GamePatch(game: ids[game], at: at)
            patch.sport = .value(.basketball)
            patch.league = .value("NBA")
            patch.home = .value("Hometown \(game)")
            patch.away = .value("Visitors \(game)")
            patch.startsAt = .value(at)
            patch.homeRank = .value(game + 1)
            patch.awayRank = .value(MadeUpSlate.count - game)
            return [.game(patch), score(of: game, at: at)]
        }
    }

    /// A basket and a later clock in each of these.
    mutating func play(_ games: some Sequence<Int>, at now: WallTime) -> [SlateLine] {
        steps += 1
        return games.map { game in
            // By turns, so that nobody comes back from far behind.
            if scores[game].home <= scores[game].away { scores[game].home += 2 } else { scores[game].away += 2 }
            overtime.remove(game)
            return score(of: game, at: now)
        }
    }

    /// A moment begins (T9): overtime, until the game is next played on.
    mutating func beginOvertime(in game: Int, at now: WallTime) -> [SlateLine] {
        steps += 1
        overtime.insert(game)
        return [score(of: game, at: now)]
    }

    private func score(of game: Int, at now: WallTime) -> SlateLine {
        var patch = ScorePatch(game: ids[game], at: now)
        patch.home = .value(scores[game].home)
        patch.away = .value(scores[game].away)
        patch.period = .value(overtime.contains(game) ? 5 : 3)
        let left = 600 - steps % 500
        patch.clock = .value("\(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60)")
        patch.phase = .value(.live)
        return .score(patch)
    }
}
