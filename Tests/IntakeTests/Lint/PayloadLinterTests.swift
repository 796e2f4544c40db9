import CardRules
import Foundation
import Testing

@testable import Intake

/// The kinds found, in the order told.
func kinds(_ text: String, isSpoilerFree: Bool = false) -> [PayloadFinding.Kind] {
    lintPayload(Array(text.utf8), isSpoilerFree: isSpoilerFree).map(\.kind)
}

/// A payload that is right, its `aps` changed: `nil` takes a key away.
func payload(_ event: String, _ changes: [(String, String?)] = []) -> String {
    var members: [(String, String)] =
        switch event {
        case "start":
            [
                ("timestamp", "1795000000"), ("event", #""start""#), ("attributes-type", #""OrderAttributes""#),
                ("attributes", #"{"order":"A7"}"#), ("content-state", #"{"step":2,"since":1794990000}"#),
                ("input-push-token", "1"), ("relevance-score", "50"),
                ("alert", #"{"title":"Order A7","body":"On its way","sound":"default"}"#),
            ]
        case "update":
            [
                ("timestamp", "1795000300"), ("event", #""update""#), ("content-state", #"{"step":3}"#),
                ("stale-date", "1795000900"),
            ]
        default:
            [
                ("timestamp", "1795000600"), ("event", #""end""#), ("content-state", #"{"step":4}"#),
                ("dismissal-date", "1795000600"),
            ]
        }
    for (key, value) in changes {
        members.removeAll { $0.0 == key }
        if let value { members.append((key, value)) }
    }
    return "{\"aps\":{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}}"
}

@Suite struct PayloadLinterTests {
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Golden")

    @Test func `our own payloads are right, also for a phone that wants to know nothing`() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.golden, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
        #expect(files.count >= 8)
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: file))
            #expect(lintPayload(bytes) == [], "\(file.lastPathComponent)")
            if file.lastPathComponent.contains("spoiler-free") {
                #expect(lintPayload(bytes, isSpoilerFree: true) == [], "\(file.lastPathComponent)")
            }
        }
    }

    @Test(arguments: ["start", "update", "end"])
    func `a payload that is right has no finding`(event: String) { #expect(kinds(payload(event)) == []) }

    typealias Case = (event: String, changes: [(String, String?)], found: [PayloadFinding.Kind])

    private static let frame: [Case] = [
        ("start", [("event", nil)], [.noEvent]),
        ("start", [("event", "\"Start\"")], [.unknownEvent]), ("start", [("event", "1")], [.unknownEvent]),
        ("update", [("timestamp", nil)], [.noTimestamp]),
        ("update", [("timestamp", "\"1795000300\"")], [.notWholeSeconds]),
        ("update", [("timestamp", "1795000300.5")], [.notWholeSeconds]),
        ("update", [("timestamp", "null")], [.notWholeSeconds]),
        ("update", [("timestamp", "1795000300000")], [.milliseconds]),
        ("update", [("timestamp", "816693100")], [.implausibleTime]),
        ("update", [("stale-date", "1795000900000")], [.milliseconds]),
        ("update", [("stale-date", "1795000300")], [.staleAtOnce]),
        ("update", [("dismissal-date", "1795000300")], [.dismissalWithoutEnd]),
        ("end", [("dismissal-date", nil)], [.noDismissal]),
        ("end", [("dismissal-date", "0")], []),
        ("end", [("dismissal-date", "1795000600000")], [.milliseconds]),
        ("end", [("dismissal-date", "1795015000")], []),
        ("end", [("dismissal-date", "1795015001")], [.dismissalTooLate]),
        ("end", [("content-state", nil)], []),
        ("start", [("stale-date", "1795000045")], [.staleOnStart]),
        ("start", [("input-push-token", nil)], [.noInput]),
        ("start", [("input-push-token", nil), ("input-push-channel", "\"c\"")], []),
        ("start", [("input-push-channel", "\"c\"")], [.twoInputs]),
        ("start", [("input-push-token", "true")], [.badInput]),
        ("start", [("input-push-token", nil), ("input-push-channel", "\"\"")], [.badInput]),
        ("update", [("input-push-token", "1")], [.inputWithoutStart]),
        ("start", [("relevance-score", "\"high\"")], [.badRelevance]),
        ("start", [("attributes-type", nil)], [.noAttributesType]),
        ("start", [("attributes-type", "\"\"")], [.noAttributesType]),
        ("start", [("attributes", nil)], [.noAttributes]), ("start", [("attributes", "[]")], [.noAttributes]),
        ("start", [("attributes", "{}")], []),
        ("update", [("content-available", "1")], [.silentPush]),
        ("update", [("contentState", "{}")], [.unknownKey]), ("update", [("badge", "1")], [.unknownKey]),
        ("start", [("interruption-level", "\"passive\"")], []),
    ]

    private static let alert: [Case] = [
        ("start", [("alert", nil)], [.noAlert]), ("update", [("alert", nil)], []),
        ("start", [("alert", "\"Order A7\"")], [.alertNotAnObject]),
        ("start", [("alert", "{}")], [.blankAlert, .blankAlert]),
        ("start", [("alert", #"{"title":"","body":"b"}"#)], [.blankAlert]),
        ("start", [("alert", #"{"title":"t","body":" \u3000"}"#)], [.blankAlert]),
        ("start", [("alert", #"{"title":7,"body":"b"}"#)], [.badAlertText]),
        ("start", [("alert", #"{"title":{"loc-key":"T","loc-args":["a"]},"body":"b"}"#)], []),
        ("start", [("alert", #"{"title":{"loc-args":["a"]},"body":"b"}"#)], [.badAlertText]),
        ("start", [("alert", #"{"title":{"loc-key":"T","loc-args":[1]},"body":"b"}"#)], [.badAlertText]),
        ("start", [("alert", #"{"title":{"loc-key":"T","loc-args":"a"},"body":"b"}"#)], [.badAlertText]),
        ("start", [("alert", #"{"title-loc-key":"T","title":"t","body":"b"}"#)], [.oldLocalization]),
        ("start", [("sound", "\"default\"")], [.soundBesideAlert]),
        ("start", [("alert", #"{"title":"t","body":"b","sound":{"critical":1}}"#)], [.badSound]),
        ("update", [("alert", #"{"title":"t","body":""}"#)], [.blankAlert]),
    ]

    private static let content: [Case] = [
        ("start", [("content-state", nil)], [.noContent]), ("update", [("content-state", nil)], [.noContent]),
        ("update", [("content-state", "[1]")], [.contentNotAnObject]),
        ("update", [("content-state", #"{"step":null}"#)], [.nullValue]),
        ("update", [("content-state", #"{"a":[{"b":null},null]}"#)], [.nullValue, .nullValue]),
        ("start", [("attributes", #"{"order":null}"#)], [.nullValue]),
        ("update", [("content-state", #"{"since":1794990000000}"#)], [.millisecondsInContent]),
        ("update", [("content-state", #"{"since":1794990000123.5}"#)], [.millisecondsInContent]),
        ("update", [("content-state", #"{"number":401547417}"#)], []),
        ("update", [("content-state", #"{"since":"2026-11-30T09:00:00Z"}"#)], [.dateString]),
        ("update", [("content-state", #"{"days":["2026-11-30"]}"#)], [.dateString]),
        ("update", [("content-state", #"{"phone":"2026-11-3099"}"#)], []),
    ]

    @Test(arguments: frame + alert + content)
    func `what is wrong with a payload is found, and nothing else`(example: Case) {
        #expect(kinds(payload(example.event, example.changes)) == example.found)
    }

    @Test(arguments: [
        ("", PayloadFinding.Kind.empty, 1, 1), (" \n\t", .empty, 1, 1),
        ("{", .notJSON, 1, 2), ("{\"aps\":\n  {,}}", .notJSON, 2, 4), ("\u{FEFF}{}", .notJSON, 1, 1),
        ("{'aps':{}}", .notJSON, 1, 2), ("{\"aps\":{\"a\":01}}", .notJSON, 1, 13), ("nul", .notJSON, 1, 4),
        ("{}}", .trailingText, 1, 3), ("{\"aps\":{}} {\"aps\":{}}", .trailingText, 1, 12),
        ("{\"aps\":{},\"aps\":{}}", .duplicateKey, 1, 11),
        ("{\"aps\":{\"event\":\"end\",\n\"event\":\"end\"}}", .duplicateKey, 2, 1),
        (String(repeating: "[", count: 5000), .tooDeep, 1, 33),
        ("{\"aps\":{\"timestamp\":99999999999999999999}}", .numberOutOfRange, 1, 21),
        ("{\"aps\":{\"timestamp\":1e999}}", .numberOutOfRange, 1, 21),
        ("[]", .notAnObject, 1, 1), ("\"aps\"", .notAnObject, 1, 1), ("{}", .noAps, 1, 1),
        ("{\"aps\":[]}", .apsNotAnObject, 1, 8), ("{\"aps\":null}", .apsNotAnObject, 1, 8),
        ("{\"headers\":{}", .notJSON, 1, 14),
    ])
    func `JSON however broken is one finding with its place`(
        text: String, kind: PayloadFinding.Kind, line: Int, column: Int
    ) {
        let findings = lintPayload(Array(text.utf8))
        #expect(findings.map(\.kind) == [kind])
        #expect(findings.first?.line == line && findings.first?.column == column)
    }

    @Test func `bytes that are no UTF-8 are a finding with its place`() {
        let findings = lintPayload(Array("{\"aps\":\n{\"event\":\"a".utf8) + [0xC3, 0x28] + Array("\"}}".utf8))
        #expect(findings.map(\.kind) == [.notUTF8])
        #expect(findings.first?.line == 2 && findings.first?.column == 12)
    }

    @Test func `P8: 4,096 bytes are taken, one more is not, white space around does not count`() throws {
        func sized(_ bytes: Int) -> String {
            let rest = payload("update", [("content-state", "{\"text\":\"\"}")]).utf8.count
            return payload(
                "update", [("content-state", "{\"text\":\"\(String(repeating: "x", count: bytes - rest))\"}")])
        }
        #expect(sized(4096).utf8.count == 4096)
        #expect(kinds(sized(4096) + "\n\n") == [])
        #expect(kinds(sized(4097)) == [.tooLarge])
        #expect(kinds("{\"headers\":{},\"payload\":\(sized(4097))}").contains(.tooLarge))
        #expect(kinds(String(repeating: "[", count: 2 << 20)) == [.tooLarge])
    }

    @Test func `keys of a Live Activity beside aps are found`() {
        #expect(
            kinds(#"{"event":"update","aps":\#(payload("update").dropFirst(7).dropLast()),"mine":1}"#) == [
                .misplacedKey
            ])
    }

    @Test func `a finding says rule, place, what comes of it and who can act`() throws {
        let text =
            "{\"aps\":{\n  " + payload("start", [("alert", nil)]).dropFirst(8).dropLast(2) + ",\n  \"sta/le\":1}}"
        let findings = lintPayload(Array(text.utf8))
        #expect(findings.map(\.kind) == [.noAlert, .unknownKey])
        let alert = try #require(findings.first)
        #expect(alert.rule == "P1" && alert.pointer == "/aps" && alert.line == 1 && alert.column == 8)
        #expect(alert.outcome.contains("iOS makes no card") && alert.responsible == .sender)
        let key = try #require(findings.last)
        #expect(key.pointer == "/aps/sta~1le" && key.line == 3 && key.column == 3)
        for kind in PayloadFinding.Kind.allCases {
            let finding = PayloadFinding(kind: kind, line: 1, column: 1, pointer: "", what: "")
            #expect(!finding.rule.isEmpty && !finding.outcome.isEmpty)
        }
    }

    @Test func `of very many findings the first hundred are told`() {
        let nulls = (0..<300).map { "\"k\($0)\":null" }.joined(separator: ",")
        #expect(kinds(payload("update", [("content-state", "{\(nulls)}")])).count == 100)
    }
}
