import CardRules
import Postgres
import Testing

@testable import Intake

@Suite struct FeedSettingsTests {
    static func read(_ text: String) throws -> FeedSettings {
        try FeedSettings(JSONDocument(Array(text.utf8), dialect: .lenient).root)
    }

    @Test func `the object of the configuration is read`() throws {
        let settings = try FeedSettingsTests.read(
            """
            { url: "postgres://feed:s3cret@db/scores", slot: "keeper_1", publication: "scores", table: "live.game",
              columns: { game: "id", homeScore: "h", sport: { value: "hockey" }, clock: null,
                         phase: { column: "status", words: { Q1: "live" } } } }
            """)
        #expect(settings.address["host"] == "db")
        #expect(settings.slot == "keeper_1" && settings.publication == "scores")
        #expect(settings.schema == "live" && settings.table == "game")
        #expect(
            settings.sources == [
                .game: .column("id", words: [:]), .homeScore: .column("h", words: [:]), .sport: .fixed("hockey"),
                .phase: .column("status", words: ["Q1": "live"]),
            ])
        #expect(!"\(settings)".contains("s3cret"))
    }

    @Test func `publication, slot and schema have defaults`() throws {
        let settings = try FeedSettingsTests.read("{ url: 'host=db', table: 'game', columns: { game: 'id' } }")
        #expect(settings.publication == "lanekeeper" && settings.slot == "lanekeeper" && settings.schema == "public")
    }

    @Test(arguments: [
        ("{ table: 't', columns: { game: 'id' } }", "/url"),
        ("{ url: 'x y z', table: 't', columns: { game: 'id' } }", "/url"),
        ("{ url: 'host=db', columns: { game: 'id' } }", "/table"),
        ("{ url: 'host=db', table: 'a.b.c', columns: { game: 'id' } }", "/table"),
        ("{ url: 'host=db', table: 't.', columns: { game: 'id' } }", "/table"),
        ("{ url: 'host=db', table: 't' }", "/columns"),
        ("{ url: 'host=db', table: 't', columns: { home: 'h' } }", "/columns/game"),
        ("{ url: 'host=db', table: 't', columns: { game: { value: 'x' } } }", "/columns/game"),
        ("{ url: 'host=db', table: 't', columns: { game: 'id', homescore: 'h' } }", "/columns/homescore"),
        ("{ url: 'host=db', table: 't', columns: { game: 'id', home: 7 } }", "/columns/home"),
        ("{ url: 'host=db', table: 't', columns: { game: 'id', home: {} } }", "/columns/home"),
        ("{ url: 'host=db', table: 't', columns: { game: 'id', home: { column: 'a', value: 'b' } } }", "/columns/home"),
        (
            "{ url: 'host=db', table: 't', columns: { game: 'id', phase: { column: 'a', words: { x: 1 } } } }",
            "/columns/phase/words"
        ),
        ("{ url: 'host=db', table: 't', slot: 'With-Dash', columns: { game: 'id' } }", "/slot"),
        ("{ url: 'host=db', table: 't', slots: 'x', columns: { game: 'id' } }", "/slots"),
    ])
    func `what is wrong is named by its pointer`(text: String, pointer: String) {
        let fault = #expect(throws: FieldFault.self) { try FeedSettingsTests.read(text) }
        #expect(fault?.pointer.description == pointer)
    }

    static let good = FeedPreflight(
        walLevel: "logical", user: "feed", mayReplicate: true, isTableThere: true,
        columns: ["id", "h"].map { FeedPreflight.Column(name: $0, mayRead: true) }, isPublicationThere: true,
        isTablePublished: true, slot: nil)

    @Test func `what stands in the way is judged in the order in which it is mended`() throws {
        let settings = try FeedSettingsTests.read(
            "{ url: 'host=db', table: 'game', columns: { game: 'id', homeScore: 'h' } }")
        func fault(expectsSlot: Bool = false, _ change: (inout FeedPreflight) -> Void) -> FeedFault? {
            var found = FeedSettingsTests.good
            change(&found)
            return found.fault(settings, expectsSlot: expectsSlot)
        }
        let mine = FeedPreflight.Slot(plugin: "pgoutput", database: "scores", isOfThisDatabase: true, isLost: false)
        #expect(fault { _ in } == nil)
        #expect(fault { $0.slot = mine } == nil)
        #expect(fault { $0.walLevel = "replica" } == .walLevel("replica"))
        #expect(fault { $0.mayReplicate = false } == .mayNotReplicate(user: "feed"))
        #expect(fault { $0.isTableThere = false } == .tableMissing(table: "public.game"))
        #expect(
            fault { $0.columns.removeLast() }
                == .columnMissing(column: "h", table: "public.game", columns: ["id"]))
        #expect(
            fault { $0.isPublicationThere = false }
                == .publicationMissing(publication: "lanekeeper", table: "public.game"))
        #expect(
            fault { $0.isTablePublished = false }
                == .tableNotPublished(publication: "lanekeeper", table: "public.game"))
        #expect(fault(expectsSlot: true) { _ in } == .slotMissing(slot: "lanekeeper"))
        #expect(
            fault { $0.columns[1].mayRead = false } == .mayNotRead(table: "public.game", columns: ["h"], user: "feed"))
        #expect(
            fault {
                $0.slot = mine
                $0.columns[1].mayRead = false
            } == nil, "the stream needs no SELECT")
        #expect(
            fault {
                $0.slot = mine
                $0.slot?.isLost = true
            } == .slotInvalidated(slot: "lanekeeper"))
        #expect(
            fault {
                $0.slot = mine
                $0.slot?.isOfThisDatabase = false
            } == .slotForeign(slot: "lanekeeper", plugin: "pgoutput", database: "scores"))
    }

    @Test func `each fault says what to do`() {
        let faults: [(FeedFault, String)] = [
            (.walLevel("replica"), "set wal_level = logical"), (.mayNotReplicate(user: "Feed"), "ALTER ROLE \"Feed\""),
            (.mayNotRead(table: "t", columns: ["a"], user: "f"), "GRANT SELECT ON t TO \"f\""),
            (.tableMissing(table: "t"), "feed.postgres.table"), (.tableRenamed(table: "t", to: "u"), "now u"),
            (.columnMissing(column: "a", table: "t", columns: ["b"]), "There are: b"),
            (.publicationMissing(publication: "p", table: "t"), "CREATE PUBLICATION \"p\" FOR TABLE t"),
            (.tableNotPublished(publication: "p", table: "t"), "ALTER PUBLICATION \"p\" ADD TABLE t"),
            (.publicationWasMissing(publication: "p", slot: "s"), "pg_drop_replication_slot('s')"),
            (.slotMissing(slot: "s"), "start again"), (.slotInvalidated(slot: "s"), "pg_drop_replication_slot('s')"),
            (.slotForeign(slot: "s", plugin: "x", database: "d"), "feed.postgres.slot"),
            (.refused(PostgresServerError(sqlState: "XX000", message: "no")), "no (SQLSTATE XX000)"),
        ]
        for (fault, words) in faults { #expect("\(fault)".contains(words), "\(fault)") }
    }
}
