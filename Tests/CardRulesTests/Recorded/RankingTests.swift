import Testing

@testable import CardRules

/// How well worth tells what is coming. Prints the table of the article "How worth is calibrated".
@Suite(.enabled(if: SlateFiles.arePresent, Comment(rawValue: SlateFiles.comment)))
struct RankingTests {
    /// One game at one instant: what it was worth, and how good its next twenty minutes turned out.
    private struct Sample {
        let game: GameID
        let label: String
        let worth: Double
        let drama: Double
    }

    /// Every five minutes, the games under way.
    private func samples(_ night: RecordedNight) -> [[Sample]] {
        stride(from: night.from + 300, to: night.to, by: 300).map { time in
            // What is over but for the final line has nothing to come.
            night.underWay(at: time).filter { $0.game.ended >= time + 60 }.map { game, point in
                Sample(game: game.id, label: point.label, worth: point.worth, drama: game.dramaToCome(at: time))
            }
        }
    }

    /// Slate, least correlation over all samples, least mean correlation within one instant (`nil`: never four games at
    /// once). A little (0.04 to 0.05) below what is measured; lower only with a reason.
    private static let floors: [(String, Double, Double?)] = [
        ("busy-night.patch.ndjson", 0.78, 0.68), ("mlb-2020-08-22.rows.ndjson", 0.81, 0.78),
        ("mlb-2020-09-25.patch.ndjson", 0.79, 0.72), ("nba-2015-12-23.rows.ndjson", 0.67, 0.58),
        ("nba-2016-01-18.patch.ndjson", 0.73, 0.47), ("nfl-2012-09-23.rows.ndjson", 0.65, 0.53),
        ("nfl-2013-11-24.patch.ndjson", 0.77, 0.64), ("nhl-2013-01-24.patch.ndjson", 0.77, 0.69),
        ("nhl-2013-01-29.patch.ndjson", 0.8, 0.56), ("nhl-2013-01-29.rows.ndjson", 0.8, 0.56),
        ("soccer-2018-03-17.rows.ndjson", 0.63, 0.51), ("soccer-2018-06-25.patch.ndjson", 0.69, nil),
        ("soccer-2018-07-01.rows.ndjson", 0.92, nil),
    ]

    @Test(arguments: floors)
    func `T10: the order by worth follows what the next twenty minutes bring`(
        name: String, floor: Double, floorAtOnce: Double?
    ) throws {
        let instants = samples(try RecordedNight(name))
        let all = instants.flatMap { $0 }
        let pooled = try #require(rankCorrelation(all.map(\.worth), all.map(\.drama)))
        let atOnce = instants.filter { $0.count >= 4 }
            .compactMap { rankCorrelation($0.map(\.worth), $0.map(\.drama)) }
        let mean = atOnce.isEmpty ? nil : atOnce.reduce(0, +) / Double(atOnce.count)
        let row = [
            name, "\(all.count)", hundredths(pooled), "\(atOnce.count)", mean.map(hundredths) ?? "-",
        ]
        print("| \(row.joined(separator: " | ")) |")
        for miss in worstMisses(instants).prefix(3) { print("    \(miss)") }
        #expect(pooled >= floor)
        if let floorAtOnce { #expect(try #require(mean) >= floorAtOnce) } else { #expect(mean == nil) }
    }

    /// The games whose place by worth was farthest from the one they turned out to deserve, each once.
    private func worstMisses(_ instants: [[Sample]]) -> [String] {
        var worst: [GameID: (off: Double, text: String)] = [:]
        for samples in instants where samples.count >= 4 {
            let (by, deserved) = (ranks(samples.map(\.worth)), ranks(samples.map(\.drama)))
            for (place, sample) in samples.enumerated() {
                let off = (by[place] - deserved[place]) / Double(samples.count - 1)
                guard abs(off) > abs(worst[sample.game]?.off ?? 0) else { continue }
                let least = Double(samples.count + 1)
                worst[sample.game] = (
                    off,
                    "\(sample.game) \(sample.label): worth \(hundredths(sample.worth)), place \(least - by[place])"
                        + " of \(samples.count), deserved \(least - deserved[place])"
                )
            }
        }
        return worst.values.sorted { abs($0.off) > abs($1.off) }.map(\.text)
    }

    private func hundredths(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }

    @Test(arguments: SlateFiles.names)
    func `T10: overtimes, shootouts, walk-off chances and late lead changes rank above the decided while they last`(
        name: String
    ) throws {
        let night = try RecordedNight(name)
        var pairs = 0
        var dramatic: Set<GameID> = []
        for time in stride(from: night.from, to: night.to, by: 30) {
            let games = night.underWay(at: time)
            let open = games.filter { $0.game.isDramatic(at: time) }
            dramatic.formUnion(open.map(\.game.id))
            for over in games where over.game.sharePlayed(at: time) >= 0.5 && over.game.isDecided(at: time) {
                for great in open {
                    pairs += 1
                    #expect(
                        great.point.worth > over.point.worth,
                        "\(great.game.id) \(great.point.label), \(over.game.id) \(over.point.label)")
                }
            }
        }
        print("\(name): \(dramatic.count) games, \(pairs) comparisons")
        #expect(!dramatic.isEmpty)
    }
}
