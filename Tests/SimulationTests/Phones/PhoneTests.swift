import CardRules
import Testing

@testable import Simulation

@Suite struct PhoneTests {
    private static func stamp(_ seconds: Int64) -> Int64 { Handset.stamp(seconds) }

    @Test func `P6, P10: a good start makes a card, wakes the app, and the update token is reported within 8 s`() {
        var handset = Handset(Sample.profile())
        handset.run(100)
        handset.receive(Sample.start(timestamp: Self.stamp(120)), at: 120)
        #expect(handset.card?.state == .active)
        #expect(handset.phone.alerts == 1)
        #expect(handset.tokenReports.isEmpty)
        handset.run(128)
        #expect(handset.tokenReports.count == 1)
        #expect(handset.tokenReports.allSatisfy { $0.at.seconds(since: Sample.evening) >= 121 })
        #expect(
            handset.phone.log.map(\.text).filter { !$0.contains("process") } == [
                "Received pushToStart notification for <private>",
                "Reduced budget for com.example.lineup::pushToStart to: 9", "Activity started",
            ])
    }

    static let badStarts: [([String: String?], PhoneEvent.Drop)] = [
        (["alert": nil], .noAlert), (["attributes-type": nil], .noAttributes),
        (["attributes-type": "\"lineupattributes\""], .noAttributes), (["attributes": "7"], .noAttributes),
        (["content-state": nil], .undecodableContent),
        (["content-state": #"{"games":[],"front":"g","spoilerFree":false}"#], .undecodableContent),
        (["content-state": #"{"games":[],"front":"g","spoilerfree":false,"asOf":1}"#], .undecodableContent),
        (["content-state": #"{"games":[],"front":null,"spoilerFree":false,"asOf":1}"#], .undecodableContent),
        (["event": "\"update\""], .wrongSubscription), (["event": "\"begin\""], .unknownEvent),
        (["timestamp": nil], .noTimestamp), (["timestamp": "1795046400000"], .tooFarAhead),
        (["input-push-channel": "\"abc\""], .twoInputs),
    ]

    @Test(arguments: badStarts)
    func `P5: a start that is not right makes no card, costs nothing and says nothing`(
        change: [String: String?], drop: PhoneEvent.Drop
    ) {
        var handset = Handset(Sample.profile())
        handset.receive(Sample.start(timestamp: Self.stamp(10), change: change), at: 10)
        #expect(handset.phone.cards.isEmpty)
        #expect(handset.drops == [drop])
        #expect(handset.phone.startBudget == 10)
        handset.run(60)
        #expect(handset.reports.isEmpty && handset.tokenReports.isEmpty)
    }

    @Test func `P1: below iOS 17.2 there is no push-to-start token and starts do nothing`() {
        var handset = Handset(Sample.profile(osVersion: OSVersion(major: 17, minor: 1)))
        handset.run(1)
        #expect(handset.phone.pushToStart == nil)
        guard case .registered(let registration) = handset.output.reports.first?.body else {
            Issue.record("no registration")
            return
        }
        #expect(registration.pushToStart == .none)
        handset.receive(Sample.start(timestamp: Self.stamp(10)), at: 10)
        #expect(handset.drops == [.oldSystem])
    }

    @Test func `P7: the eleventh start in a row is refused, and an hour brings the budget back`() {
        var options = PhoneOptions()
        options.activityLimit = 100
        var handset = Handset(Sample.profile(), options: options)
        for number in 0..<11 {
            handset.receive(Sample.start(timestamp: Self.stamp(10 + Int64(number))), at: 10 + Double(number))
        }
        #expect(handset.phone.cards.count == 10)
        #expect(handset.drops == [.startBudget])
        #expect(handset.phone.startBudget == -1)
        handset.receive(Sample.start(timestamp: Self.stamp(3700)), at: 3700)
        #expect(handset.phone.cards.count == 11)
    }

    @Test func `P5, P13: five cards at most, each start its own`() {
        var handset = Handset(Sample.profile())
        for number in 0..<6 {
            handset.receive(Sample.start(timestamp: Self.stamp(10)), at: 100 + Double(number))
        }
        #expect(handset.phone.cards.count == 5)
        #expect(Set(handset.phone.cards.map(\.activity)).count == 5)
        #expect(handset.drops == [.tooManyActivities])
    }

    @Test func `P9: without input-push-token iOS 18 makes no update token, iOS 17 does`() {
        for (system, expected) in [(OSVersion(major: 18, minor: 0), 0), (OSVersion(major: 17, minor: 4), 1)] {
            var handset = Handset(Sample.profile(osVersion: system))
            handset.receive(Sample.start(timestamp: Self.stamp(100), change: ["input-push-token": nil]), at: 100)
            handset.run(200)
            #expect(handset.card != nil)
            #expect(handset.tokenReports.count == expected)
        }
    }

    @Test func `P10: a force-quit app is not woken, and its token comes when it is opened`() {
        var handset = Handset(Sample.profile(openings: [0, 5000]) { $0.forceQuits = true })
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        handset.run(4999)
        #expect(handset.card?.isAlive == true)
        #expect(handset.tokenReports.isEmpty)
        handset.run(5008)
        #expect(handset.tokenReports.count == 1)
        #expect(handset.reports == [.opened])
    }

    @Test func `P14: updates out of order, too old or too far ahead are dropped`() {
        var handset = Handset(Sample.profile())
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        let newer = Sample.content([Sample.game("g1", home: 2)])
        handset.receive(Sample.update(newer, timestamp: Self.stamp(110)), for: handset.target, at: 110)
        #expect(handset.card?.content == newer)
        for (timestamp, at) in [(109, 111), (110, 111), (111, 200), (300 + 28_801, 300)] as [(Int64, Double)] {
            handset.receive(Sample.update(timestamp: Self.stamp(timestamp)), for: handset.target, at: at)
        }
        #expect(handset.drops == [.olderTimestamp, .equalTimestamp, .tooOld, .tooFarAhead])
        #expect(handset.card?.content == newer)
    }

    @Test func `P16: content that does not decode leaves the card as it was`() {
        var handset = Handset(Sample.profile())
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        let before = handset.card?.content
        handset.receive(
            Sample.update(timestamp: Self.stamp(110), change: ["content-state": #"{"games":[]}"#]),
            for: handset.target, at: 110)
        #expect(handset.card?.content == before && handset.card?.newestTimestamp == Self.stamp(100))
        #expect(handset.phone.log.last?.text == "Unable to decode content state: <private>")
    }

    @Test func `P17: a card goes stale at its date, and an update makes it active again`() {
        var handset = Handset(Sample.profile())
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        let dated = ["stale-date": "\(Self.stamp(400))"] as [String: String?]
        handset.receive(Sample.update(timestamp: Self.stamp(110), change: dated), for: handset.target, at: 110)
        handset.run(399)
        #expect(handset.card?.state == .active)
        handset.run(400)
        #expect(handset.card?.state == .stale)
        handset.receive(Sample.update(timestamp: Self.stamp(410)), for: handset.target, at: 410)
        #expect(handset.card?.state == .active)
        handset.run(20_000)
        #expect(handset.card?.state == .active)
    }

    @Test func `P18: at 8 h the card ends, stays four hours in sight and takes no push any more`() {
        var handset = Handset(Sample.profile(openings: [0, 30_000]))
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        handset.run(28_899)
        #expect(handset.card?.state == .active)
        handset.run(28_900)
        #expect(handset.card?.state == .ended)
        handset.receive(Sample.update(timestamp: Self.stamp(28_910)), for: handset.target, at: 28_910)
        #expect(handset.drops == [.notAlive])
        handset.run(30_001)
        #expect(handset.reports == [.ended])
        handset.run(28_900 + 14_400)
        #expect(handset.card?.state == .removed)
    }

    @Test(arguments: [(nil, 14_400), (-5, 0), (60, 60), (99_999, 14_400)] as [(Int64?, Int64)])
    func `P19: an ended card stays until its dismissal date, at most four hours`(dismissal: Int64?, stays: Int64) {
        var handset = Handset(Sample.profile())
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        let date: String? = dismissal.map { "\(Self.stamp(200 + $0))" }
        handset.receive(
            Sample.end(timestamp: Self.stamp(200), change: ["dismissal-date": date]), for: handset.target, at: 200)
        #expect(handset.card?.content.games.first?.phase == .final)
        handset.run(200 + Double(stays) - 0.5)
        #expect(handset.card?.state == (stays == 0 ? .removed : .ended))
        handset.run(200 + Double(stays))
        #expect(handset.card?.state == .removed)
    }

    @Test func `P20: a swipe is reported at the next run of the app, as dismissed`() {
        var handset = Handset(Sample.profile(openings: [0, 5000]) { $0.swipesAfter = 300 })
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        handset.run(4999)
        #expect(handset.card?.state == .removed)
        #expect(handset.reports.isEmpty)
        handset.run(5000)
        #expect(handset.reports == [.dismissed])
        handset.receive(Sample.end(timestamp: Self.stamp(5100)), for: handset.target, at: 5100)
        #expect(handset.drops == [.notAlive])
    }

    @Test func `P21: priority-10 updates beyond 15 an hour are dropped, priority 5 never`() {
        var handset = Handset(Sample.profile())
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        for number in 1...16 {
            handset.receive(
                Sample.update(timestamp: Self.stamp(100 + Int64(number))), for: handset.target, at: 100 + Double(number)
            )
        }
        #expect(handset.drops == [.updateBudget])
        handset.receive(Sample.update(timestamp: Self.stamp(150)), for: handset.target, at: 150, priority: 5)
        #expect(handset.drops == [.updateBudget])
        #expect(handset.card?.newestTimestamp == Self.stamp(150))
    }

    @Test func `P34: from the second record on everything is reported anew under it, with the same token`() {
        var handset = Handset(
            Sample.profile(openings: [0, 1000]) {
                $0.secondRecord = .init(device: DeviceID(unchecked: "d2"), fromOpening: 1)
            })
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        handset.run(1000)
        #expect(handset.tokenReports.map(\.device.text) == ["d", "d2"])
        let tokens = handset.output.reports.compactMap { report -> PhoneReport.PushToStartReading? in
            if case .registered(let registration) = report.body { registration.pushToStart } else { nil }
        }
        #expect(tokens.count == 2 && Set(tokens).count == 1)
    }

    @Test func `P3: the push-to-start token may change after the first start, and the app tells at once`() {
        var handset = Handset(Sample.profile { $0.pushToStart = .changesAfterFirstStart })
        handset.run(0)
        let first = handset.phone.pushToStart
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        #expect(handset.phone.pushToStart != first)
        let changes = handset.output.tokens.map { $0.change }
        #expect(changes.contains(.died))
        guard case .registered(let registration) = handset.output.reports.last?.body else {
            Issue.record("no registration")
            return
        }
        #expect(
            registration.pushToStart
                == .token(PushAddress(token: handset.phone.pushToStart ?? [], gateway: .production)))
    }

    @Test func `P4: a launch may read no token at first; three seconds later it is there`() {
        var handset = Handset(Sample.profile { $0.pushToStart = .noneAtLaunch })
        handset.run(10)
        let readings = handset.output.reports.compactMap { report -> PhoneReport.PushToStartReading? in
            if case .registered(let registration) = report.body { registration.pushToStart } else { nil }
        }
        #expect(readings.count == 2 && readings.first == PhoneReport.PushToStartReading.none)
        #expect(readings.last != PhoneReport.PushToStartReading.none)
    }

    @Test func `P28: of duplicates the app keeps the newest, once it is in front`() {
        var handset = Handset(Sample.profile(openings: [0, 1000]))
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        handset.receive(Sample.start(timestamp: Self.stamp(200)), at: 200)
        handset.run(999)
        #expect(handset.phone.cards.map(\.isAlive) == [true, true])
        handset.run(1000)
        #expect(handset.phone.cards.map(\.isAlive) == [false, true])
        #expect(handset.reports == [.ended, .opened])
    }
}
