import CardRules
import Postgres
import Simulation
import Testing

@testable import Intake

@Suite struct FeedMachineTests {
    /// As the table has them: not in the order of their names, with one that nobody asked for.
    static let table = [
        "id", "sport", "home", "away", "note", "home_score", "away_score", "status", "clock", "detail", "updated",
    ]

    static func settings(_ more: [FeedKey: FeedSource] = [:]) throws -> FeedSettings {
        let names: [FeedKey: String] = [
            .game: "id", .sport: "sport", .home: "home", .away: "away", .homeScore: "home_score",
            .awayScore: "away_score", .clock: "clock", .detail: "detail",
        ]
        var sources = names.mapValues { FeedSource.column($0, words: [:]) }
        sources[.phase] = .column("status", words: ["in_progress": "live"])
        return FeedSettings(
            address: try PostgresAddress("host=nowhere"), publication: "p", slot: "s", table: "game",
            sources: sources.merging(more) { $1 })
    }

    struct Stream {
        var machine: FeedMachine

        init(_ settings: FeedSettings) throws {
            machine = FeedMachine(settings)
            machine.begin()
            // Rows that a test sends outside of a transaction stand at this one's time.
            try send(MessageBytes.begin(at: 1_000_000), MessageBytes.commit(end: 1))
            try send(MessageBytes.relation(FeedMachineTests.table))
        }

        mutating func send(_ messages: [UInt8]...) throws {
            for message in messages {
                let bytes = [0xEE] + MessageBytes.data(message)
                try machine.take(bytes.span, in: 1..<bytes.count)
            }
        }

        mutating func keepalive(_ end: UInt64) throws {
            let bytes = MessageBytes.keepalive(end: end)
            try machine.take(bytes.span, in: 0..<bytes.count)
        }
    }

    static func row(_ id: String, home: String? = "2", detail: String?? = "{\"play\":\"shot\"}") -> [String??] {
        [
            id, "hockey", "Bruins", "Rangers", "n", home.map { .some($0) } ?? nil, "1", "in_progress", "10:17", detail,
            nil,
        ]
    }

    static func score(_ id: String, home: Patched<Int> = .value(2), at: WallTime = time(1)) -> ScorePatch {
        var patch = ScorePatch(game: GameID(unchecked: id), at: at)
        (patch.home, patch.away, patch.phase, patch.clock) = (home, .value(1), .value(.live), .value("10:17"))
        patch.detail = .value(.object(["play": .string("shot")]))
        return patch
    }

    static func game(_ id: String, at: WallTime = time(1)) -> GamePatch {
        var patch = GamePatch(game: GameID(unchecked: id), at: at)
        (patch.sport, patch.home, patch.away) = (.value(.hockey), .value("Bruins"), .value("Rangers"))
        return patch
    }

    static func time(_ seconds: Int64) -> WallTime { WallTime(seconds: 946_684_800 + seconds) }

