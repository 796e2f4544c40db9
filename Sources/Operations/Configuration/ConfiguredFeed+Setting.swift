internal import CardRules
internal import Intake

extension ConfiguredFeed {
    /// `feed.postgres`; what it may hold is the feed's own business, save that its URL may stand in a file.
    static var setting: Setting<Configuration> {
        Setting(
            name: "feed.postgres", purpose: "a table of games to follow by logical replication", change: .atRestart,
            expected: "an object, or null", inner: notes, example: example,
            read: { json, pointer, root, reading in
                if json == .null {
                    root.feed.postgres = nil
                    return
                }
                root.feed.postgres = ConfiguredFeed(json, at: pointer, &reading)
            }, shown: { $0.feed.postgres?.shown ?? .null })
    }

    private init?(_ json: JSONValue, at pointer: JSONPointer, _ reading: inout ConfigurationReading) {
        var whole = json
        var shown = json
        if let url = json["url"] {
            let place = pointer.appending("url")
            guard let (text, file) = reading.secret(url, at: place, expected: "a libpq URL") else { return nil }
            whole = json.setting(.string(text), at: ["url"]) ?? json
            if file == nil { shown = json.setting(.string(withoutPassword(text)), at: ["url"]) ?? .null }
        }
        do throws(FieldFault) {
            settings = try FeedSettings(whole, at: pointer)
        } catch {
            reading.fault(at: error.pointer, error.detail)
            return nil
        }
        self.shown = shown
    }

    private static let notes: [SettingNote] = [
        note("url", "of the database, with a user who may replicate"),
        note("publication", "made on the database for this table"),
        note("slot", "the replication slot, made at the first start"), note("table", "the games, a row each"),
        note("columns", "which column holds which key of a slate line", isText: false),
    ]

    private static func note(_ name: String, _ purpose: String, isText: Bool = true) -> SettingNote {
        SettingNote(name: name, purpose: purpose, expected: "", isText: isText, isRequired: false)
    }

    private static let example = JSONValue.object([
        "url": .string("postgres://lanekeeper@db.example.com/sports"), "publication": .string("lanekeeper"),
        "slot": .string("lanekeeper"), "table": .string("games"),
        "columns": .object([
            "game": .string("id"), "homeScore": .string("home_score"), "awayScore": .string("away_score"),
            "sport": .object(["value": .string("hockey")]),
        ]),
    ])
}
