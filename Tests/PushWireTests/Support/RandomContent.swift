import CardRules

private let texts = [
    "", "Boston", "São Paulo", "Škoda Plzeň", "東京", "🏀🔥", "👨‍👩‍👧", "a\"b\\c/d", "\u{0}\u{1}\u{8}\u{c}\u{1f}\n\r\t",
    "\u{7f}\u{2028}",
    "e\u{301}", "{home}",
]

extension Seeded {
    mutating func text() -> String {
        texts.randomElement(using: &self).unsafelyUnwrapped + (chance(30) ? "\(next())" : "")
    }

    mutating func id() -> GameID { GameID(unchecked: "g.\(next() % 100_000):x-_") }

    mutating func json(depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0..<(depth > 3 ? 5 : 7), using: &self) {
        case 0: .bool(chance(50))
        case 1:
            .integer(
                [0, -1, .max, .min, 1 << 53, Int64(truncatingIfNeeded: next())].randomElement(using: &self)
                    .unsafelyUnwrapped)
        case 2:
            .number(
                [
                    0.1, -1.5, 1e300, .leastNonzeroMagnitude, 1.7976931348623157e308,
                    Double.random(in: -1e6...1e6, using: &self),
                ]
                .randomElement(using: &self).unsafelyUnwrapped)
        case 3: .null
        case 4: .string(text())
        case 5: .array((0..<Int.random(in: 0..<4, using: &self)).map { _ in json(depth: depth + 1) })
        default:
            .object(
                Dictionary(
                    (0..<Int.random(in: 0..<4, using: &self)).map { _ in (text(), json(depth: depth + 1)) },
                    uniquingKeysWith: { $1 }))
        }
    }

    mutating func content() -> SlateContent {
        let games = (0..<Int.random(in: 1...6, using: &self)).map { _ in
            SlateContent.Game(
                id: id(), sport: text(), league: chance(50) ? text() : nil, home: text(), away: text(),
                phase: Phase.allCases.randomElement(using: &self).unsafelyUnwrapped,
                period: chance(50) ? Int(truncatingIfNeeded: next()) : nil,
                clock: chance(50) ? text() : nil, homeScore: chance(50) ? Int.random(in: -1...200, using: &self) : nil,
                awayScore: chance(50) ? .max : nil, detail: chance(60) ? json().canonical : nil,
                moment: chance(30) ? MomentKind.allCases.randomElement(using: &self) : nil)
        }
        return SlateContent(
            games: games, front: games[0].id, spoilerFree: chance(50), asOf: Int64(truncatingIfNeeded: next()))
    }
}
