import Foundation

/// The recorded slates: beside the package, or where LANEKEEPER_SLATES says. Not every checkout has them.
enum RecordedSlates {
    static let directory: URL = {
        if let path = ProcessInfo.processInfo.environment["LANEKEEPER_SLATES"] { return URL(fileURLWithPath: path) }
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root.appendingPathComponent("../shared/data/slates").standardizedFileURL
    }()

    static let arePresent = FileManager.default.fileExists(
        atPath: directory.appendingPathComponent("moments.json").path)

    static let comment = "needs the recorded slates, see LANEKEEPER_SLATES"

    static func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
}
