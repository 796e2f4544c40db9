import CardRules
import Testing

@testable import Simulation

/// One phone under a judge, with the gateway's place taken by the test. Times are seconds of the evening.
struct Courtroom {
    var judge = Judge()
    var phone: Phone
    private var reader = PushReader()
    private var pushes = 0
    private var sweptTo = 0.0

    init(_ profile: PhoneProfile, judge: Judge = Judge()) {
        self.judge = judge
        phone = Phone(number: 0, profile: profile, seed: 3)
        let g1 = GameID(unchecked: "g1")
        self.judge.sees(game: g1, startsAt: Sample.evening, phase: .live, home: 1, away: 0, at: at(-100))
        run(0)
    }

    func at(_ seconds: Double) -> WallTime { Sample.evening.advanced(bySeconds: seconds) }

    /// Runs the phone, and the judge's sweep every ten seconds.
    mutating func run(_ seconds: Double) {
        while sweptTo <= seconds {
            step(sweptTo)
            judge.check(at: at(sweptTo))
            sweptTo += 10
        }
        step(seconds)
    }

    private mutating func step(_ seconds: Double) {
        var output = PhoneOutput()
        phone.run(until: at(seconds), into: &output)
        take(output)
    }

    private mutating func take(_ output: PhoneOutput) {
        for (at, event) in output.events { judge.sees(event, on: 0, at: at) }
        for report in output.reports { judge.sees(report) }
    }

    mutating func push(
        _ payload: [UInt8], to target: PushTarget, at seconds: Double, status: Int = 200, reason: String? = nil,
        type: String = "liveactivity", answerArrives: Bool = true, number: Int? = nil, isLost: Bool = false,
        queuedAt: Double? = nil
    ) {
        run(seconds)
        pushes += 1
        let push = Sample.push(payload, number: number ?? pushes, type: type)
        var attempt = PushAttempt(
            at: at(seconds), gateway: .production, token: [1, 2, 3], push: push, status: status, reason: reason,
            answerArrives: answerArrives, isLost: isLost, phone: 0, target: target)
        attempt.queuedAt = queuedAt.map(at)
        judge.sees(attempt)
        guard status == 200, !isLost else { return }
        var output = PhoneOutput()
        phone.receive(push, read: reader.read(push), for: target, at: at(seconds), into: &output)
        take(output)
    }

    mutating func start(
        _ content: SlateContent = Sample.content([Sample.game("g1")]), at seconds: Double, stamp: Int64? = nil,
        change: [String: String?] = [:]
    ) {
        push(
            Sample.start(content, timestamp: Handset.stamp(stamp ?? Int64(seconds)), change: change), to: .pushToStart,
            at: seconds)
    }

    mutating func update(
        _ content: SlateContent = Sample.content([Sample.game("g1")]), at seconds: Double, stamp: Int64? = nil,
        status: Int = 200, reason: String? = nil, answerArrives: Bool = true
    ) {
        push(
            Sample.update(content, timestamp: Handset.stamp(stamp ?? Int64(seconds))), to: target, at: seconds,
            status: status, reason: reason, answerArrives: answerArrives)
    }

    mutating func end(at seconds: Double, isLost: Bool = false) {
        push(Sample.end(timestamp: Handset.stamp(Int64(seconds))), to: target, at: seconds, isLost: isLost)
    }

    mutating func game(_ id: String, _ phase: Phase, _ home: Int, _ away: Int, at seconds: Double) {
        run(seconds)
        judge.sees(
            game: GameID(unchecked: id), startsAt: Sample.evening, phase: phase, home: home, away: away, at: at(seconds)
        )
    }

    var target: PushTarget { phone.cards.last.map { .activity($0.activity) } ?? .pushToStart }

    /// How often each was broken.
    var broken: [Invariant: Int] { judge.report(at: at(sweptTo)).counts }
    var sentences: [String] { judge.report(at: at(sweptTo)).violations.map(\.detail) }
}

@Suite struct JudgeTests {
    static let plain = Sample.profile()
    static func choosing(_ games: [String], pinned: String? = nil, muted: [String] = [], openings: [Double] = [0])
        -> PhoneProfile
    {
        Sample.profile(openings: openings) {
            $0.openings[0].choice = PhoneProfile.Choice(
                games: games.map { GameID(unchecked: $0) }, pinned: pinned.map { GameID(unchecked: $0) },
                muted: muted.map { GameID(unchecked: $0) })
        }
    }
    static func two(_ first: String, _ second: String) -> SlateContent {
        Sample.content([Sample.game(first), Sample.game(second)])
    }

