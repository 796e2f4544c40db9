import CardRules
import Testing

@testable import Simulation

/// What the judge makes of a world where reports, pushes and answers take their time.
@Suite struct JudgeDelayTests {
    /// One that hears of reports when the server has them.
    private static func court(_ profile: PhoneProfile = JudgeTests.plain) -> Courtroom {
        var options = JudgeOptions()
        options.hearsReportsOnArrival = true
        return Courtroom(profile, judge: Judge(options: options))
    }

    private static func pin(_ game: String, at time: WallTime) -> PhoneReport {
        PhoneReport(
            phone: 0, at: time, device: DeviceID(unchecked: "d"),
            body: .selection(
                games: ["g1", "g2"].map { GameID(unchecked: $0) }, pinned: GameID(unchecked: game), muted: [],
                syncedAt: time))
    }

    @Test func `I9: against a pin that is still on its way nothing can be held; once it is answered it can`() {
        for isAnswered in [false, true] {
            var court = Self.court()
            court.game("g2", .live, 0, 0, at: 0)
            court.start(JudgeTests.two("g1", "g2"), at: 100)
            court.run(150)
            let pin = Self.pin("g1", at: court.at(200))
            court.judge.leaves(pin)
            if isAnswered {
                court.judge.arrives(pin, at: court.at(205))
                court.judge.isAnswered(pin, at: court.at(206))
            }
            court.update(JudgeTests.two("g2", "g1"), at: 300)
            #expect(court.broken[.i9] == (isAnswered ? 1 : nil), "\(court.sentences)")
        }
    }

    @Test func `I9, A2: thirty seconds count from when the selection first reached the server`() {
        for (seconds, found) in [(228.0, true), (236.0, false)] {
            var court = Self.court()
            court.game("g2", .live, 0, 0, at: 0)
            court.start(JudgeTests.two("g1", "g2"), at: 100)
            court.run(150)
            var report = Self.pin("g1", at: court.at(200))
            report = PhoneReport(
                phone: 0, at: report.at, device: report.device,
                body: .selection(
                    games: ["g1", "g2"].map { GameID(unchecked: $0) }, pinned: nil, muted: [], syncedAt: report.at))
            court.judge.leaves(report)
            court.judge.arrives(report, at: court.at(205))
            court.judge.arrives(report, at: court.at(215))
            court.judge.isAnswered(report, at: court.at(216))
            court.update(JudgeTests.two("g2", "g1"), at: seconds)
            #expect(court.broken[.i9] == (found ? 1 : nil), "\(seconds): \(court.sentences)")
        }
    }

    @Test(arguments: [true, false])
    func `I9, A2: what a push that never left carried may come with the next one, soon after a selection`(
        isUnsent: Bool
    ) {
        var court = Courtroom(JudgeTests.choosing(["g1", "g2"], openings: [0, 200]))
        court.game("g2", .live, 0, 0, at: 0)
        court.start(JudgeTests.two("g1", "g2"), at: 100)
        court.run(190)
        if isUnsent { court.judge.isUnsent(to: court.phone.cards[0].activity, on: 0) }
        court.update(JudgeTests.two("g2", "g1"), at: 210)
        #expect(court.broken[.i9] == (isUnsent ? nil : 1), "\(court.sentences)")
    }

    @Test func `I9: what an end carries takes no front`() {
        var court = Courtroom(JudgeTests.choosing(["g1", "g2"], muted: ["g2"]))
        court.start(at: 100)
        court.run(190)
        court.push(
            Sample.end(JudgeTests.two("g2", "g1"), timestamp: Handset.stamp(200)), to: court.target, at: 200)
        #expect(court.broken[.i9] == nil, "\(court.sentences)")
    }

    @Test func `I6: what a phone without network shows is nobody's fault until it is back for a minute`() {
        var court = Courtroom(JudgeTests.plain)
        court.start(at: 100)
        court.run(200)
        court.judge.phone(0, isOffline: true, at: court.at(200))
        court.game("g1", .live, 4, 0, at: 210)
        court.run(1000)
        #expect(court.broken[.i6] == nil)
        court.judge.phone(0, isOffline: false, at: court.at(1000))
        court.run(1050)
        #expect(court.broken[.i6] == nil)
        court.run(1100)
        #expect(court.broken[.i6] == 1, "\(court.sentences)")
    }

    @Test func `I6: of a card whose update was accepted and lost nobody can know, until it shows another`() {
        var court = Courtroom(JudgeTests.plain)
        court.start(at: 100)
        court.run(200)
        court.game("g1", .live, 4, 0, at: 210)
        court.push(
            Sample.update(Sample.content([Sample.game("g1", home: 4)]), timestamp: Handset.stamp(211)),
            to: court.target,
            at: 211, isLost: true)
        court.run(1000)
        #expect(court.broken[.i6] == nil)
        court.update(Sample.content([Sample.game("g1", home: 3)]), at: 1000)
        court.run(1100)
        #expect(court.broken[.i6] == 1, "\(court.sentences)")
    }

    @Test(arguments: [true, false])
    func `I1: a second card is no breach when the first one's end was accepted and lost, and is one else`(isEnded: Bool)
    {
        var court = Courtroom(JudgeTests.plain)
        court.start(at: 100)
        court.run(200)
        if isEnded { court.end(at: 300, isLost: true) }
        court.start(at: 1000)
        #expect(court.broken[.i1] == (isEnded ? nil : 1), "\(court.sentences)")
    }

    @Test func `I5: a push that waited since before the app's report is no breach, one queued after it is`() {
        var court = Courtroom(Sample.profile(openings: [0, 300]) { $0.swipesAfter = 100 })
        court.start(at: 100)
        court.run(400)  // swiped away at 200, reported at 300
        let payload = Sample.update(timestamp: Handset.stamp(400))
        let target = court.target
        court.push(payload, to: target, at: 400, queuedAt: 250)
        #expect(court.broken[.i5] == nil, "\(court.sentences)")
        court.push(payload, to: target, at: 401, queuedAt: 350)
        #expect(court.broken[.i5] == 1)
    }

    @Test func `I10: whoever never heard that its start was accepted may say it once more`() {
        for isHeard in [true, false] {
            var court = Courtroom(JudgeTests.plain)
            let content = Sample.content([Sample.game("g1")])
            court.push(
                Sample.start(content, timestamp: Handset.stamp(100)), to: .pushToStart, at: 100, answerArrives: isHeard)
            court.run(150)
            court.update(content, at: 160)
            #expect(court.broken[.i10] == (isHeard ? 1 : nil), "\(court.sentences)")
            court.update(content, at: 180)
            #expect(court.broken[.i10] == (isHeard ? 2 : 1))
        }
    }

    @Test func `I10: each restart of a lane excuses one repetition`() {
        var court = Courtroom(JudgeTests.plain)
        court.start(at: 100)
        court.run(150)
        court.judge.laneRestarts(ofPhone: 0, at: court.at(160))
        court.judge.laneRestarts(ofPhone: 0, at: court.at(161))
        for second in [170.0, 190, 210] { court.update(at: second) }
        #expect(court.broken[.i10] == 1, "\(court.sentences)")
    }
}
