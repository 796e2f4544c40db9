import Testing

@testable import lanekeeper

/// Every id, bundle and time is made up; texts are those of public reports.
@Suite struct DeviceLogTests {
    private func read(_ bytes: [UInt8], pieces: Int = 7) -> [DeviceLogEntry] {
        var reader = DeviceLogReader()
        var rest = bytes[...]
        while !rest.isEmpty {
            reader.read(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
        }
        return reader.end()
    }

    private func read(_ text: String, pieces: Int = 7) -> [DeviceLogEntry] { read(Array(text.utf8), pieces: pieces) }

    // 2026-07-18 19:15:04 UTC, the send that the samples' lines follow.
    private let sent = 1_784_402_100.0

    @Test(arguments: [
        // Console.app, log show compact, log show default, ndjson, syslog relay: one message, five frames.
        "error\t20:15:04.512345+0100\tliveactivitiesd\tReceived start without an alert configuration",
        "2026-07-18 20:15:04.512 E  liveactivitiesd[202:1a2b3] [com.apple.activitykit:default] Received start without an alert configuration",
        "2026-07-18 20:15:04.512345+0100 0x1a2b3 Error 0x0 202 0 liveactivitiesd: (SessionCore) Received start without an alert configuration",
        #"{"eventMessage":"Received start without an alert configuration","processID":202,"timestamp":"2026-07-18 20:15:04.512345+0100"}"#,
        "Jul 18 20:15:04 iPhone liveactivitiesd(SessionCore)[202] <Error>: Received start without an alert configuration",
        "  error   20:15:04.512345+0100     liveactivitiesd    Received start without an alert con",
    ])
    func `a message is found in every tool's frame, also cut off, and lined up with its send`(line: String) throws {
        let entries = read("\(line)\n")
        let entry = try #require(entries.first)
        #expect(entries.count == 1 && entry.event == .noAlert && entry.line == 1)
        let linedUp = DeviceLogClock.lineUp(entries, sends: [sent, sent + 60], bundle: "example.lineup", assumed: 0)
        #expect(linedUp.perSend == [[entry], []] && linedUp.others == 0)
    }

    @Test func `budgets are read with their app and number, below zero too`() {
        let entries = read(
            """
            default\t20:15:04.1+0100\tliveactivitiesd\tReceived pushToStart notification for <private>
            default\t20:15:04.2+0100\tliveactivitiesd\tReduced budget for example.lineup::pushToStart to: 9
            default\t20:16:04.2+0100\tliveactivitiesd\tReduced budget for <private> to: -5
            error\t20:17:04.2+0100\tliveactivitiesd\tPush-to-start budget exceeded for example.lineup::pushToStart; not starting activity
            error\t20:17:04.3+0100\tliveactivitiesd\tPush-to-start budget exceeded for other.app; not starting activity
            error\t20:17:04.4+0100\tliveactivitiesd\tPush-to-start budget exceeded for example.li
            default\t20:17:05+0100\tSpringBoard\tNothing of ours: Activity
            """)
        #expect(
            entries.map(\.event) == [
                .received, .budgetReduced, .budgetReduced, .budgetExceeded, .budgetExceeded, .budgetExceeded,
            ])
        #expect(entries.map(\.budget) == [nil, 9, -5, nil, nil, nil])
        #expect(
            entries.map(\.bundle) == [nil, "example.lineup", nil, "example.lineup", "other.app", "example.li"])
        #expect(entries.map { $0.concerns("example.lineup") } == [true, true, true, true, false, true])
        #expect(entries.map { $0.concerns(nil) }.allSatisfy { $0 })
        #expect(entries[1].words == "budget 9 left" && entries[2].words == "budget -5 left")
    }

    @Test func `the same line twice is one, and lines between keep their numbers`() {
        let line = "2026-07-18 20:15:04.512 Df liveactivitiesd[202:2] Activity did start A1B2"
        let entries = read("\(line)\r\n\(line)\r\n\r\nother\r\nJul 18 20:16:00 iPhone x: Activity started\r\n")
        #expect(entries.map(\.line) == [1, 5] && entries.map(\.times) == [2, 1])
        #expect(entries.first?.words == "started (2 times)")
    }

    @Test(arguments: [1, 2, 3, 1000])
    func `UTF-16 of both orders, a byte order mark and broken bytes are read`(pieces: Int) {
        let text = "20:15:04+0100 x Activity started ü\nJul 18 20:15:04 y Activity did start"
        var little: [UInt8] = [0xff, 0xfe]
        var big: [UInt8] = [0xfe, 0xff]
        for unit in text.utf16 {
            little += [UInt8(unit & 0xff), UInt8(unit >> 8)]
            big += [UInt8(unit >> 8), UInt8(unit & 0xff)]
        }
        for bytes in [little, big, [0xef, 0xbb, 0xbf] + Array(text.utf8), [0xff, 0xc0, 0x0a] + Array(text.utf8)] {
            let entries = read(bytes, pieces: pieces)
            #expect(entries.map(\.event) == [.started, .started])
            #expect(entries.map(\.time?.offsetSeconds) == [3600, nil])
        }
        #expect(read([0x41]).isEmpty && read([]).isEmpty)
    }

    @Test func `a line without end and more lines than are kept stay bounded`() {
        var reader = DeviceLogReader()
        reader.read([UInt8](repeating: 0x78, count: 3 * DeviceLogReader.lineBytes))
        reader.read(Array("Activity started\nActivity started 1\n".utf8))
        #expect(reader.end().map(\.line) == [2])
        var many = DeviceLogReader()
        for number in 0..<(DeviceLogReader.entries + 5) { many.read(Array("Activity started \(number)\n".utf8)) }
        #expect(many.end().count == DeviceLogReader.entries && many.leftOut == 5)
    }

    @Test func `a log without a zone goes by the clock in which the sends find their lines`() throws {
        // Five sends a minute apart, on a phone nine and a half hours east of Greenwich, over its midnight.
        let sends = (0..<5).map { 1_784_298_480.0 + Double($0) * 60 }  // 2026-07-17 14:28:00 UTC
        let text = (0..<5).map { number in
            let minute = 58 + number
            let (day, clock) = minute < 60 ? ("17", "23:\(minute)") : ("18", "00:0\(minute - 60)")
            return "2026-07-\(day) \(clock):01.5 Df liveactivitiesd[2:3] Activity started \(number)"
        }
        let entries = read(text.joined(separator: "\n"))
        let linedUp = DeviceLogClock.lineUp(entries, sends: sends, bundle: nil, assumed: 7200)
        #expect(linedUp.clock?.offsetSeconds == 34_200 && linedUp.clock?.isFound == true)
        #expect(linedUp.perSend == entries.map { [$0] })
        // Nothing fits: this machine's own offset, and the lines stand beside no send.
        let strange = DeviceLogClock.lineUp(entries, sends: [sends[0] + 5_000_000], bundle: nil, assumed: 7200)
        #expect(strange.clock?.offsetSeconds == 7200 && strange.clock?.isFound == false && strange.others == 5)
        #expect(DeviceLogClock.lineUp(entries, sends: [], bundle: nil, assumed: 0).others == 5)
    }

    @Test func `a copy without a day, or without a year, is of the day nearest to the sends`() {
        let sends = [1_767_225_597.0]  // 2025-12-31 23:59:57 UTC
        let entries = read(
            """
            00:00:01.25+0000 liveactivitiesd Activity started a
            Dec 31 23:59:58 iPhone liveactivitiesd Activity started b
            Jan  1 00:00:02 iPhone liveactivitiesd Activity started c
            """)
        let linedUp = DeviceLogClock.lineUp(entries, sends: sends, bundle: nil, assumed: 0)
        #expect(linedUp.perSend == [entries])
    }

    @Test(arguments: [
        ("2026-07-18T20:15:04Z", 72_904.0, 0), ("x 2026/07/18 20:15:04,5+01:00", 72_904.5, 3600),
        ("1.20:15:04 09:00:00-0330", 32_400, -12_600), ("[20:15:04]", 72_904, nil),
    ])
    func `times are read in their usual spellings`(text: String, second: Double, offset: Int?) {
        let time = DeviceLogTime.find(in: Array(text.utf8)[...])
        #expect(time?.secondOfDay == second && time?.offsetSeconds == offset)
    }

    @Test(arguments: [
        "", "7:00:00", "2026-13-01 00", "25:00:00", "Jux 18 20:15:0", "123:45:67", "A1B2C3D4-0000-4000-8000",
    ])
    func `what is no time is none`(text: String) {
        #expect(DeviceLogTime.find(in: Array(text.utf8)[...]) == nil)
    }
}
