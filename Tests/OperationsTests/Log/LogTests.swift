import CardRules
import Lanes
import Synchronization
import Testing

@testable import Operations

@Suite struct LogTests {
    private func log(
        _ pages: Pages, level: LogLevel = .info, format: LogFormat = .json, isTerminal: Bool = false,
        clock: TestClock = TestClock()
    ) throws -> Log {
        try Log(level: level, format: format, isTerminal: isTerminal, clock: clock) { pages.take($0) }
    }

    @Test func `log: JSON is one object a line, with a constant message and fixed keys`() async throws {
        let pages = Pages()
        let log = try log(pages)
        log.warning(
            "no connection to a gateway",
            [
                .gateway: "production", .seconds: .number(1.5), .count: 3, .changed: .texts(["a", "b"]),
                .detail: "x\n\"y\"",
            ])
        await log.close()
        #expect(
            pages.lines == [
                #"{"time":"2026-11-30T12:31:44.123Z","level":"warning","message":"no connection to a gateway","#
                    + #""gateway":"production","seconds":1.5,"count":3,"changed":["a","b"],"detail":"x\n\"y\""}"#
            ])
    }

    @Test func `log: text is for people, and nothing in a value can move their cursor`() async throws {
        let pages = Pages()
        let log = try log(pages, format: .text)
        log.error("a part failed", [.part: "store", .reason: "it \u{1B}[31m said \"no\"\n"])
        await log.close()
        #expect(
            pages.lines == [
                #"2026-11-30T12:31:44.123Z ERROR   a part failed  part=store  reason="it ?[31m said \"no\"?""#
            ])
    }

    @Test(arguments: [
        (LogFormat.auto, true, false), (.auto, false, true), (.json, true, true), (.text, false, false),
    ])
    func `log: auto is text on a terminal and JSON elsewhere`(format: LogFormat, isTerminal: Bool, isJSON: Bool)
        async throws
    {
        let pages = Pages()
        let log = try log(pages, format: format, isTerminal: isTerminal)
        log.info("ready")
        await log.close()
        #expect(pages.lines.first?.hasPrefix("{") == isJSON)
    }

    @Test func `log: what is below the level is not written, and the level can change`() async throws {
        let pages = Pages()
        let log = try log(pages, level: .warning, format: .text)
        log.info("one")
        log.warning("two")
        log.level = .debug
        log.debug("three")
        log.level = .error
        log.warning("four")
        #expect(log.level == .error)
        await log.close()
        #expect(pages.lines.map { $0.split(separator: " ").last ?? "" } == ["two", "three"])
    }

    @Test func `log: a token is shown by its fingerprint only`() {
        // printf a1b2 | sha256sum
        #expect(LogValue.token([0xA1, 0xB2]) == .text("85337816"))
        guard case .text(let text) = LogValue.token([UInt8](repeating: 0xA1, count: 80)) else {
            Issue.record("no text")
            return
        }
        #expect(text.count == 8 && text.allSatisfy(\.isHexDigit) && !text.contains("a1a1"))
    }

    @Test func `log: a message that comes too often is counted, and told when its span is over`() async throws {
        let pages = Pages()
        let clock = TestClock()
        let log = try log(pages, clock: clock)
        for _ in 0..<100 { log.warning("again") }
        log.warning("another")
        clock.advance(bySeconds: 11)
        log.warning("again")
        await log.close()
        let again = pages.lines.filter { $0.contains(#""message":"again""#) }
        #expect(again.count == 22, "20, one that counts the others, and the one of the next span")
        #expect(again.contains { $0.contains(#""repeated":80"#) })
        #expect(pages.lines.contains { $0.contains("another") })
    }

    @Test func `log: what is still held back is told at the end`() async throws {
        let pages = Pages()
        let log = try log(pages)
        for _ in 0..<25 { log.info("again") }
        await log.close()
        #expect(pages.lines.count == 21 && pages.lines.last?.contains(#""repeated":5"#) == true)
        log.info("later")
        #expect(pages.lines.count == 21)
    }

    @Test func `log: when nobody takes its lines they are dropped and counted, and nobody waits`() async throws {
        let pages = Pages()
        let gate = Box(false)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let log = try Log(level: .debug, format: .json, isTerminal: false, clock: TestClock()) { bytes in
            // The first writing takes as long as the test wants.
            while !gate.value {}
            pages.take(bytes)
            open.finish()
        }
        for _ in 0..<(Log.heldAtMost + 100_000) { log.debug("line") }
        gate.change { $0 = true }
        for await _ in opened {}
        await log.close()
        #expect(pages.lines.last?.contains("lines of the log were dropped") == true)
        #expect(pages.lines.count < Log.heldAtMost * 3)
    }

    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_796_041_904_123, "2026-11-30T12:31:44.123Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ])
    func `log: times are RFC 3339 in UTC`(milliseconds: Int64, expected: String) {
        #expect(isoTime(WallTime(milliseconds: milliseconds)) == expected)
    }
}
