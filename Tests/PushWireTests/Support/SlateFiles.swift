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

    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [])
        .filter { $0.hasSuffix(".ndjson") }.sorted()

    static let comment = "needs the recorded slates, see LANEKEEPER_SLATES"

    static func lines(_ name: String) throws -> [SlateLine] {
        let bytes = Array(try Data(contentsOf: directory.appendingPathComponent(name)))
        return try SlateText(bytes.span).lines.map(\.line)
    }
}
