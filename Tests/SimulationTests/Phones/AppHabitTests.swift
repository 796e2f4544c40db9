import CardRules
import Testing

@testable import Simulation

/// Badly made apps (ref P28).
@Suite struct AppHabitTests {
    private static func stamp(_ seconds: Int64) -> Int64 { Handset.stamp(seconds) }

    @Test func `P28: an app with late observers tells of a card only once its owner has opened it`() {
        var handset = Handset(Sample.profile(openings: [0, 5000]) { $0.app = .lateObservers })
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        handset.run(4999)
        #expect(handset.card?.isAlive == true && handset.phone.cards[0].updateToken != nil)
        #expect(handset.tokenReports.isEmpty)
        handset.run(5001)
        #expect(handset.tokenReports.count == 1)
    }

    @Test func `P28: an app that takes cards without a token for rubbish ends them when another start wakes it`() {
        var handset = Handset(Sample.profile { $0.app = .killsUnfitCards })
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        handset.receive(Sample.start(timestamp: Self.stamp(101)), at: 100.5)
        #expect(handset.phone.cards.map(\.isAlive) == [false, true])
        handset.run(200)
        #expect(handset.phone.cards.map(\.isAlive) == [false, true])
        #expect(handset.tokenReports.count == 1)
    }

    @Test func `P28: a good app leaves a card alone that has no token yet`() {
        var handset = Handset(Sample.profile())
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        handset.receive(Sample.start(timestamp: Self.stamp(101)), at: 100.5)
        #expect(handset.phone.cards.map(\.isAlive) == [true, true])
    }

    @Test func `P28: an app may report the token of an ended card again, after it has said that it ended`() {
        var handset = Handset(Sample.profile(openings: [0, 5000]) { $0.app = .reportsEndedCards })
        handset.receive(Sample.start(timestamp: Self.stamp(100)), at: 100)
        handset.run(200)
        guard let id = handset.card?.activity else {
            Issue.record("no card")
            return
        }
        handset.receive(Sample.end(timestamp: Self.stamp(300)), for: .activity(id), at: 300)
        handset.run(5001)
        #expect(handset.reports == [.ended])
        #expect(handset.tokenReports.count == 2)
    }

    @Test func `P28: an app may say at each opening that there is no push-to-start token, and name it a little later`()
    {
        var handset = Handset(Sample.profile(openings: [0, 5000]) { $0.app = .reportsNone })
        handset.run(5010)
        let readings = handset.output.reports.compactMap { report in
            if case .registered(let registration) = report.body { registration.pushToStart == .none } else { nil }
        }
        #expect(readings == [true, false, true, false])
    }
}
