import CardRules
import Foundation
import Intake
import Testing

@testable import Operations

/// `Config/lanekeeper.json5`, which people copy and edit.
@Suite struct AnnotatedFileTests {
    private static let url: URL = {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root.appendingPathComponent("Config/lanekeeper.json5")
    }()

    @Test func `configuration: the annotated file is what the schema says, every key with its default`() throws {
        if ProcessInfo.processInfo.environment["LANEKEEPER_GOLDEN"] == "write" {
            try Data(Configuration().annotated.utf8).write(to: Self.url)
        }
        let text = try String(contentsOf: Self.url, encoding: .utf8)
        #expect(text == Configuration().annotated, "LANEKEEPER_GOLDEN=write swift test writes it anew")
    }

    @Test func `configuration: the annotated file gives every key, and its values are the defaults`() throws {
        let text = try String(contentsOf: Self.url, encoding: .utf8)
        #expect(try read(text).configuration == Configuration())
        for setting in Configuration.settings {
            let key = setting.name.split(separator: ".").last.map(String.init) ?? ""
            #expect(text.contains("\(key): "), "\(setting.name)")
            #expect(text.contains("// \(setting.purpose)"), "\(setting.name)")
        }
        for key in TuningKey.all {
            let last = key.name.split(separator: ".").last.map(String.init) ?? ""
            #expect(text.contains(" \(last): "), "\(key.name)")
        }
    }

    @Test func `configuration: the examples in its comments are good, and have every key that an element has`() throws {
        let text = try String(contentsOf: Self.url, encoding: .utf8)
        var filled = "{"
        for setting in Configuration.settings where setting.example != nil {
            let example = try #require(commented(setting.name, in: text))
            let isList = setting.name != "feed.postgres"
            let steps = setting.name.split(separator: ".")
            filled +=
                steps.count == 2
                ? "\(steps[0]): { \(steps[1]): \(isList ? "[\(example)]" : example) }," : "\(steps[0]): [\(example)],"
            for note in setting.inner where note.name != "gatewayKeys" {
                let key = note.name.split(separator: ".").last.map(String.init) ?? ""
                #expect(example.contains("\(key): "), "\(setting.name).\(note.name)")
            }
        }
        let configuration = try read(filled + "}").configuration
        #expect(configuration.apps.count == 1 && configuration.http.keys.count == 1)
        #expect(configuration.feed.postgres?.settings.table == "games")
    }

    /// The commented lines from "such as" on, as far as they are one object.
    private func commented(_ name: String, in text: String) -> String? {
        let purpose = Configuration.settings.first { $0.name == name }?.purpose ?? ""
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        guard let start = lines.firstIndex(where: { $0.hasPrefix("// \(purpose)") }) else { return nil }
        var example = ""
        for line in lines[(start + 2)...] {
            example += line.dropFirst(2) + "\n"
            if example.filter({ $0 == "{" }).count == example.filter({ $0 == "}" }).count { return example }
        }
        return nil
    }

    @Test func `configuration: every key says what it is for in one line`() {
        for setting in Configuration.settings {
            #expect(!setting.purpose.isEmpty && !setting.purpose.contains("\n"))
        }
        for line in Configuration().annotated.split(separator: "\n") { #expect(line.count <= 124, "\(line)") }
    }
}
