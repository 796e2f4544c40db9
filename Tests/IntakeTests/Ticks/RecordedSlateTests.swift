import CardRules
import Foundation
import Intake
import Testing

@Suite(.enabled(if: SlateFiles.arePresent, Comment(rawValue: SlateFiles.comment)))
struct RecordedSlateTests {
    static let modelled = [
        "nba-2015-12-23.rows.ndjson", "nba-2016-01-18.patch.ndjson", "nhl-2013-01-24.patch.ndjson",
        "nhl-2013-01-29.patch.ndjson", "nhl-2013-01-29.rows.ndjson",
    ]
    static let all =
        modelled + [
            "busy-night.patch.ndjson", "mlb-2020-08-22.rows.ndjson", "mlb-2020-09-25.patch.ndjson",
            "nfl-2012-09-23.rows.ndjson", "nfl-2013-11-24.patch.ndjson", "soccer-2018-03-17.rows.ndjson",
            "soccer-2018-06-25.patch.ndjson", "soccer-2018-07-01.rows.ndjson",
        ]

    private struct Recorded: Decodable {
        struct Game: Decodable {
            var final: [Int]
            var overtime: Int?
            var shootout: Bool?
            var comeback: Int?
            var upset: Bool?
            var close: Bool?
        }
        var games: Int
        var lines: Int
        var moments: [String: Game]
    }

    private func recorded(_ name: String) throws -> Recorded {
        let data = Data(try SlateFiles.bytes("moments.json"))
        return try #require(JSONDecoder().decode([String: Recorded].self, from: data)[name])
    }

    @Test(arguments: all)
    func `slates: every recorded line is read, every final comes out`(name: String) throws {
        let recorded = try recorded(name)
        let text = try SlateFiles.text(name)
        #expect(text.rejected.isEmpty)
        #expect(text.lines.count == recorded.lines)
        var slate = Slate(tuning: Tuning())
        for numbered in text.lines {
            let change = slate.apply(numbered.line, at: numbered.line.at)
            if case .refused = change { Issue.record("line \(numbered.number): \(change)") }
            if case .ignored = change { Issue.record("line \(numbered.number): \(change)") }
            if case .awaitsRepeat = change { Issue.record("line \(numbered.number): \(change)") }
        }
        #expect(slate.count == recorded.games)
        for (id, expected) in recorded.moments {
            let game = try #require(slate.game(GameID(unchecked: id)))
            #expect([game.homeScore, game.awayScore] == expected.final)
            #expect(game.phase == .final)
        }
    }

    @Test(arguments: modelled)
    func `T9: the moments of an evening are those on record`(name: String) throws {
        var slate = Slate(tuning: Tuning())
        var seen: [String: Set<MomentKind>] = [:]
        for line in try SlateFiles.lines(name) {
            _ = slate.apply(line, at: line.at)
            guard let game = slate.snapshot(at: line.at).game(line.game) else { continue }
            seen[game.id.text, default: []].formUnion(game.moments)
            if game.phase == .final { #expect(game.moments.isEmpty) }
        }
        let recorded = try recorded(name).moments
        func ids(_ kind: MomentKind) -> Set<String> { Set(seen.filter { $0.value.contains(kind) }.keys) }
        #expect(ids(.overtime) == Set(recorded.filter { $0.value.overtime != nil }.keys))
        #expect(ids(.shootout) == Set(recorded.filter { $0.value.shootout == true }.keys))
        // The record counts only comebacks and upsets that held; while they last nobody knows.
        #expect(ids(.comeback).isSuperset(of: recorded.filter { $0.value.comeback != nil }.keys))
        #expect(ids(.upset).isSuperset(of: recorded.filter { $0.value.upset == true }.keys))
        #expect(ids(.closeFinish).isSuperset(of: recorded.filter { $0.value.close == true }.keys))
    }

    @Test(arguments: modelled)
    func `T10: worth is within 0...100, high when level late, low when out of reach`(name: String) throws {
        var slate = Slate(tuning: Tuning())
        for line in try SlateFiles.lines(name) {
            _ = slate.apply(line, at: line.at)
            let game = try #require(slate.snapshot(at: line.at).game(line.game))
            #expect((0...100).contains(game.worth))
            let isLast = (game.period ?? 0) >= (game.sport == .hockey ? 3 : 4)
            let left = game.clock.flatMap { clockSeconds($0) } ?? .infinity
            let lead = abs(game.homeScore - game.awayScore)
            guard game.phase.isUnderWay, isLast, left <= 300 else { continue }
            if lead == 0 { #expect(game.worth >= 80) }
            if lead >= (game.sport == .hockey ? 3 : 12) { #expect(game.worth <= 25) }
        }
    }

    @Test func `C5: patches and rows of one evening give the same decisions second by second`() throws {
        /// What is decided of every game at the end of every second.
        func decisions(_ name: String) throws -> [WallTime: [GameID: RankedGame]] {
            var slate = Slate(tuning: Tuning())
            var decisions: [WallTime: [GameID: RankedGame]] = [:]
            for line in try SlateFiles.lines(name) {
                _ = slate.apply(line, at: line.at)
                let games = slate.snapshot(at: line.at).games.map { game in
                    var game = game
                    game.changeVersion = 0  // counts snapshots, and patches leave lines out
                    return (game.id, game)
                }
                decisions[line.at] = Dictionary(games, uniquingKeysWith: { first, _ in first })
            }
            return decisions
        }
        let patches = try decisions("nhl-2013-01-29.patch.ndjson")
        let rows = try decisions("nhl-2013-01-29.rows.ndjson")
        #expect(patches.count > 2000)
        for (second, games) in patches { #expect(rows[second] == games, "at \(second.unixSeconds)") }
    }

    /// Publishing only at lines and at `nextChange` shows the same as publishing every second.
    @Test func `S11, T1: the slate says when to look again`() throws {
        let lines = try SlateFiles.lines("nhl-2013-01-29.patch.ndjson")
        var busy = Slate(tuning: Tuning())
        var lazy = Slate(tuning: Tuning())
        var shown: [RankedGame] = []
        var next = 0
        let first = try #require(lines.first).at.unixSeconds
        let last = try #require(lines.last).at.unixSeconds + 700
        for second in first...last {
            let now = WallTime(seconds: second)
            var mustLook = lazy.nextChange.map { $0 <= now } ?? false
            while next < lines.count, lines[next].at <= now {
                _ = busy.apply(lines[next], at: now)
                _ = lazy.apply(lines[next], at: now)
                next += 1
                mustLook = true
            }
            if mustLook { shown = lazy.snapshot(at: now).games }
            let all = busy.snapshot(at: now).games
            let isSame = zip(all, shown).allSatisfy { busy, lazy in
                busy.isInWindow == lazy.isInWindow && busy.lift == lazy.lift && busy.worth == lazy.worth
                    && busy.moments == lazy.moments
            }
            #expect(isSame && all.count == shown.count, "at \(second)")
        }
    }
}