    @Test func `a good night breaks nothing`() {
        var court = Courtroom(Self.choosing(["g1"]))
        court.start(at: 60)
        court.game("g1", .live, 2, 0, at: 200)
        court.update(Sample.content([Sample.game("g1", home: 2)]), at: 210)
        court.game("g1", .final, 2, 0, at: 1000)
        court.update(Sample.content([Sample.game("g1", phase: .final, home: 2)]), at: 1001)
        court.push(
            Sample.end(Sample.content([Sample.game("g1", phase: .final, home: 2)]), timestamp: Handset.stamp(1300)),
            to: court.target, at: 1300)
        court.run(2000)
        #expect(court.broken.isEmpty, "\(court.sentences)")
        let report = court.judge.report(at: court.at(2000))
        #expect(report.tally.startedByPush == 1 && report.tally.updates == 3 && report.tally.ended == [.push: 1])
        #expect(report.standing == 0)
    }

    @Test func `I1: a second server-started card beside a young one is found, a reissue is not`() {
        var court = Courtroom(Self.plain)
        court.start(at: 60)
        court.start(at: 27_841)
        #expect(court.broken[.i1] == nil)
        court.start(at: 28_000)
        #expect(court.broken[.i1] == 1)
    }

    @Test func `I2: a second start before any acknowledgement, and a fifth after it, are found`() {
        var court = Courtroom(Sample.profile { $0.forceQuits = true })
        court.start(at: 100)
        #expect(court.broken[.i2] == nil)
        court.start(at: 800)
        #expect(court.broken[.i2] == 1)

        var other = Courtroom(Self.plain)
        for number in 0..<5 {
            other.start(at: 100 + Double(number) * 700)
            other.run(100 + Double(number) * 700 + 20)
            other.end(at: 100 + Double(number) * 700 + 30)
            #expect(other.broken[.i2] == (number == 4 ? 1 : nil))
        }
    }

    @Test func `I2: more than ten starts of any cause are found, and a new night begins anew`() {
        var judge = Judge()
        var phone = PhoneView()
        func start(_ number: Int, at now: WallTime) {
            judge.sees(
                PushAttempt(
                    at: now, gateway: .production, token: [1],
                    push: Sample.push(Sample.start(timestamp: now.unixSeconds), number: number), status: 200, phone: 0,
                    target: .pushToStart))
        }
        phone.starts[.slate] = PhoneView.Starts(ordinary: -20, isAcknowledged: true)
        phone.night = nightNumber(at: Sample.evening, zone: "UTC", rollsAtMinute: 360)
        judge.phones = [phone]
        for number in 1...10 { start(number, at: Sample.evening) }
        #expect(judge.counts[.i2] == nil)
        start(11, at: Sample.evening)
        #expect(judge.counts[.i2] == 1)
        start(12, at: Sample.evening.advanced(bySeconds: 86_400))
        #expect(judge.counts[.i2] == 1)
    }

