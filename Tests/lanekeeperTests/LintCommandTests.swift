import Foundation
import Testing

@testable import lanekeeper

/// Files of one test, removed afterwards.
private func withFiles(_ files: [String: String], _ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("lanekeeper-lint-\(ProcessInfo.processInfo.globallyUniqueString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, text) in files {
        try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
    }
    try body(folder)
}

@Suite struct LintCommandTests {
    private static let right = #"{"aps":{"timestamp":1795000300,"event":"update","content-state":{"homeScore":3}}}"#
    private static let wrong = "{\"aps\":{\"event\":\"update\",\n  \"content-state\":{}}}"

    @Test func `lint: a payload that is right says nothing and is exit 0, another a line each and exit 1`() throws {
        try withFiles(["right.json": Self.right, "wrong.json": Self.wrong]) { folder in
            let (good, bad) = (folder.path + "/right.json", folder.path + "/wrong.json")
            let first = try LintCommand([good]).run()
            #expect(first.lines == [] && first.code == 0)
            let second = try LintCommand([good, bad]).run()
            #expect(
                second.lines == [
                    "\(bad):1:8: ref L13: no timestamp (/aps); required, iOS is taken to drop it; for the sender"
                ])
            #expect(second.code == 1)
            #expect(try LintCommand(["--spoiler-free", good]).run().lines.count == 1)
        }
    }

    @Test func `lint: --json is the findings as JSON`() throws {
        try withFiles(["wrong.json": Self.wrong]) { folder in
            let (lines, code) = try LintCommand(["--json", folder.path + "/wrong.json"]).run()
            #expect(code == 1 && lines.count == 1)
            let json = try JSONSerialization.jsonObject(with: Data((lines.first ?? "").utf8)) as? [String: Any]
            let finding = try #require((json?["findings"] as? [[String: Any]])?.first)
            #expect(finding["kind"] as? String == "noTimestamp" && finding["rule"] as? String == "ref L13")
            #expect(finding["line"] as? Int == 1 && finding["column"] as? Int == 8)
            #expect(finding["responsible"] as? String == "sender" && json?["files"] as? Int == 1)
        }
    }

    @Test func `lint: whatever stands in a payload, a finding is one line`() throws {
        try withFiles(["odd.json": #"{"aps":{"event":"a\nb"}}"#]) { folder in
            for line in try LintCommand([folder.path + "/odd.json"]).run().lines { #expect(!line.contains("\n")) }
        }
    }

    @Test(arguments: [
        ([], "lint needs a file; see lanekeeper lint --help"),
        (["--spoiler-free"], "lint needs a file; see lanekeeper lint --help"),
        (["a.json", "--xml"], "--xml is no option of lint; see lanekeeper lint --help"),
        (["a.json", ""], " is no option of lint; see lanekeeper lint --help"),
    ])
    func `lint: wrong use is named`(words: [String], said: String) {
        let error = #expect(throws: WrongUse.self) { _ = try LintCommand(words) }
        #expect(error?.text == said)
    }

    @Test func `lint: a file that is not there, or a folder, is wrong use`() throws {
        for (path, reason) in [
            ("no/such.json", "there is no such file; is the path right?"), ("/", "it is a folder; name a file"),
        ] {
            let error = #expect(throws: WrongUse.self) { _ = try LintCommand([path]).run() }
            #expect(error?.text == "\(path) cannot be read: \(reason)")
        }
    }

    @Test func `tuning check: a difference is one line with place, value and rule, and exit 1`() throws {
        try withFiles([
            "Rules.swift": "enum Takeover {\n    static let marginPoints = 9\n}\nlet gapSeconds = 7\n",
            "None.swift": "let a = 1", "tuning.json": #"{"tuning":{"takeover":{"marginPoints":9}}}"#,
            "bad.json": #"{"takeover":{"margin":9}}"#, "broken.json": "{",
        ]) { folder in
            func run(_ words: String...) throws -> (lines: [String], remark: String?, code: Int32) {
                try TuningCheckCommand(["check"] + words.map { $0.hasPrefix("-") ? $0 : "\(folder.path)/\($0)" }).run()
            }
            let outcome = try run("Rules.swift")
            #expect(
                outcome.lines == [
                    "\(folder.path)/Rules.swift:2: takeover.marginPoints is 9, Tuning has 8 (T3)",
                    "\(folder.path)/Rules.swift:4: gapSeconds is 7, and nothing around it says which is meant, Tuning has starts.gapSeconds 600 (S10), updates.gapSeconds 15 (U3)",
                ])
            #expect(outcome.code == 1 && outcome.remark == nil)
            #expect(try run("Rules.swift", "--tuning", "tuning.json").lines.count == 1)
            let nothing = try run("None.swift")
            #expect(nothing.code == 0 && nothing.remark != nil && nothing.lines == [])
            let json = try run("Rules.swift", "--json")
            let read = try JSONSerialization.jsonObject(with: Data((json.lines.first ?? "").utf8)) as? [String: Any]
            #expect(read?["checked"] as? Int == 2 && (read?["findings"] as? [Any])?.count == 2)
            for file in ["bad.json", "broken.json"] {
                #expect(throws: WrongUse.self) { _ = try run("Rules.swift", "--tuning", file) }
            }
        }
    }
}
