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
