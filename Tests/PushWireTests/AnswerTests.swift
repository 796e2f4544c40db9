import CardRules
import PushWire
import Testing

@Suite struct AnswerTests {
    /// The table of ref section 3, row by row.
    private static let table: [(status: Int, reason: String, next: NextStep)] = [
        (400, "BadCollapseId", .reportToOperator(.push)),
        (400, "BadDeviceToken", .tryOtherGateway),
        (400, "BadExpirationDate", .reportToOperator(.push)),
        (400, "BadMessageId", .reportToOperator(.push)),
        (400, "BadPriority", .reportToOperator(.push)),
        (400, "BadTopic", .reportToOperator(.app)),
        (400, "InvalidPushType", .reportToOperator(.push)),
        (400, "DuplicateHeaders", .reportToOperator(.push)),
        (400, "DeviceTokenNotForTopic", .reportToOperator(.app)),
        (400, "IdleTimeout", .reconnect),
        (400, "MissingDeviceToken", .reportToOperator(.push)),
        (400, "MissingTopic", .reportToOperator(.app)),
        (400, "PayloadEmpty", .reportToOperator(.push)),
        (400, "TopicDisallowed", .reportToOperator(.app)),
        (403, "BadCertificate", .reportToOperator(.key)),
        (403, "BadCertificateEnvironment", .reportToOperator(.key)),
        (403, "ExpiredProviderToken", .reconnect),
        (403, "InvalidProviderToken", .reportToOperator(.key)),
        (403, "MissingProviderToken", .reportToOperator(.key)),
        (403, "UnrelatedKeyIdInToken", .reconnect),
        (403, "BadEnvironmentKeyIdInToken", .reportToOperator(.key)),
        (403, "Forbidden", .reportToOperator(.key)),
        (404, "BadPath", .reportToOperator(.push)),
        (405, "MethodNotAllowed", .reportToOperator(.push)),
        (410, "ExpiredToken", .forgetAddress),
        (410, "Unregistered", .forgetAddress),
        (413, "PayloadTooLarge", .reportToOperator(.push)),
        (429, "TooManyProviderTokenUpdates", .reconnect),
        (429, "TooManyRequests", .holdToken),
        (500, "InternalServerError", .holdGateway),
        (503, "ServiceUnavailable", .holdGateway),
        (503, "Shutdown", .reconnect),
    ]

    private func refusal(_ status: Int, _ body: String) -> Refusal? {
        guard case .refused(let refusal) = verdict(status: status, body: Array(body.utf8)) else { return nil }
        return refusal
    }

    @Test(arguments: table)
    func `ref 3: every row of the table is a known reason with its next step`(
        row: (status: Int, reason: String, next: NextStep)
    ) {
        let refusal = refusal(row.status, #"{"reason":"\#(row.reason)"}"#)
        #expect(refusal?.reason.word == row.reason && refusal?.status == row.status)
        #expect(refusal?.nextStep == row.next)
        if case .unlisted? = refusal?.reason { Issue.record("unlisted") }
    }

    @Test func `ref 3: the table knows every reason there is`() {
        #expect(Set(Self.table.map(\.reason)) == Set(RefusalReason.Known.allCases.map(\.rawValue)))
    }

    @Test func `ref K8, B9: other spellings mean the same`() {
        #expect(refusal(403, #"{"reason":"BadEnvironmentKeyInToken"}"#)?.reason == .known(.badEnvironmentKeyIDInToken))
        #expect(refusal(503, #"{"reason":"Service Unavailable"}"#)?.reason == .known(.serviceUnavailable))
    }

    @Test func `L2: a 200 is an acceptance, whatever it says`() {
        #expect(verdict(status: 200, body: []) == .accepted)
        #expect(verdict(status: 201, body: Array(#"{"reason":"BadDeviceToken"}"#.utf8)) == .accepted)
    }

    @Test func `ref R2: the timestamp of a 410 is milliseconds, and of no other status`() {
        let body = #"{ "timestamp" : 1795039200123 , "reason" : "Unregistered" }"#
        #expect(refusal(410, body)?.deadSince == WallTime(milliseconds: 1_795_039_200_123))
        #expect(refusal(400, body)?.deadSince == nil)
        #expect(
            refusal(410, #"{"reason":"Unregistered","timestamp":1.795039200123e12}"#)?.deadSince?.milliseconds
                == 1_795_039_200_123)
        #expect(
            refusal(410, #"{"reason":"Unregistered","timestamp":"1795039200123"}"#)?.deadSince?.milliseconds
                == 1_795_039_200_123)
        #expect(refusal(410, #"{"reason":"Unregistered","timestamp":99999999999999999999}"#)?.deadSince == nil)
    }

    @Test(arguments: [
        "", "{", "null", "[]", #"{"reason":null}"#, #"{"reason":""}"#, #"{"reason":7"#,
        "Maximum active streams violated",
        #"{"other":{"reason":"BadDeviceToken"}}"#, #"{"x":"reason","y":"BadDeviceToken"}"#, "\u{0}\"", #"{"reason"#,
    ])
    func `G3: no reason is an unlisted one that names the status and clears nothing`(body: String) {
        let refusal = refusal(418, body)
        #expect(refusal?.reason == .unlisted(body.contains(":7") ? "7" : "HTTP 418"))
        #expect(refusal?.nextStep == .reportToOperator(.push))
    }

    @Test func `G5: without a listed reason the status tells whose trouble it is`() {
        #expect(refusal(502, "<html>")?.nextStep == .holdGateway)
        #expect(refusal(429, "")?.nextStep == .holdToken)
        #expect(refusal(410, #"{"reason":"Melted"}"#)?.nextStep == .reportToOperator(.push))
    }

    @Test func `a reason is bounded and printable, for it goes into logs and metrics`() {
        let long = String(repeating: "x\u{1}é", count: 500)
        #expect(refusal(400, #"{"reason":"\#(long)"}"#)?.reason == .unlisted(String(repeating: "x", count: 64)))
    }

    @Test(arguments: seeds)
    func `whatever bytes come, reading an answer ends`(seed: UInt64) {
        var random = Seeded(seed)
        let pieces = ["{", "}", "[", "\"", "\\", "reason", ":", ",", " ", "1", "-", "e", "\u{ff}", "timestamp"]
        for _ in 0..<200 {
            let body = (0..<random.next() % 40).map { _ in pieces.randomElement(using: &random).unsafelyUnwrapped }
                .joined()
            #expect(refusal(410, body) != nil, "seed \(seed): \(body)")
        }
    }
}
