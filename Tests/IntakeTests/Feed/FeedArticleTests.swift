import CardRules
import Foundation
import Intake
import Postgres
import PrivatePostgres
import Testing

@Suite struct FeedArticleTests {
    private static let article = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources/Intake/Intake.docc/PostgresFeed.md")

    /// The code blocks of one language, in order.
    private func blocks(_ language: String) throws -> [String] {
        let text = try String(contentsOf: FeedArticleTests.article, encoding: .utf8)
        return text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    @Test func `what the article tells an integrator to run works, in its order`() async throws {
        var rig = try await FeedRig(ownDatabase: true)
        let sql = try blocks("sql")
        #expect(sql.count == 6)
        guard sql.count == 6, let configuration = try blocks("json5").first else { return }
        for block in sql.prefix(4) { try await rig.admin.sql(block) }

        let document = try JSONDocument(Array("{\(configuration)}".utf8), dialect: .lenient)
        guard let value = document.root["feed"]?["postgres"] else { throw JSONFault(.unexpectedEnd, at: 0) }
        rig.settings = try FeedSettings(value)
        #expect(rig.settings.address["host"] == "db.example")
        rig.settings.address = try PostgresAddress(rig.cluster.url(database: rig.name, user: "lanekeeper"))

        let tables = FeedTables()
        let feed = rig.addFeed(tables)
        await tables.wait { $0.notices.contains(.streaming) }
        try await rig.admin.sql(
            """
            INSERT INTO game VALUES ('g1', 'hockey', 'NHL', 'Bruins', 'Rangers', '2027-01-15 19:00-05', 1, 0, 2, '10:17',
              'in_progress', '{"play": "shot"}')
            """)
        await tables.wait { $0.ticks.count == 1 }
        let game = tables.game("g1")
        #expect(game?.league == "NHL" && game?.clock == "10:17" && game?.phase == .live && game?.homeScore == 1)
        try await rig.admin.sql("UPDATE game SET status = 'over'")
        await tables.wait { $0.ticks.count == 2 }
        #expect(tables.game("g1")?.phase == .final)
        let behind = try await rig.admin.sql(sql[4])
        #expect((0..<(behind.last?.rows ?? 0)).contains { behind.last?.text($0, 0) == "lanekeeper" })
        feed.cancel()
        #expect(await feed.value == nil)
        // The server's side of the stream may end a moment after ours.
        try await rig.admin.sql(
            "SELECT pg_terminate_backend(active_pid, 5000) FROM pg_replication_slots WHERE slot_name = 'lanekeeper'")
        try await rig.admin.sql(sql[5])
    }
}