    @Test func `a transaction is one tick, at its commit's time, confirmed when it is durable`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        try stream.send(
            MessageBytes.begin(at: 1_000_000), MessageBytes.insert(FeedMachineTests.row("a")),
            MessageBytes.insert(FeedMachineTests.row("b")))
        #expect(!stream.machine.hasTick, "not before its commit")
        try stream.send(MessageBytes.commit(end: 0x40))
        #expect(stream.machine.hasTick)
        let expected: [SlateLine] = ["a", "b"].flatMap {
            [SlateLine.game(FeedMachineTests.game($0)), .score(FeedMachineTests.score($0))]
        }
        #expect(stream.machine.confirmed < LogPosition(0x40))
        #expect(stream.machine.takeTick() == expected)
        stream.machine.confirm()
        #expect(stream.machine.confirmed == LogPosition(0x40))
    }

    @Test func `C5: a large column that an UPDATE left untouched is left out, and one that is NULL is null`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        try stream.send(
            MessageBytes.begin(at: 1_000_000), MessageBytes.update(FeedMachineTests.row("a", detail: .some(nil))),
            MessageBytes.update(FeedMachineTests.row("a", home: nil, detail: nil)), MessageBytes.commit(end: 0x40))
        var untouched = FeedMachineTests.score("a")
        untouched.detail = .absent
        var cleared = FeedMachineTests.score("a", home: .null)
        cleared.detail = .null
        #expect(
            stream.machine.takeTick() == [.game(FeedMachineTests.game("a")), .score(untouched), .score(cleared)])
    }

    @Test func `an announcement goes out when it says something new`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        func kinds() -> [String] {
            stream.machine.takeTick().map { if case .game = $0 { "game" } else { "score" } }
        }
        try stream.send(MessageBytes.insert(FeedMachineTests.row("a")))
        #expect(kinds() == ["game", "score"])
        try stream.send(MessageBytes.update(FeedMachineTests.row("a", home: "3")))
        #expect(kinds() == ["score"])
        var renamed = FeedMachineTests.row("a")
        renamed[2] = "Boston"
        try stream.send(MessageBytes.update(renamed))
        #expect(kinds() == ["game", "score"])
        stream.machine.forget()
        try stream.send(MessageBytes.update(renamed))
        #expect(kinds() == ["game", "score"], "after a loss it is told again")
    }

    @Test func `a deleted row's game is postponed, unless it is known to be over`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        var over = FeedMachineTests.row("b")
        over[7] = "final"
        try stream.send(MessageBytes.insert(FeedMachineTests.row("a")), MessageBytes.insert(over))
        _ = stream.machine.takeTick()
        let key: (String) -> [String??] = { [$0] + Array(repeating: nil, count: 10) }
        try stream.send(
            MessageBytes.begin(at: 2_000_000), MessageBytes.delete(key("a")), MessageBytes.delete(key("b")),
            MessageBytes.delete(key("unknown")), MessageBytes.commit(end: 0x50))
        func postponed(_ id: String) -> SlateLine {
            var patch = ScorePatch(game: GameID(unchecked: id), at: FeedMachineTests.time(2))
            patch.phase = .value(.postponed)
            return .score(patch)
        }
        #expect(stream.machine.takeTick() == [postponed("a"), postponed("unknown")])
        #expect(stream.machine.takeNotices() == [])
        try stream.send(MessageBytes.delete(Array(repeating: nil, count: 11)))
        #expect(stream.machine.takeNotices() == [.deleteWithoutGame])
    }

    @Test func `a game that got another id leaves under the old one`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        try stream.send(
            MessageBytes.update(FeedMachineTests.row("b"), key: ["a"] + Array(repeating: nil, count: 10)))
        let games = stream.machine.takeTick().map(\.game.text)
        #expect(games == ["a", "b", "b"])
    }

    @Test func `TRUNCATE takes the games known off the slate`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        try stream.send(MessageBytes.insert(FeedMachineTests.row("b")), MessageBytes.insert(FeedMachineTests.row("a")))
        _ = stream.machine.takeTick()
        try stream.send(MessageBytes.truncate([9]))
        #expect(stream.machine.takeTick() == [])
        try stream.send(MessageBytes.truncate())
        #expect(stream.machine.takeTick().map(\.game.text) == ["a", "b"])
        #expect(stream.machine.takeNotices() == [.truncated])
    }

    @Test func `a giant transaction goes in portions, and is confirmed as a whole`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        try stream.keepalive(0x20)
        stream.machine.confirm()
        #expect(stream.machine.confirmed == LogPosition(0x20))
        try stream.send(MessageBytes.begin(commit: 0x90))
        var lines = 0
        var portions = 0
        for number in 0..<5000 {
            try stream.send(MessageBytes.insert(FeedMachineTests.row("g\(number % 100)")))
            guard stream.machine.isFull else { continue }
            #expect(stream.machine.hasTick)
            lines += stream.machine.takeTick().count
            portions += 1
            stream.machine.confirm()
            try stream.keepalive(0x30)
            stream.machine.confirm()
            #expect(stream.machine.confirmed == LogPosition(0x20), "not before its commit")
        }
        try stream.send(MessageBytes.commit(end: 0xA0))
        lines += stream.machine.takeTick().count
        stream.machine.confirm()
        #expect(lines == 5100)
        #expect(portions == 2)
        #expect(stream.machine.confirmed == LogPosition(0xA0))
    }

    @Test func `nothing is confirmed while lines wait`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        try stream.send(
            MessageBytes.begin(), MessageBytes.insert(FeedMachineTests.row("a")), MessageBytes.commit(end: 0x40))
        try stream.keepalive(0x60)
        stream.machine.confirm()
        #expect(stream.machine.confirmed == .unset)
        _ = stream.machine.takeTick()
        stream.machine.confirm()
        #expect(stream.machine.confirmed == LogPosition(0x60))
    }

    @Test func `a commit's time that runs back against the log does not make its lines older`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        try stream.send(
            MessageBytes.begin(at: 5_000_000), MessageBytes.insert(FeedMachineTests.row("a")),
            MessageBytes.commit(end: 0x40), MessageBytes.begin(at: 4_000_000),
            MessageBytes.update(FeedMachineTests.row("a")), MessageBytes.commit(end: 0x50))
        #expect(stream.machine.takeTick().map(\.at) == Array(repeating: FeedMachineTests.time(5), count: 3))
    }

    @Test func `a row that cannot be used is told with its column, and holds nothing up`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        var wrong = FeedMachineTests.row("a", home: "two")
        try stream.send(MessageBytes.insert(wrong))
        wrong = FeedMachineTests.row("a")
        wrong[7] = "abandoned"
        try stream.send(MessageBytes.insert(wrong))
        try stream.send(MessageBytes.insert(FeedMachineTests.row("a", detail: "{\"a\":1,\"a\":2}")))
        wrong = FeedMachineTests.row("not an id")
        try stream.send(MessageBytes.insert(wrong), MessageBytes.insert(FeedMachineTests.row("b")))
        #expect(stream.machine.takeTick().map(\.game.text) == ["b", "b"])
        let notices = stream.machine.takeNotices()
        guard notices.count == 4 else { throw FieldFault(.wrongValue(expected: "4 notices"), at: .root) }
        #expect(notices[0] == .rowRejected(game: "a", column: "home_score", detail: "must be a number"))
        #expect(
            notices[1]
                == .rowRejected(
                    game: "a", column: "status", detail: "must be pre, live, break, final or postponed"))
        #expect(notices[2] == .rowRejected(game: "a", column: "detail", detail: "must be JSON, with no key twice"))
        guard case .rowRejected("not an id", "id", _) = notices[3] else {
            throw FieldFault(.wrongValue(expected: "\(notices[3])"), at: .root)
        }
    }

    @Test func `a column that is gone, and a table that was renamed, end the feed and are named`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        let left = FeedMachineTests.table.filter { $0 != "home_score" }
        #expect(throws: FeedFault.columnMissing(column: "home_score", table: "public.game", columns: left)) {
            try stream.send(MessageBytes.relation(left))
        }
        #expect(throws: FeedFault.tableRenamed(table: "public.game", to: "public.match")) {
            try stream.send(MessageBytes.relation(FeedMachineTests.table, name: "match"))
        }
    }

    @Test func `other tables of the publication are passed over`() throws {
        var stream = try Stream(FeedMachineTests.settings())
        try stream.send(MessageBytes.relation(["id"], number: 6, name: "team"), MessageBytes.insert(["x"], number: 6))
        try stream.send(
            MessageBytes.relation(["id"], number: 7, schema: "other"), MessageBytes.delete(["x"], number: 7))
        try stream.send(MessageBytes.update(["x"], number: 8), MessageBytes.truncate([6, 7]))
        #expect(stream.machine.takeTick() == [])
        #expect(stream.machine.takeNotices() == [])
    }

    @Test func `a column of times, a fixed value, a version and a correction`() throws {
        let settings = try FeedMachineTests.settings([
            .t: .column("updated", words: [:]), .league: .fixed("NHL"), .version: .column("note", words: [:]),
            .correction: .fixed("true"),
        ])
        var stream = try Stream(settings)
        for (text, seconds) in [("2000-01-01 00:00:09+00", Int64(9)), ("946684811", 11)] {
            var row = FeedMachineTests.row("g\(seconds)")
            (row[4], row[10]) = ("77", .some(.some(text)))
            try stream.send(MessageBytes.insert(row))
            var game = FeedMachineTests.game("g\(seconds)", at: FeedMachineTests.time(seconds))
            game.league = .value("NHL")
            var score = FeedMachineTests.score("g\(seconds)", at: FeedMachineTests.time(seconds))
            (score.version, score.isCorrection) = (77, true)
            // The version is the score's: a second line with it would be ignored.
            #expect(stream.machine.takeTick() == [.game(game), .score(score)])
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `whatever the stream says, it is taken or refused`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let messages = [
            MessageBytes.begin(), MessageBytes.commit(end: 9), MessageBytes.relation(FeedMachineTests.table),
            MessageBytes.insert(FeedMachineTests.row("a")), MessageBytes.update(FeedMachineTests.row("b"), key: ["a"]),
            MessageBytes.delete(["a"]), MessageBytes.truncate(),
        ]
        var stream = try Stream(FeedMachineTests.settings())
        var taken = 0
        for _ in 0..<10_000 {
            var message = messages[Int(random.next() % UInt64(messages.count))]
            if random.chance(0.5) {
                message[Int(random.next() % UInt64(message.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            do {
                try stream.send(message)
                taken += 1
            } catch is FeedFault {}
            if stream.machine.isFull { _ = stream.machine.takeTick() }
            _ = stream.machine.takeNotices()
        }
        #expect(taken > 5000, "seed \(seed)")
    }
}
