import CardRules
import Foundation
import Intake

/// The recorded slates: beside the package, or where LANEKEEPER_SLATES says. Not every checkout has them.
enum SlateFiles {
    static let directory: URL = {
        if let path = ProcessInfo.processInfo.environment["LANEKEEPER_SLATES"] { return URL(fileURLWithPath: path) }
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root.appendingPathComponent("../shared/data/slates").standardizedFileURL
    }()

    static let arePresent = FileManager.default.fileExists(
        atPath: directory.appendingPathComponent("moments.json").path)

    static let names = [
        "busy-night.patch.ndjson", "mlb-2020-08-22.rows.ndjson", "mlb-2020-09-25.patch.ndjson",
        "nba-2015-12-23.rows.ndjson", "nba-2016-01-18.patch.ndjson", "nfl-2012-09-23.rows.ndjson",
        "nfl-2013-11-24.patch.ndjson", "nhl-2013-01-24.patch.ndjson", "nhl-2013-01-29.patch.ndjson",
        "nhl-2013-01-29.rows.ndjson", "soccer-2018-03-17.rows.ndjson", "soccer-2018-06-25.patch.ndjson",
        "soccer-2018-07-01.rows.ndjson",
    ]

    /// What `moments.json` says of a slate.
    struct Recorded: Decodable {
        struct Game: Decodable {
            var final: [Int]
            /// Extra periods or innings played.
            var overtime: Int?
            var shootout: Bool?
            /// Lines with one.
            var walkOffChance: Int?
            var walkOff: Bool?
            /// How far the winner had been behind.
            var comeback: Int?
            var upset: Bool?
            var close: Bool?
        }
        var games: Int
        var lines: Int
        var moments: [String: Game]
    }

    static func recorded(_ name: String) throws -> Recorded {
        let data = Data(try bytes("moments.json"))
        guard let recorded = try JSONDecoder().decode([String: Recorded].self, from: data)[name] else {
            throw CocoaError(.fileReadUnknown)
        }
        return recorded
    }

    static let comment = "needs the recorded slates, see LANEKEEPER_SLATES"

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appendingPathComponent(name)))
    }

    static func lines(_ name: String) throws -> [SlateLine] {
        try text(name).lines.map(\.line)
    }

    static func text(_ name: String) throws -> SlateText {
        let bytes = try bytes(name)
        return try SlateText(bytes.span)
    }
}
