import Foundation
import Testing

@testable import lanekeeper

/// The command as people use it: the built program as a process of its own.
@Suite(.enabled(if: BuiltProgram.url != nil, "the program was not built"), .timeLimit(.minutes(2)))
struct ReplayCommandTests {
    private static let slate = """
        {"t":1794699000,"type":"game","game":"g","sport":"tennis","home":"A","away":"B","startsAt":1794700800}
        {"t":1794700800,"type":"score","game":"g","phase":"live","home":0,"away":0,"period":1}
        {"t":"soon","type":"score","game":"g","home":2}
        {"t":1794701400,"type":"score","game":"g","phase":"final","home":20,"away":18}
        """

    private func run(_ arguments: [String], files: [String: String] = [:]) async throws -> BuiltProgram.Outcome? {
        var outcome: BuiltProgram.Outcome?
        try await BuiltProgram.inFolder { folder in
            for (name, text) in files.merging(["night.ndjson": Self.slate], uniquingKeysWith: { own, _ in own }) {
                try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
            }
            outcome = try await BuiltProgram.run(["replay"] + arguments, in: folder)
        }
        return outcome
    }

    @Test func `replay: a bad line is named on standard error, and the rest is played`() async throws {
        let outcome = try #require(try await run(["night.ndjson"]))
        #expect(outcome.code == 0)
        #expect(outcome.errors == ["lanekeeper: night.ndjson:3: t: must be a number of Unix seconds (column 6)"])
        #expect(
            outcome.output.hasPrefix(
                "night.ndjson: 1 game, 3 lines, 2026-11-14 23:30:00 to 2026-11-15 00:10:00 UTC\n"))
        #expect(outcome.output.contains("end       E1"))
    }

    @Test func `replay: with --json there is one object, and the same for the same input`() async throws {
        let files = ["t.json5": "{ takeover: { settleSeconds: 40 } }"]
        let arguments = ["night.ndjson", "--json", "--against", "t.json5"]
        let outcome = try #require(try await run(arguments, files: files))
        #expect(outcome.code == 0)
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        let runs = object?["runs"] as? [[String: Any]]
        #expect(runs?.compactMap { $0["tuning"] as? String } == ["defaults", "t.json5"])
        #expect((object?["slate"] as? [String: Any])?["rejected"] as? Int == 1)
        #expect(try await run(arguments, files: files)?.output == outcome.output)
    }

    @Test(arguments: [
        (["nowhere.ndjson"], "nowhere.ndjson cannot be read: there is no such file; is the path right?"),
        (
            ["night.ndjson", "--phone", "none.json"],
            "none.json cannot be read: there is no such file; is the path right?"
        ),
        (["night.ndjson", "--phone", "p.json"], "p.json:2: /sounds: no such key; sound?"),
        (
            ["night.ndjson", "--tuning", "t.json5"],
            "t.json5:3: tuning.takeover.settelSeconds: no such key; takeover.settleSeconds?"
        ),
        (["night.ndjson", "--against", "p.json"], "p.json:2: tuning.sounds: no such key"),
        (["night.ndjson", "--follow", "h"], "--follow: h is no game of the slate"), (["p.json"], nil),
    ])
    func `replay: what it was given and cannot use is one line and exit 2`(
        arguments: [String], expected: String?
    ) async throws {
        let files = ["p.json": "{\n\"sounds\": true\n}", "t.json5": "{\n takeover: {\n  settelSeconds: 40 } }"]
        let outcome = try #require(try await run(arguments, files: files))
        #expect(outcome.code == 2 && outcome.output.isEmpty && outcome.errors.count == 1)
        if let expected { #expect(outcome.errors == ["lanekeeper: \(expected)"]) }
    }

    @Test func `replay: help is on standard output`() async throws {
        let outcome = try #require(try await run(["--help"]))
        #expect(outcome.code == 0 && outcome.output == ReplayOptions.usage + "\n" && outcome.errors.isEmpty)
    }
}
