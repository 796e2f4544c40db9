import CardRules
import Testing

@testable import Simulation

/// I4 and I8: cards of sessions.
@Suite struct JudgeSessionTests {
    private static let nap = CardKey(unchecked: "nap")
    private static let card: [String: String?] = [
        "attributes-type": #""SleepAttributes""#, "attributes": #"{"session":"nap"}"#, "content-state": #"{"count":0}"#,
    ]

    /// A phone on which the session's card stands since 100 s, confirmed.
    private static func standing(_ change: (inout PhoneProfile) -> Void = { _ in }) -> Courtroom {
        var court = Courtroom(Sample.profile(change: change))
        court.judge.sessionOpens(nap, phones: [0], at: court.at(90))
        court.start(at: 100, change: card)
        court.run(200)
        return court
    }

    private static func end(_ court: inout Courtroom, at seconds: Double, isLost: Bool = false) {
        court.push(
            Sample.aps(
                [
                    "event": #""end""#, "timestamp": "\(Handset.stamp(Int64(seconds)))",
                    "content-state": #"{"count":1}"#,
                ], [:]),
            to: .activity(court.phone.cards[0].activity), at: seconds, isLost: isLost)
    }

    @Test func `I8: a card that stands a minute after its session was stopped is found, once`() {
        var court = Self.standing()
        court.judge.sessionStops(Self.nap, at: court.at(1000))
        court.run(1050)
        #expect(court.broken[.i8] == nil)
        court.run(1300)
        #expect(court.broken == [.i8: 1], "\(court.sentences)")
    }

    @Test(arguments: [false, true])
    func `I8: an end in time, or one that APNs accepted and lost, is none of the server's`(isLost: Bool) {
        var court = Self.standing()
        court.judge.sessionStops(Self.nap, at: court.at(1000))
        Self.end(&court, at: 1010, isLost: isLost)
        court.run(1300)
        #expect(court.broken.isEmpty, "\(court.sentences)")
        #expect(court.phone.cards[0].isAlive == isLost)
    }

    @Test func `I8: while the phone is out of reach nobody can end its card; a minute after it is back it is found`() {
        var court = Self.standing()
        court.judge.phone(0, isOffline: true, at: court.at(900))
        court.judge.sessionStops(Self.nap, at: court.at(1000))
        court.run(2000)
        #expect(court.broken[.i8] == nil)
        court.judge.phone(0, isOffline: false, at: court.at(2000))
        court.run(2100)
        #expect(court.broken[.i8] == 1)
    }

    @Test func `I4: a card of a running session that reaches its limit alone is found`() {
        var court = Self.standing()
        court.run(28_890)
        #expect(court.broken[.i4] == nil)
        court.run(28_910)
        #expect(court.broken[.i4] == 1, "\(court.sentences)")
    }

    @Test func `I4: one whose successor stood before is not`() {
        var court = Self.standing()
        court.start(at: 28_000, change: Self.card)
        Self.end(&court, at: 28_010)
        court.run(29_000)
        #expect(court.broken.isEmpty, "\(court.sentences)")
    }

    @Test func `I4: nor one that ends by L8 in quiet hours, or after its session was stopped`() {
        var quiet = Self.standing { $0.quietHours = QuietHours(fromMinute: 0, toMinute: 720) }
        quiet.run(28_910)
        #expect(quiet.broken[.i4] == nil)
        var stopped = Self.standing()
        stopped.judge.sessionStops(Self.nap, at: stopped.at(28_880))
        stopped.run(28_910)
        #expect(stopped.broken[.i4] == nil)
    }

    @Test func `I2: a second start of one session before any acknowledgement is found`() {
        var court = Courtroom(Sample.profile { $0.forceQuits = true })
        court.run(100)  // the owner closes the app for good: nothing is acknowledged
        court.start(at: 200, change: Self.card)
        Self.end(&court, at: 300)
        #expect(court.broken[.i2] == nil)
        court.start(at: 1200, change: Self.card)
        #expect(court.broken[.i2] == 1, "\(court.sentences)")
    }
}
