import CardRules

/// What a tick brings. They follow one another in this order, again and again.
enum TickScenario: String, CaseIterable, Sendable {
    case nothing = "nothing new"
    case oneGame = "one game"
    case moment = "a moment"
    case allGames = "all games"

    /// In names of figures.
    var key: String {
        switch self {
        case .nothing: "nothing"
        case .oneGame: "one-game"
        case .moment: "moment"
        case .allGames: "all-games"
        }
    }

    /// Whose followers it concerns.
    var games: [Int] {
        switch self {
        case .nothing: []
        case .oneGame: [MadeUpSlate.count / 2]
        case .moment: [0]
        case .allGames: Array(0..<MadeUpSlate.count)
        }
    }

    func lines(of slate: inout MadeUpSlate, at now: WallTime) -> [SlateLine] {
        switch self {
        case .nothing: []
        case .oneGame, .allGames: slate.play(games, at: now)
        case .moment: slate.beginOvertime(in: 0, at: now)
        }
    }
}
