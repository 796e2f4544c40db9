import CardRules
import Intake
import Postgres
import PrivatePostgres
import Simulation
import Testing

/// Against a real PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct PostgresFeedTests {
    @Test func `what the table holds comes first, then each transaction as one tick`() async throws {
        let rig = try await FeedRig()
        try await rig.insert("a", home: 1)
        try await rig.insert("b")
        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        #expect(tables.notices == [.snapshotBegins, .snapshotDone(rows: 2), .streaming])
        #expect(tables.ticks.map(\.count) == [4])
        let game = tables.game("a")
        #expect(game?.sport == .hockey && game?.home == "Bruins" && game?.away == "Rangers")
        #expect(game?.startsAt == WallTime(seconds: 1_800_057_600))
        #expect(game?.homeScore == 1 && game?.awayScore == 0 && game?.period == 1 && game?.phase == .live)
        #expect(game?.detail == .object(["shots": .array([.integer(1), .integer(2)])]))

        try await rig.admin.sql(
            """
            BEGIN; UPDATE game SET home_score = 2 WHERE id = 'a'; UPDATE game SET away_score = 1, status = 'break';
            INSERT INTO game (id, sport, home, away) VALUES ('c', 'soccer', 'São Paulo', 'Santos'); COMMIT
            """)
        await tables.wait { $0.ticks.count == 2 }
        #expect(tables.ticks.last?.map(\.game.text).sorted() == ["a", "a", "b", "c", "c"])
        #expect(tables.game("a")?.homeScore == 2 && tables.game("a")?.awayScore == 1)
        #expect(tables.game("b")?.phase == .break)
        #expect(tables.game("c")?.home == "São Paulo")
        #expect(tables.game("c")?.detail == nil)
        feed.cancel()
        #expect(await feed.value == nil)
    }

    @Test func `C5: an UPDATE that leaves a TOASTed column untouched keeps its value`() async throws {
        let rig = try await FeedRig()
        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        try await rig.insert("a")
        try await rig.admin.sql(
            "UPDATE game SET detail = jsonb_build_object('play', repeat('x', 100000)) WHERE id = 'a'")
        await tables.wait { $0.detail("a")?["play"] != nil }
        try await rig.admin.sql("UPDATE game SET home_score = 3 WHERE id = 'a'")
        await tables.wait { $0.home("a") == 3 }
        guard case .score(let patch)? = tables.ticks.last?.first else { throw PostgresError.closed }
        #expect(patch.detail == .absent, "the server did not send it")
        #expect(tables.game("a")?.detail?["play"]?.text?.utf8.count == 100_000)
        try await rig.admin.sql("UPDATE game SET detail = NULL WHERE id = 'a'")
        await tables.wait { $0.detail("a") == nil }
        #expect(tables.game("a")?.detail == nil)
        feed.cancel()
        _ = await feed.value
    }

    @Test func `sessions that are terminated again and again lose nothing and reorder nothing`() async throws {
        let rig = try await FeedRig()
        try await rig.insert("a")
        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        for score in 1...40 {
            try await rig.admin.sql("UPDATE game SET home_score = \(score) WHERE id = 'a'")
            if score % 10 == 5 { try await rig.endStream() }
        }
        await tables.wait { $0.home("a") == 40 }
        let scores = tables.homeScores(of: "a")
        #expect(Set(scores) == Set(0...40))
        // What was not confirmed comes once more, from there on in order.
        var news: [Int] = []
        for score in scores where score > (news.last ?? -1) { news.append(score) }
        #expect(news == Array(0...40))
        #expect(tables.notices.filter { $0 == .snapshotBegins }.count == 1)
        feed.cancel()
        _ = await feed.value
    }

    @Test func `begun again it goes on behind what was confirmed, without a snapshot`() async throws {
        let rig = try await FeedRig()
        try await rig.insert("a")
        let first = FeedTables()
        let feed = rig.addFeed(first)
        await first.wait { $0.notices.contains(.streaming) }
        try await rig.admin.sql("UPDATE game SET home_score = 1 WHERE id = 'a'")
        await first.wait { $0.home("a") == 1 }
        feed.cancel()
        _ = await feed.value

        for score in 2...5 { try await rig.admin.sql("UPDATE game SET home_score = \(score) WHERE id = 'a'") }
        let second = FeedTables()
        let next = rig.addFeed(second)
        await second.wait { state in state.ticks.joined().count >= 5 }
        #expect(second.homeScores(of: "a") == [2, 3, 4, 5])
        #expect(second.notices == [.streaming])
        next.cancel()
        _ = await next.value
    }

    @Test func `a tick that was not kept is not confirmed, and comes again`() async throws {
        let rig = try await FeedRig()
        try await rig.insert("a")
        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        tables.failNext(3)
        try await rig.admin.sql("UPDATE game SET home_score = 1 WHERE id = 'a'")
        try await rig.admin.sql("UPDATE game SET home_score = 2 WHERE id = 'a'")
        await tables.wait { $0.home("a") == 2 }
        #expect(tables.homeScores(of: "a") == [0, 1, 2])
        let failures = tables.notices.filter { if case .waiting(.notKept, _) = $0 { true } else { false } }
        #expect(failures.count == 3)
        feed.cancel()
        _ = await feed.value
    }

    @Test func `a sink that takes long does not cost the connection`() async throws {
        var rig = try await FeedRig()
        // The feed's 10 s are half a second here, and the server's patience six.
        rig.clock = ScaledClock(start: WallTime(seconds: 1_800_000_000), speed: 20)
        rig.settings.address = rig.settings.address.setting("options", "-c wal_sender_timeout=6s")
        let tables = FeedTables()
        let slow = try await rig.connect()
        let slot = rig.name
        let feed = rig.addFeed(tables) { _ in
            // Until the server has had answers for longer than its patience; or has none to expect any more.
            let began = try await slow.sql("SELECT clock_timestamp()::text").last?.text(0, 0) ?? ""
            while !Task.isCancelled {
                let isLong = try await slow.sql(
                    """
                    SELECT reply_time > '\(began)'::timestamptz + interval '7 s' FROM pg_stat_replication
                    WHERE pid = (SELECT active_pid FROM pg_replication_slots WHERE slot_name = '\(slot)')
                    """)
                if isLong.last?.rows == 0 || isLong.last?.text(0, 0) == "t" { return }
                await Task.yield()
            }
        }
        await tables.wait { $0.notices.contains(.streaming) }
        try await rig.insert("a", home: 1)
        await tables.wait { $0.home("a") == 1 }
        try await rig.admin.sql("UPDATE game SET home_score = 2 WHERE id = 'a'")
        await tables.wait { $0.home("a") == 2 }
        #expect(tables.notices == [.snapshotBegins, .snapshotDone(rows: 0), .streaming])
        feed.cancel()
        #expect(await feed.value == nil)
    }

    @Test func `a snapshot whose rows were not kept is taken anew, and a slot means a whole one`() async throws {
        let rig = try await FeedRig()
        for number in 0..<1200 { try await rig.insert("g\(number)") }
        let tables = FeedTables()
        tables.failNext(2)
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        #expect(tables.notices.filter { $0 == .snapshotBegins }.count == 3)
        #expect(tables.notices.contains(.snapshotDone(rows: 1200)))
        #expect(Set(tables.ticks.joined().map(\.game.text)).count == 1200)
        let slots = try await rig.admin.sql(
            "SELECT string_agg(slot_name, ',') FROM pg_replication_slots WHERE slot_name IN ('\(rig.name)', '\(rig.name)_init')"
        )
        #expect(slots.last?.text(0, 0) == rig.name, "and no temporary one is left")
        feed.cancel()
        _ = await feed.value
    }

    @Test func `changes made while the snapshot is read come behind it`() async throws {
        let rig = try await FeedRig()
        try await rig.insert("a")
        let tables = FeedTables()
        let writer = Task {
            // Until some are sure to come behind it.
            var (score, behind) = (0, 0)
            while behind < 20, !Task.isCancelled {
                score += 1
                if tables.notices.contains(.streaming) { behind += 1 }
                try await rig.admin.sql("UPDATE game SET home_score = \(score) WHERE id = 'a'")
            }
            return score
        }
        let feed = rig.addFeed(tables)
        let last = try await writer.value
        await tables.wait { $0.home("a") == last }
        let scores = tables.homeScores(of: "a")
        #expect(scores == Array((scores.first ?? 0)...last), "each once, none left out")
        feed.cancel()
        _ = await feed.value
    }

    @Test func `a deleted row leaves the slate`() async throws {
        let rig = try await FeedRig()
        try await rig.insert("a")
        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        try await rig.admin.sql("DELETE FROM game WHERE id = 'a'")
        await tables.wait { $0.ticks.count == 2 }
        #expect(tables.game("a")?.phase == .postponed)
        try await rig.insert("b")
        try await rig.admin.sql("TRUNCATE game")
        await tables.wait { $0.notices.contains(.truncated) }
        await tables.wait { $0.slate.game(GameID(unchecked: "b"))?.phase == .postponed }
        #expect(tables.game("b")?.phase == .postponed)
        feed.cancel()
        _ = await feed.value
    }

    @Test func `10,000 rows in one transaction come in portions, all of them`() async throws {
        let rig = try await FeedRig()
        let tables = FeedTables(merges: false)
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        try await rig.admin.sql(
            """
            INSERT INTO game SELECT 'g' || n, 'hockey', 'Bruins', 'Rangers', now(), 0, 0, 1, 'in_progress', '{}'
            FROM generate_series(1, 10000) n
            """)
        await tables.wait { $0.ticks.joined().count == 20_000 }
        #expect(Set(tables.ticks.joined().map(\.game.text)).count == 10_000)
        #expect(tables.ticks.allSatisfy { $0.count <= 2001 })
        #expect(tables.ticks.count >= 10)
        feed.cancel()
        #expect(await feed.value == nil)
        try await rig.insert("next")
        let after = FeedTables()
        let again = rig.addFeed(after)
        await after.wait { !$0.ticks.isEmpty }
        #expect(after.ticks.first?.map(\.game.text) == ["next", "next"], "all of it was confirmed")
        again.cancel()
        _ = await again.value
    }

    @Test func `a row that cannot be used is told, and the next one comes`() async throws {
        let rig = try await FeedRig()
        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        try await rig.insert("not an id")
        try await rig.insert("a")
        await tables.wait { $0.ticks.count == 1 }
        #expect(tables.ticks.joined().map(\.game.text) == ["a", "a"])
        #expect(
            tables.notices.last
                == .rowRejected(
                    game: "not an id", column: "id", detail: "must be an id, 1 to 128 of A-Z a-z 0-9 . _ : -"))
        feed.cancel()
        _ = await feed.value
    }
}
