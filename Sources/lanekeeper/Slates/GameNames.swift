import CardRules

/// The games of a slate by the names that people know.
struct GameNames: Sendable {
    private let names: [GameID: String]

    init(_ lines: [SlateLine]) {
        var sides: [GameID: (home: String, away: String)] = [:]
        for case .game(let patch) in lines {
            if case .value(let home) = patch.home { sides[patch.game, default: ("", "")].home = home }
            if case .value(let away) = patch.away { sides[patch.game, default: ("", "")].away = away }
        }
        let plain = sides.mapValues { tamed("\($0.away) at \($0.home)") }
        let uses = Dictionary(plain.values.map { ($0, 1) }, uniquingKeysWith: +)
        // Twice the same sides in one evening: a double-header.
        names = Dictionary(
            uniqueKeysWithValues: plain.map { game, name in (game, uses[name] == 1 ? name : "\(name) (\(game))") })
    }

    /// `away at home`, with the id where two games have the same sides; the id of a game never announced.
    subscript(game: GameID) -> String { names[game] ?? game.text }
}
