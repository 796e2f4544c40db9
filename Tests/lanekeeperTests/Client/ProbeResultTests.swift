import CardRules
import Testing

@testable import lanekeeper

@Suite struct ProbeResultTests {
    private func entry(
        _ at: Int64, _ variant: String?, _ event: String, _ detail: String, push: JSONValue = .null
    ) -> JSONValue {
        .object([
            "at": .integer(at), "kind": .string("probe"), "key": .string("probe"), "rule": .string("P1"),
            "detail": .string(detail), "push": push,
            "probe": .object(["variant": variant.map { .string($0) } ?? .null, "event": .string(event)]),
        ])
    }

    private func answer(_ status: Int64, _ reason: String? = nil) -> JSONValue {
        .object(["status": .integer(status), "reason": reason.map { .string($0) } ?? .null])
    }

    private var entries: [JSONValue] {
        [
            entry(1000, "full", "sent", "variant 1 of 5, full: sent"),
            entry(1001, "full", "accepted", "variant 1 of 5, full: accepted", push: answer(200)),
            entry(1004, "full", "token", "whatever it says"),
            entry(1060, "no-alert", "sent", "variant 2 of 5, no-alert: sent"),
            entry(1061, "no-alert", "accepted", "variant 2 of 5, no-alert: accepted", push: answer(200)),
            entry(1120, "stale-date", "sent", "variant 3 of 5, stale-date: sent"),
            entry(
                1121, "stale-date", "refused", "variant 3 of 5, stale-date: refused: BadDeviceToken",
                push: answer(400, "BadDeviceToken")),
            entry(1180, "no-input-push-token", "sent", "variant 4 of 5, no-input-push-token: sent"),
            entry(1190, "no-input-push-token", "unknown", "variant 4 of 5, no-input-push-token: unknown"),
            entry(
                1200, "no-input-push-token", "dismissed",
                "variant 4 of 5, no-input-push-token: the app reported its card dismissed"),
            entry(
                1240, "bare-content", "skipped",
                "variant 5 of 5, bare-content: not sent, as many cards stand as iOS allows"),
        ]
    }

    @Test func `what became of each variant is gathered from the timeline`() {
        var result = ProbeResult()
        for entry in entries { result.take(entry) }
        #expect(!result.isOver && result.isGood)
        #expect(result.variants.map(\.isOver) == [true, false, true, true, true])
        #expect(result.variants.map(\.answer) == ["200", "200", "400 BadDeviceToken", "unknown", nil])
        #expect(result.variants.map(\.sentAt) == [1000, 1060, 1120, 1180, nil])
        result.take(entry(1661, "no-alert", "unseen", "variant 2 of 5, no-alert: accepted, never adopted"))
        #expect(result.isOver)
        #expect(
            result.lines(withLog: false) == [
                "variant              sent (UTC)  answer              phone",
                "full                 00:16:40    200                 token after 4 s",
                "no-alert             00:17:40    200                 accepted, never adopted",
                "stale-date           00:18:40    400 BadDeviceToken  -",
                "no-input-push-token  00:19:40    unknown             the app reported its card dismissed",
                "bare-content         -           -                   not sent, as many cards stand as iOS allows",
            ])
    }

    @Test func `a probe that is dropped is over, and is not good`() {
        var result = ProbeResult()
        result.take(entries[0])
        result.take(
            entry(
                1001, "full", "refused", "variant 1 of 5, full: refused: TopicDisallowed",
                push: answer(400, "TopicDisallowed")))
        result.take(entry(1050, nil, "dropped", "4 of 5 variants dropped: no push-to-start token is held"))
        #expect(result.isOver && !result.isGood)
        #expect(result.variants.dropFirst().allSatisfy { $0.phone == ["not sent: no push-to-start token is held"] })
    }

    @Test func `the newest probe of a timeline is the one that is told`() {
        let other = JSONValue.object(["kind": .string("update"), "detail": .string("variant 1 of 5, full: sent")])
        let newest = ProbeResult.newest(in: entries + [other] + entries + [other])
        #expect(newest.count == entries.count + 1)
        #expect(ProbeResult.newest(in: [other]).isEmpty)
    }

    @Test func `lines of the phone's log stand beside their start`() throws {
        var result = ProbeResult()
        for entry in entries.prefix(7) { result.take(entry) }
        var reader = DeviceLogReader()
        reader.read(
            Array(
                """
                1970-01-01 00:16:41.1+0000 x Received pushToStart notification for <private>
                1970-01-01 00:16:41.2+0000 x Reduced budget for example.lineup::pushToStart to: 9
                1970-01-01 00:16:41.3+0000 x Activity started\u{1b}[2J
                1970-01-01 00:17:41.3+0000 x Received start without an alert configuration
                """.utf8))
        let linedUp = DeviceLogClock.lineUp(
            reader.end(), sends: result.sends.map(\.at), bundle: nil, assumed: 0)
        result.add(linedUp.perSend)
        let lines = result.lines(withLog: true)
        #expect(lines[1].hasSuffix("received, budget 9 left, started"))
        #expect(lines[2].hasSuffix("refused: no alert"))
        #expect(lines[3].hasSuffix("no line"))
        #expect(result.json[1]?["log"]?[0]?["line"] == .integer(4))
    }
}
