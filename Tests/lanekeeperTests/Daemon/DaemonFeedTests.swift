import CardRules
import Foundation
import Intake
import Postgres
import PrivatePostgres
import Simulation
import Testing

@testable import lanekeeper

/// The daemon with a table of games in its configuration, against a real PostgreSQL.
@Suite(.serialized, .enabled(if: BuiltProgram.url != nil), .timeLimit(.minutes(3))) struct DaemonFeedTests {
    private func feed(_ name: String, at url: String) -> String {
        """
        feed: { postgres: { url: '\(url)', publication: '\(name)', slot: '\(name)', table: '\(name).game',
            columns: { game: 'id', sport: { value: 'hockey' }, home: 'home', away: 'away', startsAt: 'starts_at',
              homeScore: 'home_score', awayScore: 'away_score', phase: 'phase', detail: 'detail' } } },
        tuning: { updates: { gapSeconds: 1 } }
        """
    }

    private func score(_ request: RecordedRequest) -> Int? {
        guard let document = try? JSONDocument(request.request.body) else { return nil }
        let state = document.root["aps"]?["content-state"]
        return state?["games"]?[0]?["homeScore"]?.wholeNumber
    }

    @Test
    func
        `serve: the UPDATE of a row of the configured table reaches the card, and what was missed comes after a restart (C5)`()
        async throws
    {
        let cluster = try await PrivateCluster.shared()
        let name = cluster.freshName("served")
        let admin = try await PostgresConnection.open(PostgresAddress(cluster.url()), settings: PostgresSettings())
        func sql(_ text: String) async throws {
            _ = try await admin.perform { (session) throws(PostgresError) in try session.query(text) }
        }
        try await sql(
            """
            CREATE SCHEMA \(name);
            CREATE TABLE \(name).game (id text PRIMARY KEY, home text, away text, starts_at timestamptz,
              home_score int, away_score int, phase text, detail jsonb);
            ALTER TABLE \(name).game ALTER COLUMN detail SET STORAGE EXTERNAL;
            CREATE PUBLICATION \(name) FOR TABLE \(name).game;
            INSERT INTO \(name).game VALUES ('g1', 'Boston', 'Miami', now(), 1, 0, 'live',
              jsonb_build_object('note', 'x', 'long', repeat('y', 9000)))
            """)
        try await DaemonFixture.inPlace { fixture in
            let text = fixture.configuration(feed(name, at: cluster.url()))
            let daemon = try await RunningDaemon(in: fixture.folder, configuration: text)
            #expect(await daemon.logged("the feed follows the table") != nil)
            let now = Int(Date().timeIntervalSince1970)
            for (path, body) in [
                (
                    "/v1/devices/d1",
                    #"{"user":"u1","gateway":"sandbox","pushToStartToken":"80c3e5a1","osVersion":"18.1"}"#
                ),
                ("/v1/devices/d1/selection", #"{"games":["g1"],"pinned":null,"muted":[],"syncedAt":\#(now)}"#),
                (
                    "/v1/devices/d1/cards/slate",
                    #"{"activity":"A1","updateToken":"c0ffee","gateway":"sandbox","startedBy":"app"}"#
                ),
            ] {
                #expect(try await daemon.put(path, body, key: fixture.key).hasSuffix(" 204"), "\(path)")
            }
            try await sql("UPDATE \(name).game SET home_score = 2")
            let pushes = try await fixture.pushes(1) { score($0) == 2 }
            #expect(pushes.first?.status == 200)
            let slate = try await daemon.get("/v1/slate", key: fixture.key)
            #expect(slate.contains(#""note":"x""#), "the UPDATE left the large column out")
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))

            try await sql("UPDATE \(name).game SET home_score = 3")
            let again = try await RunningDaemon(in: fixture.folder, configuration: text)
            _ = try await fixture.pushes(1) { score($0) == 3 }
            again.send(SIGTERM)
            let log = await again.restOfLog()
            #expect(!log.contains { $0.contains("reads the whole table") }, "it goes on from where it was")
            #expect(await again.ended() == (0, false))
        }
        admin.close()
    }

    @Test func `serve: a row of the feed that no game can be made of is told`() async throws {
        let cluster = try await PrivateCluster.shared()
        let name = cluster.freshName("nameless")
        let admin = try await PostgresConnection.open(PostgresAddress(cluster.url()), settings: PostgresSettings())
        let sql = """
            CREATE SCHEMA \(name);
            CREATE TABLE \(name).game (id text PRIMARY KEY, home text, away text, starts_at timestamptz,
              home_score int, away_score int, phase text, detail jsonb);
            CREATE PUBLICATION \(name) FOR TABLE \(name).game;
            INSERT INTO \(name).game VALUES ('g1', NULL, 'Miami', now(), 1, 0, 'live', NULL)
            """
        _ = try await admin.perform { (session) throws(PostgresError) in try session.query(sql) }
        admin.close()
        try await DaemonFixture.inPlace { fixture in
            let text = fixture.configuration(feed(name, at: cluster.url()))
            let daemon = try await RunningDaemon(in: fixture.folder, configuration: text)
            #expect(await daemon.logged("the feed reads the whole table") != nil)
            let told = await daemon.logged("a row of the feed cannot be used")
            #expect(told?.contains("key=g1") == true && told?.contains("home: a game cannot be without it") == true)
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))
        }
    }

    @Test func `serve: a feed that cannot be followed is told, and the rest of the daemon works`() async throws {
        try await DaemonFixture.inPlace { fixture in
            let text = fixture.configuration(feed("nowhere", at: "postgres://nobody@127.0.0.1:1/none"))
            let daemon = try await RunningDaemon(in: fixture.folder, configuration: text)
            #expect(await daemon.logged("the feed waits and tries again")?.contains("127.0.0.1") == true)
            #expect(try await daemon.get("/readyz").hasSuffix(" 200"))
            daemon.send(SIGTERM)
            #expect(await daemon.ended() == (0, false))
        }
    }
}
