import CardRules
import Simulation
import Testing

@Suite struct NightGeneratorTests {
    private static let announcedAt = WallTime(seconds: Int64(1_796_000_000))

    private func lines(seed: UInt64, games: Int = 12) -> [SlateLine] {
        NightGenerator(seed: seed, announcedAt: NightGeneratorTests.announcedAt, games: games).lines()
    }

    @Test func `night: the same seed gives the same lines, another one others`() {
        #expect(lines(seed: 7) == lines(seed: 7))
        #expect(lines(seed: 7) != lines(seed: 8))
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `night: lines are in order, merge without a fault, and last about five hours`(seed: UInt64) throws {
        let lines = lines(seed: seed)
        var slate = Slate(tuning: Tuning())
        var last = WallTime.distantPast
        var lastOf: [GameID: WallTime] = [:]
        var counts: [GameID: Int] = [:]
        for line in lines {
            #expect(line.at >= last, "seed \(seed)")
            last = line.at
            lastOf[line.game] = line.at
            counts[line.game, default: 0] += 1
            let change = slate.apply(line, at: line.at)
            #expect(change == .announced || change == .applied, "seed \(seed): \(line)")
        }
        let hours = last.seconds(since: NightGeneratorTests.announcedAt) / 3600
        #expect((4.3...5.8).contains(hours), "seed \(seed): \(hours) h")
        #expect(slate.count == 12)
        #expect(Set(counts.keys.compactMap { slate.game($0)?.sport }).count == 5)
        for (id, count) in counts {
            let game = try #require(slate.game(id))
            #expect(game.phase == .final, "seed \(seed): \(id)")
            #expect(game.lead != 0 || [.football, .soccer].contains(game.sport), "seed \(seed): \(id)")
            #expect(game.finalSince == lastOf[id], "seed \(seed): the final is the last line")
            let (lines, score) = try #require(Self.usual[game.sport])
            #expect(lines.contains(count), "seed \(seed): \(id) has \(count) lines")
            let points = (game.homeScore ?? 0) + (game.awayScore ?? 0)
            #expect(score.contains(points), "seed \(seed): \(id) \(points)")
        }
    }

    /// Lines of a game, and points or goals of both sides.
    private static let usual: [Sport: (ClosedRange<Int>, ClosedRange<Int>)] = [
        .basketball: (200...750, 140...330), .hockey: (200...750, 0...16), .football: (100...300, 0...110),
        .baseball: (55...250, 0...45), .soccer: (110...300, 0...12),
    ]

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `night: overtimes, shootouts and a walk-off come as the script says, and scores never fall`(seed: UInt64) {
        var slate = Slate(tuning: Tuning())
        var seen: [MomentKind: Set<GameID>] = [:]
        for line in lines(seed: seed) {
            let before = slate.game(line.game)
            _ = slate.apply(line, at: line.at)
            guard let game = slate.snapshot(at: line.at).game(line.game) else { continue }
            for kind in game.moments { seen[kind, default: []].insert(game.id) }
            #expect(
                game.homeScore >= before?.homeScore ?? 0 && game.awayScore >= before?.awayScore ?? 0, "seed \(seed)")
        }
        #expect(seen[.overtime, default: []].count >= 3, "seed \(seed)")
        #expect(seen[.shootout, default: []].contains(GameID(unchecked: "night-nhl-4")), "seed \(seed)")
        #expect(seen[.overtime, default: []].contains(GameID(unchecked: "night-nba-5")), "seed \(seed)")
        #expect(seen[.shootout, default: []].contains(GameID(unchecked: "night-soc-11")), "seed \(seed)")
        #expect(seen[.walkOffChance, default: []].contains(GameID(unchecked: "night-mlb-6")), "seed \(seed)")
        #expect(slate.game(GameID(unchecked: "night-mlb-6"))?.leader == .home, "seed \(seed)")
        #expect(!seen[.closeFinish, default: []].isEmpty, "seed \(seed)")
    }

    @Test(arguments: [0, 1, 3, 60, 1000])
    func `night: any number of games up to the bound`(games: Int) {
        let ids = Set(lines(seed: 1, games: games).map(\.game))
        #expect(ids.count == min(games, 200))
    }
}