    static let badStarts: [[String: String?]] = [
        ["alert": nil], ["alert": #"{"title":"","body":"b"}"#], ["alert": #"{"title":"t"}"#],
        ["stale-date": "1795050000"],
    ]

    @Test(arguments: badStarts)
    func `I3: a start without a whole alert, or with a stale-date, is found`(change: [String: String?]) {
        var court = Courtroom(Self.plain)
        court.start(at: 100, change: change)
        #expect(court.broken == [.i3: 1])
    }

    static let spoilers: [(SlateContent, [String: String?])] = [
        (Sample.content([Sample.game("g1")], spoilerFree: true), [:]),
        (Sample.content([Sample.game("g1", home: nil, away: nil)]), [:]),
        (
            Sample.content([Sample.game("g1", home: nil, away: nil)], spoilerFree: true),
            ["alert": #"{"title":"Away g1 at Home g1","body":"3 all"}"#]
        ),
        (
            Sample.content([Sample.game("g1", home: nil, away: nil)], spoilerFree: true),
            ["alert": #"{"title":"Away g1 at Home g1","body":"Overtime!"}"#]
        ),
    ]

    @Test(arguments: spoilers)
    func `I3: a spoiler on a phone that wants none is found`(content: SlateContent, change: [String: String?]) {
        var court = Courtroom(Sample.profile { $0.spoilerFree = true })
        court.start(
            Sample.content([Sample.game("g1", home: nil, away: nil)], spoilerFree: true), at: 100,
            change: ["alert": #"{"title":"Away g1 at Home g1","body":"Worth watching now"}"#])
        #expect(court.broken.isEmpty, "\(court.sentences)")
        court.push(
            Sample.start(content, timestamp: Handset.stamp(200), change: change), to: .pushToStart, at: 200)
        #expect(court.broken[.i3] == 1, "\(court.sentences)")
    }

    @Test func `I3: a period beyond regulation on a spoiler-free card is found`() {
        var court = Courtroom(Sample.profile { $0.spoilerFree = true })
        court.judge.sees(
            game: GameID(unchecked: "g1"), sport: .hockey, phase: .live, home: 1, away: 1, period: 4, at: court.at(0))
        let old = court.at(-10).unixSeconds
        court.start(Sample.content([Sample.game("g1", home: nil, away: nil)], spoilerFree: true, asOf: old), at: 100)
        #expect(court.broken[.i3] == nil, "what was made before cannot know it")
        let now = court.at(90).unixSeconds
        court.push(
            Sample.start(
                Sample.content([Sample.game("g1", home: nil, away: nil)], spoilerFree: true, asOf: now),
                timestamp: Handset.stamp(200)), to: .pushToStart, at: 200)
        #expect(court.broken[.i3] == 1, "\(court.sentences)")
    }

    @Test func `I3: a background push is found`() {
        var court = Courtroom(Self.plain)
        court.push(Array(#"{"aps":{"content-available":1}}"#.utf8), to: .pushToStart, at: 10, type: "background")
        court.push(Array(#"{"aps":{"content-available":1}}"#.utf8), to: .pushToStart, at: 20)
        #expect(court.broken == [.i3: 2])
    }

    @Test func `I5: a push to a card of more than eight hours is found`() {
        var court = Courtroom(Self.plain)
        court.start(at: 100)
        court.end(at: 100 + 28_800)
        #expect(court.broken[.i5] == nil)
        court.end(at: 100 + 28_810)
        #expect(court.broken[.i5] == 1)
    }

    @Test func `I5: a push to a card that the app reported over, or whose token is gone, is found`() {
        var court = Courtroom(Sample.profile(openings: [0, 600]) { $0.swipesAfter = 300 })
        court.start(at: 100)
        court.run(700)
        court.end(at: 710)
        #expect(court.broken[.i5] == 1)

        var other = Courtroom(Self.plain)
        other.start(at: 100)
        other.update(Sample.content([Sample.game("g1", home: 2)]), at: 200, status: 410, reason: "ExpiredToken")
        other.update(Sample.content([Sample.game("g1", home: 2)]), at: 201)
        #expect(other.broken[.i5] == nil)
        other.update(Sample.content([Sample.game("g1", home: 3)]), at: 300)
        #expect(other.broken[.i5] == 1)
    }

    @Test func `I6: a score that stays wrong for more than a minute is found once, and not while faults last`() {
        for isDisturbed in [false, true] {
            var court = Courtroom(Self.choosing(["g1"]))
            court.start(at: 60)
            court.run(150)
            court.game("g1", .live, 2, 0, at: 200)
            if isDisturbed { court.judge.isDisturbed() }
            court.run(260)
            #expect(court.broken[.i6] == nil)
            court.run(400)
            #expect(court.broken[.i6] == (isDisturbed ? nil : 1))
            guard isDisturbed else { continue }
            court.judge.calms(at: court.at(400))
            court.run(460)
            #expect(court.broken[.i6] == nil)
            court.run(480)
            #expect(court.broken[.i6] == 1)
        }
    }

    @Test func `I6: a card that stands though its game left the window is found`() {
        var court = Courtroom(Self.choosing(["g1"]))
        court.start(at: 60)
        court.game("g1", .final, 1, 0, at: 500)
        court.update(Sample.content([Sample.game("g1", phase: .final)]), at: 501)
        court.run(860)
        #expect(court.broken[.i6] == nil)
        court.run(880)
        #expect(court.broken[.i6] == 1)
    }

    @Test func `I6: a chosen game that is missing, a muted one and one off the list are found`() {
        var court = Courtroom(Self.choosing(["g1", "g2"]))
        court.game("g2", .live, 1, 0, at: 5)
        court.start(at: 30)
        court.run(200)
        #expect(court.sentences == ["g2 is chosen, in the window and not shown"])

        var muted = Courtroom(Self.choosing(["g1", "g2"], muted: ["g2"]))
        muted.game("g2", .live, 1, 0, at: 5)
        muted.start(Self.two("g1", "g2"), at: 30)
        muted.run(200)
        #expect(muted.sentences == ["g2 is shown and muted"])

        var profile = Self.choosing(["g1", "g2"], openings: [0, 300])
        profile.openings[1].choice = PhoneProfile.Choice(games: [GameID(unchecked: "g1")])
        var listed = Courtroom(profile)
        listed.game("g2", .live, 1, 0, at: 5)
        listed.start(Self.two("g1", "g2"), at: 30)
        listed.run(350)
        #expect(listed.sentences.isEmpty)
        listed.run(400)
        #expect(listed.sentences == ["g2 is shown and off the app's list"])
    }

    @Test func `I6: a phone whose chosen game is on and that got no start is found`() {
        var court = Courtroom(Self.choosing(["g1"]))
        court.run(90)
        #expect(court.broken[.i6] == nil)
        court.run(120)
        #expect(court.broken[.i6] == 1)
    }

    @Test func `I7: clearing a token that lives, or that nobody refused for good, is found`() {
        var court = Courtroom(Self.plain)
        let address = PushAddress(token: [1, 2, 3], gateway: .production)
        court.judge.serverClears(address, phone: 0, isLive: true, at: court.at(1))
        court.judge.serverClears(address, phone: nil, isLive: false, at: court.at(2))
        #expect(court.broken == [.i7: 2])
        court.update(at: 3, status: 400, reason: "BadDeviceToken")
        court.judge.serverClears(address, phone: nil, isLive: false, at: court.at(4))
        #expect(court.broken == [.i7: 3])
        court.judge.sees(
            PushAttempt(
                at: court.at(5), gateway: .sandbox, token: [1, 2, 3], push: Sample.push([], number: 99), status: 400,
                reason: "BadDeviceToken", phone: nil, target: nil))
        court.judge.serverClears(address, phone: nil, isLive: false, at: court.at(6))
        #expect(court.broken == [.i7: 3])
    }

    @Test
    func `I2: a start in quiet hours, signed out, soon after a selection or a start, or after a dismissal is found`() {
        // Midnight in UTC.
        var quiet = Courtroom(Sample.profile { $0.quietHours = QuietHours(fromMinute: 1380, toMinute: 420) })
        quiet.start(at: 300)
        #expect(quiet.broken == [.i2: 1])
        var loud = Courtroom(Sample.profile { $0.quietHours = QuietHours(fromMinute: 60, toMinute: 420) })
        loud.start(at: 300)
        #expect(loud.broken.isEmpty, "\(loud.sentences)")

        var nobody = Courtroom(Sample.profile { $0.user = nil })
        nobody.start(at: 300)
        #expect(nobody.broken == [.i2: 1])

        var hasty = Courtroom(Self.choosing(["g1"]))
        hasty.start(at: 20)
        #expect(hasty.broken == [.i2: 1])
        var patient = Courtroom(Self.choosing(["g1"]))
        patient.start(at: 31)
        #expect(patient.broken.isEmpty, "\(patient.sentences)")

        var again = Courtroom(Sample.profile())
        again.start(at: 100)
        again.start(at: 600)
        #expect(again.broken[.i2] != nil && again.sentences.contains { $0.contains("(S10)") }, "\(again.sentences)")

        var swiped = Courtroom(Sample.profile(openings: [0, 600]) { $0.swipesAfter = 300 })
        swiped.start(at: 100)  // swiped away at 400, reported at 600
        swiped.start(at: 900)
        #expect(swiped.sentences.contains { $0.contains("(S9)") }, "\(swiped.sentences)")
    }

    @Test func `I9: a takeover soon after the selection, over a pin, or by a muted game is found`() {
        func court(_ profile: PhoneProfile) -> Courtroom {
            var court = Courtroom(profile)
            court.game("g2", .live, 1, 0, at: 1)
            court.start(Self.two("g1", "g2"), at: 5, stamp: -60)  // decided before the selection came
            return court
        }
        var hasty = court(Self.choosing(["g1", "g2"]))
        hasty.update(Self.two("g2", "g1"), at: 29)
        #expect(hasty.broken == [.i9: 1])
        hasty.update(Self.two("g1", "g2"), at: 31)
        #expect(hasty.broken == [.i9: 1])

        var pinned = court(Self.choosing(["g1", "g2"], pinned: "g1"))
        pinned.update(Self.two("g2", "g1"), at: 100)
        #expect(pinned.broken == [.i9: 1])
        pinned.update(Self.two("g1", "g2"), at: 101)
        #expect(pinned.broken == [.i9: 1])

        var muted = court(Self.choosing(["g1", "g2"], muted: ["g2"]))
        muted.update(Self.two("g2", "g1"), at: 60)
        #expect(muted.broken == [.i9: 1])

        var unreadable = court(Sample.profile { $0.personalisation = .unreadable("{}") })
        unreadable.update(Self.two("g2", "g1"), at: 60)
        #expect(unreadable.broken == [.i9: 1])
    }

    @Test func `I9: a front that is final may be replaced at any time`() {
        var court = Courtroom(Self.choosing(["g1", "g2"], pinned: "g1"))
        court.game("g2", .live, 1, 0, at: 1)
        court.start(Self.two("g1", "g2"), at: 5, stamp: -60)  // decided before the selection came
        court.game("g1", .final, 1, 0, at: 10)
        court.update(Sample.content([Sample.game("g2"), Sample.game("g1", phase: .final)]), at: 11)
        #expect(court.broken.isEmpty, "\(court.sentences)")
        #expect(court.judge.report(at: court.at(11)).tally.frontChanges == 1)
    }

    @Test func `I9: five changes of the front within 43 s are found`() {
        var court = Courtroom(Self.plain)
        court.game("g2", .live, 1, 0, at: 1)
        court.start(Self.two("g1", "g2"), at: 5)
        for number in 0..<5 {
            court.update(
                number.isMultiple(of: 2) ? Self.two("g2", "g1") : Self.two("g1", "g2"), at: 60 + Double(number))
            #expect(court.broken[.i9] == (number == 4 ? 1 : nil))
        }
    }

    @Test func `I10: an update that says nothing new is found, save after a failure or a restart`() {
        let newer = Sample.content([Sample.game("g1", home: 2)])
        var court = Courtroom(Self.plain)
        court.start(at: 10)
        court.update(Sample.content([Sample.game("g1")], asOf: 77), at: 20)
        #expect(court.broken == [.i10: 1])
        court.game("g1", .live, 2, 0, at: 25)
        court.update(newer, at: 30, answerArrives: false)
        court.update(newer, at: 100)
        court.judge.serverRestarts(at: court.at(110))
        court.update(newer, at: 120)
        #expect(court.broken == [.i10: 1])
        court.update(newer, at: 130)
        #expect(court.broken == [.i10: 2])
    }

    @Test func `I10: when one phone's lane restarts, one update may repeat on that phone alone`() {
        var court = Courtroom(Self.plain)
        court.start(at: 10)
        court.judge.laneRestarts(ofPhone: 1, at: court.at(15))
        court.update(Sample.content([Sample.game("g1")]), at: 20)
        #expect(court.broken == [.i10: 1])
        court.judge.laneRestarts(ofPhone: 0, at: court.at(25))
        court.update(Sample.content([Sample.game("g1")]), at: 30)
        #expect(court.broken == [.i10: 1])
        court.update(Sample.content([Sample.game("g1")]), at: 40)
        #expect(court.broken == [.i10: 2])
    }

    @Test func `I9: a made-up moment is counted and excuses no takeover; cards in front are counted by game`() {
        var court = Courtroom(Self.plain)
        court.game("g2", .live, 0, 0, at: 5)
        court.start(Self.two("g1", "g2"), at: 10)
        #expect(court.judge.cardsInFront == [GameID(unchecked: "g1"): 1])
        court.judge.madeUpMoment(ofPhone: 0, at: court.at(50))
        for number in 0..<5 {
            court.update(
                number.isMultiple(of: 2) ? Self.two("g2", "g1") : Self.two("g1", "g2"), at: 60 + Double(number))
        }
        #expect(court.broken[.i9] == 1)
        #expect(court.judge.report(at: court.at(100)).tally.madeUpMoments == 1)
        #expect(court.judge.cardsInFront == [GameID(unchecked: "g2"): 1])
    }

    @Test func `I10: a timestamp that does not rise, and an apns-id used twice, are found`() {
        var court = Courtroom(Self.plain)
        court.start(at: 10)
        court.update(Sample.content([Sample.game("g1", home: 2)]), at: 20, stamp: 10)
        #expect(court.broken == [.i10: 1])
        court.push(
            Sample.update(Sample.content([Sample.game("g1", home: 3)]), timestamp: Handset.stamp(30)), to: court.target,
            at: 30, number: 1)
        #expect(court.broken == [.i10: 2])
    }

    @Test func `moments are counted as fronted when their game was in front of a card meanwhile`() {
        var court = Courtroom(Self.plain)
        court.game("g2", .live, 1, 0, at: 1)
        court.start(Self.two("g1", "g2"), at: 50)
        court.update(Self.two("g2", "g1"), at: 100)
        let moments = [("g1", 60.0, 70.0), ("g1", 110, 120), ("g2", 90, 101), ("g2", 60, 99)].map {
            MomentInterval(game: GameID(unchecked: $0.0), kind: .overtime, from: court.at($0.1), to: court.at($0.2))
        }
        let fronted = court.judge.report(moments: moments, at: court.at(200)).fronted[.overtime]
        #expect(fronted?.moments == 4 && fronted?.fronted == 2)
    }
}
