import Intake
import Testing

@testable import CardRules

@Suite(.enabled(if: SlateFiles.arePresent, Comment(rawValue: SlateFiles.comment)))
struct RecordedSlateTests {
    @Test(arguments: SlateFiles.names)
    func `slates: every recorded line is read, every final comes out`(name: String) throws {
        let recorded = try SlateFiles.recorded(name)
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

    /// What one evening's moments came to, game by game.
    private struct Seen {
        var kinds: Set<MomentKind> = []
        /// Those on when the game ended.
        var atTheEnd: MomentSet = []
        var overtimes: Set<Int> = []
        var walkOffLines = 0
        /// Home went ahead out of a walk-off chance, and that was the end.
        var endedOnWalkOff = false
        var game: GameState?
    }

    private func watch(_ name: String) throws -> [String: Seen] {
        let tuning = Tuning()
        var slate = Slate(tuning: tuning)
        var seen: [String: Seen] = [:]
        for line in try SlateFiles.lines(name) {
            _ = slate.apply(line, at: line.at)
            guard let game = slate.game(line.game) else { continue }
            let on = moments(of: game, tuning: tuning)
            let kinds = on.kinds(by: tuning.takeover.boosts)
            var own = seen[game.id.text] ?? Seen()
            if game.phase == .final {
                #expect(kinds.isEmpty)
                own.endedOnWalkOff = own.endedOnWalkOff && game.leader == .home
            } else {
                own.endedOnWalkOff = own.atTheEnd.contains(MomentSet(.walkOffChance)) && game.leader == .home
                own.atTheEnd = on
                own.kinds.formUnion(kinds)
                if kinds.contains(.walkOffChance) { own.walkOffLines += 1 }
                if kinds.contains(.overtime), !kinds.contains(.shootout) { own.overtimes.insert(game.period ?? 0) }
                #expect(kinds.contains(.overtime) == (game.phase?.isUnderWay == true && isBeyond(game, tuning)))
            }
            own.game = game
            seen[game.id.text] = own
        }
        return seen
    }

    private func isBeyond(_ game: GameState, _ tuning: Tuning) -> Bool {
        isBeyondRegulation(game, tuning: tuning.moments)
    }

    @Test(arguments: SlateFiles.names)
    func `T9: overtimes, shootouts, walk-off chances and walk-offs of an evening are those on record, counts too`(
        name: String
    ) throws {
        let recorded = try SlateFiles.recorded(name).moments
        for (id, seen) in try watch(name) {
            let expected = try #require(recorded[id])
            #expect(seen.overtimes.count == expected.overtime ?? 0, "\(id)")
            #expect(seen.kinds.contains(.shootout) == (expected.shootout ?? false), "\(id)")
            #expect(seen.walkOffLines == expected.walkOffChance ?? 0, "\(id)")
            #expect(seen.endedOnWalkOff == (expected.walkOff ?? false), "\(id)")
        }
    }

    /// The record tells how games ended, and counts a football game as close from 3 points; a moment lasts while it may.
    @Test(arguments: SlateFiles.names)
    func `T9: close finishes, comebacks and upsets that stood at the end are those on record`(name: String) throws {
        let recorded = try SlateFiles.recorded(name).moments
        for (id, seen) in try watch(name) {
            let expected = try #require(recorded[id])
            let game = try #require(seen.game)
            let isShootout = seen.kinds.contains(.shootout)
            let isClose = seen.atTheEnd.contains(MomentSet(.closeFinish)) || isShootout
            if game.sport == .football {
                // Sudden death may come before the last five minutes of an overtime.
                let isOvertime = seen.atTheEnd.contains(MomentSet(.overtime))
                #expect(isClose || isOvertime || !(expected.close ?? false), "\(id)")
            } else {
                #expect(isClose == (expected.close ?? false), "\(id)")
            }
            // A shootout's last line decides the game when no moment is on any more; a draw has no winner to come back.
            if !isShootout {
                let isComeback = seen.atTheEnd.contains(MomentSet(.comeback)) && game.lead != 0
                #expect(isComeback == (expected.comeback != nil), "\(id)")
                #expect(seen.atTheEnd.contains(MomentSet(.upset)) == (expected.upset ?? false), "\(id)")
            }
            if let behind = expected.comeback {
                let trailed = game.leader == .home ? game.history.homeTrailedBy : game.history.awayTrailedBy
                #expect(trailed == behind, "\(id)")
            }
        }
    }

    /// The last five minutes of the rules, the last scheduled inning in baseball; from the fields alone.
    private func isLate(_ game: GameState) -> Bool {
        guard game.phase?.isUnderWay == true, let period = game.period else { return false }
        let clock = game.clock.flatMap { clockSeconds($0) }
        return switch game.sport {
        case .basketball, .football: period >= 4 && clock.map { $0 <= 300 } ?? false
        case .hockey: period >= 3 && clock.map { $0 <= 300 } ?? (period == 5)
        case .soccer: period > 2 || (period == 2 && clock.map { $0 >= 5100 } ?? false)
        case .baseball: period >= game.detail?["innings"]?.wholeNumber ?? .max
        case .other: false
        }
    }

    private static let outOfReach: [Sport: Int] = [
        .basketball: 12, .football: 17, .hockey: 3, .soccer: 2, .baseball: 4,
    ]

    @Test(arguments: SlateFiles.names)
    func `T10: worth is within 0...100, 80 or more when level late, 25 or less when out of reach`(name: String) throws {
        let tuning = Tuning()
        var slate = Slate(tuning: tuning)
        var late = 0
        for line in try SlateFiles.lines(name) {
            _ = slate.apply(line, at: line.at)
            let game = try #require(slate.game(line.game))
            let points = worth(of: game, tuning: tuning).total
            #expect((0...100).contains(points))
            if game.phase == .final { #expect(points <= 25) }
            if game.phase ?? .pre == .pre { #expect((36...45).contains(points)) }
            guard isLate(game), let lead = game.lead else { continue }
            late += 1
            if lead == 0 { #expect(points >= 80, "\(game)") }
            if let large = Self.outOfReach[game.sport], abs(lead) >= large { #expect(points <= 25, "\(game)") }
        }
        #expect(late > 30)
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
