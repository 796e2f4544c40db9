import Intake
import Testing

@Suite struct HeaderLintTests {
    private static let right: [(String, String)] = [
        ("apns-push-type", #""liveactivity""#), ("apns-topic", #""com.example.lineup.push-type.liveactivity""#),
        ("apns-priority", "10"), ("apns-expiration", #""1795001200""#),
        ("apns-id", #""0a1b2c3d-0a1b-4c3d-8a1b-0a1b2c3d4e5f""#), ("apns-collapse-id", #""slate""#),
    ]

    private func push(_ event: String, _ changes: [(String, String?)], changing body: [(String, String?)] = [])
        -> String
    {
        var headers = Self.right
        for (name, value) in changes {
            headers.removeAll { $0.0 == name }
            if let value { headers.append((name, value)) }
        }
        let text = headers.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        return "{\"headers\":{\(text)},\"payload\":\(payload(event, body))}"
    }

    @Test(arguments: ["start", "update", "end"])
    func `a push that is right has no finding`(event: String) { #expect(kinds(push(event, [])) == []) }

    typealias Case = (event: String, changes: [(String, String?)], found: [PayloadFinding.Kind])

    @Test(
        arguments: [
            ("start", [("apns-push-type", nil)], [.badPushType]),
            ("start", [("apns-push-type", #""alert""#)], [.badPushType]),
            ("start", [("apns-topic", nil)], [.badTopic]),
            ("start", [("apns-topic", #""com.example.lineup""#)], [.badTopic]),
            ("start", [("apns-topic", #"".push-type.liveactivity""#)], [.badTopic]),
            ("start", [("apns-priority", nil)], []),
            ("start", [("apns-priority", "\"5\"")], [.priorityOfEvent]),
            ("end", [("apns-priority", "5")], [.priorityOfEvent]),
            ("update", [("apns-priority", "5")], []),
            ("update", [("apns-priority", "1")], [.badPriority]),
            ("update", [("apns-priority", "\"high\"")], [.badPriority]),
            ("start", [("apns-expiration", nil)], [.noExpiration]),
            ("start", [("apns-expiration", "0")], [.noAttemptLater]),
            ("start", [("apns-expiration", "1795001200000")], [.badExpiration]),
            ("start", [("apns-expiration", "-5")], [.badExpiration]),
            ("start", [("apns-expiration", "\"soon\"")], [.badExpiration]),
            ("start", [("apns-expiration", "1795000000")], [.expired]),
            ("start", [("apns-id", nil)], [.noID]),
            ("start", [("apns-id", #""0A1B2C3D-0A1B-4C3D-8A1B-0A1B2C3D4E5F""#)], [.badID]),
            ("start", [("apns-id", "7")], [.badID]),
            ("start", [("apns-collapse-id", nil)], [.noCollapseID]),
            ("update", [("apns-collapse-id", nil)], []),
            ("start", [("apns-collapse-id", "\"\"")], [.badCollapseID]),
            ("start", [("apns-collapse-id", "\"\(String(repeating: "é", count: 32))\"")], []),
            ("start", [("apns-collapse-id", "\"\(String(repeating: "é", count: 33))\"")], [.badCollapseID]),
            ("start", [("Apns-Priority", "10")], [.repeatedHeader]),
            ("start", [("apns-priority", "null")], [.badHeaders]),
        ] as [Case])
    func `what is wrong with a header is found, and nothing else`(example: Case) {
        #expect(kinds(push(example.event, example.changes)) == example.found)
    }

    @Test func `headers and payload are each judged, and each missed`() {
        #expect(kinds(push("start", [("apns-topic", nil)], changing: [("alert", nil)])) == [.badTopic, .noAlert])
        #expect(kinds("{\"headers\":[],\"payload\":\(payload("end"))}") == [.badHeaders])
        #expect(kinds("{\"payload\":\(payload("end"))}") == [])
        #expect(kinds("{\"payload\":7}") == [.notAnObject])
        #expect(kinds(#"{"headers":{}}"#).first == .noAps)
    }

    @Test func `what the operator has to mend is said to be the operator's`() {
        let findings = lintPayload(Array(push("start", [("apns-topic", #""com.example.lineup""#)]).utf8))
        #expect(findings.map(\.responsible) == [.operator])
        #expect(findings.first?.pointer == "/headers/apns-topic")
    }
}
