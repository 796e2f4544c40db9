import CardRules
import Lanes
import PushWire
import Simulation
import Testing

/// A day of sessions and a slate on one simulated phone: what its owner sees, judged from the phone's side (I4, I8).
@Suite(.timeLimit(.minutes(5))) struct SessionDayTests {
    /// Saturday 2026-01-10, 08:00 UTC.
    private static let morning = WallTime(seconds: Int64(1_768_032_000))
    private static func clock(_ hours: Double) -> WallTime { morning.advanced(bySeconds: (hours - 8) * 3600) }

    /// What the caller has said of each session, for whoever looks at the phone.
    private final class Book {
        var content: [CardKey: (text: String, since: WallTime)] = [:]
        var stoppedAt: [CardKey: WallTime] = [:]
        var openedAt: [CardKey: WallTime] = [:]
        /// Keys with two cards alive, and since when.
        var doubled: [CardKey: WallTime] = [:]
        var faults: [String] = []
        var dark: [CardKey: (from: WallTime, seconds: Double)] = [:]
    }

    private func put(_ day: PhoneDay, _ book: Book, _ key: CardKey, at: WallTime, began: WallTime, paused: Bool) {
        day.at(at) { system in
            let content = JSONValue.object(["paused": .bool(paused), "startedAt": .integer(began.unixSeconds)])
            let terms = SessionTerms(
                devices: ["d1"], attributesType: "SleepAttributes", attributes: .object(["session": .string(key.text)]),
                content: content, title: "Sleep", startedAt: began, isUrgent: true)
            _ = try await system.put(key, terms)
            if book.openedAt[key] == nil { book.openedAt[key] = at }
            book.content[key] = ("{\"paused\":\(paused),\"startedAt\":\(began.unixSeconds)}", at)
        }
    }

    private func stop(_ day: PhoneDay, _ book: Book, _ key: CardKey, at: WallTime) {
        day.at(at) { system in
            _ = try await system.stop(key)
            book.stoppedAt[key] = at
        }
    }

    private func judge(_ day: PhoneDay, _ book: Book, at now: WallTime, mayBeDark: (WallTime) -> Bool) {
        for (key, opened) in book.openedAt {
            let alive = day.alive(key)
            if let stopped = book.stoppedAt[key] {
                if !alive.isEmpty, now.seconds(since: stopped) > 60 { book.faults.append("I8: \(key) stands, \(now)") }
                continue
            }
            if alive.count > 1 {
                let since = book.doubled[key] ?? now
                book.doubled[key] = since
                if now.seconds(since: since) > 60 { book.faults.append("I1: \(key) twice since \(since)") }
            } else {
                book.doubled[key] = nil
            }
            if alive.isEmpty, now.seconds(since: opened) > 5 {
                if !mayBeDark(now) { book.faults.append("I4: \(key) is dark at \(now)") }
                let from = book.dark[key]?.from ?? now
                book.dark[key] = (from, now.seconds(since: from))
            }
            if let (text, since) = book.content[key], now.seconds(since: since) > 20, let card = alive.last,
                card.session.map({ String(decoding: $0, as: UTF8.self) }) != text
            {
                book.faults.append("I6: \(key) does not show \(text) at \(now)")
            }
        }
    }

    private func play(_ day: PhoneDay, _ game: GameID, from start: Double, to end: Double) {
        for step in stride(from: start, through: end, by: 0.25) {
            day.at(Self.clock(step)) { [rig = day.rig] system in
                try await rig.play(
                    game, goals: Int((step - start) * 4), phase: step >= end ? .final : .live, on: system)
            }
        }
    }

    /// Nothing is done, but the phone is looked at.
    private func lookEachMinute(_ day: PhoneDay, until end: Double) {
        for minute in 0..<Int((end - 8) * 60) { day.at(Self.morning.advanced(bySeconds: Double(minute) * 60)) { _ in } }
    }

    private func wholeDay(_ day: PhoneDay, _ book: Book) {
        lookEachMinute(day, until: 32)
        put(day, book, "nap-1", at: Self.clock(9), began: Self.clock(9), paused: false)
        put(day, book, "nap-1", at: Self.clock(9.5), began: Self.clock(9), paused: true)
        put(day, book, "nap-1", at: Self.clock(9.7), began: Self.clock(9), paused: false)
        stop(day, book, "nap-1", at: Self.clock(10.5))
        put(day, book, "nap-2", at: Self.clock(13), began: Self.clock(12.9), paused: false)
        stop(day, book, "nap-2", at: Self.clock(14.75))
        put(day, book, "sleep", at: Self.clock(19.5), began: Self.clock(19.5), paused: false)
        put(day, book, "sleep", at: Self.clock(27.2), began: Self.clock(19.5), paused: true)
        put(day, book, "sleep", at: Self.clock(27.3), began: Self.clock(19.5), paused: false)
        stop(day, book, "sleep", at: Self.clock(31))
        play(day, "g1", from: 18, to: 22)
        play(day, "g2", from: 21.5, to: 26.5)
    }

    @Test(arguments: [[], [23.0, 27.26]])
    func `I4, I8: two naps, a night sleep and a slate come through a day without a lost timer`(restarts: [Double])
        async throws
    {
        let day = PhoneDay(from: Self.morning)
        let book = Book()
        wholeDay(day, book)
        var slateDark: [WallTime] = []
        day.watch = { now in
            judge(day, book, at: now) { _ in false }
            let playing = now > Self.clock(18.1) && now < Self.clock(26.5)
            if playing, day.alive(.slate).isEmpty { slateDark.append(now) }
        }
        try await day.run(until: Self.clock(32), restarts: restarts.map(Self.clock))
        #expect(book.faults == [])
        #expect(slateDark == [])
        #expect(book.stoppedAt.count == 3)
        // The night sleep stood for more than eleven hours: its card was reissued, and so was the slate's.
        #expect(day.pusher.sent.count { $0.request.event == .start } == 6)
        #expect(day.cards.allSatisfy { !$0.isAlive })
        #expect(day.fleet.phone(0).startBudget >= 0)
    }

    @Test func `R5: with quiet hours around it a night sleep is dark only from its limit until they are over`()
        async throws
    {
        let day = PhoneDay(quietHours: QuietHours(fromMinute: 22 * 60 + 30, toMinute: 6 * 60 + 30), from: Self.morning)
        let book = Book()
        wholeDay(day, book)
        // Started at 19:30: ended at 03:29, a minute before its limit, and back at 06:30.
        let (from, to) = (Self.clock(27.48), Self.clock(30.51))
        day.watch = { now in judge(day, book, at: now) { from < $0 && $0 < to } }
        try await day.run(until: Self.clock(32))
        #expect(book.faults == [])
        let dark = try #require(book.dark["sleep"])
        #expect(dark.from >= from && dark.seconds > 3 * 3600 - 120)
    }

    @Test func `R3: starts refused for ten minutes around the due time lose no timer`() async throws {
        let day = PhoneDay(from: Self.morning)
        let book = Book()
        lookEachMinute(day, until: 21)
        put(day, book, "sleep", at: Self.clock(9), began: Self.clock(9), paused: false)
        day.at(Self.clock(16.6)) { [pusher = day.pusher] _ in
            pusher.answerStarts(.refused(Refusal(.known(.serviceUnavailable), status: 503)))
        }
        day.at(Self.clock(16.85)) { [pusher = day.pusher] _ in pusher.answerStarts(nil) }
        stop(day, book, "sleep", at: Self.clock(20))
        day.watch = { now in judge(day, book, at: now) { _ in false } }
        try await day.run(until: Self.clock(21))
        #expect(book.faults == [])
        let starts = day.pusher.sent.count { $0.request.event == .start }
        #expect((4...10).contains(starts))
    }
}
