import CardRules
import Lanes
import PushPool
import PushWire
import Testing

@testable import Operations

@Suite struct SystemTraceTests {
    private func told(level: LogLevel = .info, _ body: (SystemTrace) -> Void) async throws -> [String] {
        let pages = Pages()
        let log = try Log(level: level, format: .text, isTerminal: false, clock: TestClock()) { pages.take($0) }
        body(SystemTrace(log: log, metrics: SystemMetrics(version: "1")))
        await log.close()
        return pages.lines.map { String($0.dropFirst(25)) }
    }

    @Test func `log: what an operator must act on is an error that says what to do`() async throws {
        let lines = try await told { trace in
            trace.record(.notice(.misconfigured(.app(.production, topic: "a.b"), reason: "TopicDisallowed")))
            trace.record(.notice(.cannotSign(keyID: "KEY1234567", text: "no")))
            trace.record(.storeFailed(.unavailable(detail: "disk full")))
        }
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("ERROR") }, "\(lines)")
        #expect(lines[0].contains("check the app's bundleID") && lines[0].contains("reason=TopicDisallowed"))
        #expect(lines[2].hasSuffix("detail=\"disk full\""), "\(lines[2])")
    }

    @Test func `log: a row that does not parse is named, with what is wrong with it`() async throws {
        let lines = try await told { trace in
            trace.record(.storeFailed(.corrupt(table: "lane", key: "d1", detail: "device: the bytes end at 2")))
        }
        #expect(lines.count == 1 && lines[0].hasPrefix("ERROR"), "\(lines)")
        #expect(lines[0].contains("lane d1") && lines[0].contains("the bytes end at 2"), "\(lines)")
    }

    @Test func `log: what heals by itself is a warning, and that it healed is told`() async throws {
        let lines = try await told { trace in
            trace.record(.notice(.connectionFailed(.sandbox, text: "refused")))
            trace.record(.notice(.healed(.gateway(.sandbox))))
            trace.record(.restarted(DeviceID(unchecked: "d1"), cause: .killed))
        }
        #expect(lines.map { $0.prefix(7) } == ["WARNING", "INFO   ", "WARNING"])
    }

    @Test func `L9: a start that never became a card is alarmed`() async throws {
        let lines = try await told { trace in
            trace.record(
                .decided(
                    DeviceID(unchecked: "d1"),
                    TimelineEntry(
                        at: .distantPast, key: .slate, kind: .start, rule: .l9, detail: "accepted, never adopted")))
        }
        #expect(lines == ["WARNING a start was accepted and never became a card  device=d1  card=slate  rule=L9"])
    }

    @Test func `log: single pushes and decisions are for debug only`() async throws {
        let body: (SystemTrace) -> Void = { trace in
            trace.record(.answered(ApnsID(randomHigh: 1, randomLow: 2), .accepted, seconds: 0.5))
            trace.record(
                .decided(
                    DeviceID(unchecked: "d1"),
                    TimelineEntry(at: .distantPast, key: .slate, kind: .withheld, rule: .s5, detail: "quiet hours")))
        }
        #expect(try await told(body).isEmpty)
        let lines = try await told(level: .debug, body)
        #expect(lines.count == 2 && lines[0].contains("apns-id=00000000-0000-4001-8000-000000000002"), "\(lines)")
        #expect(lines[1].contains("rule=S5"))
    }
}
