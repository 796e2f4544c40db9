import CardRules
import Testing

@testable import Simulation

/// T4 and T5, as the judge holds them against what passes the gateway.
@Suite struct JudgeFlickerTests {
    /// A card of two games, shown as they are for some minutes; at 300 s `g2` takes the front.
    private static func court(lastBefore: Double = 150, _ middle: SlateContent? = nil) -> Courtroom {
        var court = Courtroom(JudgeTests.choosing(["g1", "g2"]))
        court.game("g2", .live, 0, 0, at: 0)
        court.start(JudgeTests.two("g1", "g2"), at: 100)
        court.update(shown(1), at: 150)
        if let middle { court.update(middle, at: 200) }
        if lastBefore > 200 { court.update(shown(2), at: lastBefore) }
        court.update(JudgeTests.two("g2", "g1"), at: 300)
        return court
    }

    private static func shown(_ home: Int) -> SlateContent {
        Sample.content([Sample.game("g1", home: home + 1), Sample.game("g2", home: home)])
    }

    @Test(arguments: [(310.0, 2), (330, 1), (386, 1), (389, 0), (500, 0)])
    func `I9, T4, T5: a front stands for twenty seconds, and one that lost it stays on the bench for ninety`(
        seconds: Double, breaches: Int
    ) {
        var court = Self.court()
        court.update(JudgeTests.two("g1", "g2"), at: seconds)
        #expect(court.broken[.i9] == (breaches > 0 ? breaches : nil), "\(court.sentences)")
    }

    @Test func `I9, T5: another game than the one that lost the front may take it after twenty seconds`() {
        var court = Courtroom(JudgeTests.choosing(["g1", "g2", "g3"]))
        let three = { (ids: [String]) in Sample.content(ids.map { Sample.game($0) }) }
        for id in ["g2", "g3"] { court.game(id, .live, 0, 0, at: 0) }
        court.start(three(["g1", "g2", "g3"]), at: 100)
        court.update(Sample.content(["g1", "g2", "g3"].map { Sample.game($0, home: 2) }), at: 150)
        court.update(three(["g2", "g1", "g3"]), at: 300)
        court.update(three(["g3", "g2", "g1"]), at: 325)
        #expect(court.broken[.i9] == nil, "\(court.sentences)")
    }

    @Test func `I9, T11: a front that a moment won may give way when that is over`() {
        var moment = Self.shown(1)
        moment.games[1].moment = .comeback
        var court = Self.court(moment)
        court.update(JudgeTests.two("g1", "g2"), at: 330)
        #expect(court.broken[.i9] == nil, "\(court.sentences)")
    }

    @Test func `I9: a change that may have waited for the push before it says nothing of when it was decided`() {
        var court = Self.court(lastBefore: 290)
        court.update(JudgeTests.two("g1", "g2"), at: 310)
        #expect(court.broken[.i9] == nil, "\(court.sentences)")
    }

    @Test func `I9, T6: a front that is over makes way at once`() {
        var court = Self.court()
        court.game("g2", .final, 1, 0, at: 305)
        court.update(JudgeTests.two("g1", "g2"), at: 310)
        #expect(court.broken[.i9] == nil, "\(court.sentences)")
    }

    @Test func `I9, A3: a front that leaves the card was displaced`() {
        var court = Self.court()
        court.update(Sample.content([Sample.game("g1")]), at: 310)
        #expect(court.broken[.i9] == nil, "\(court.sentences)")
    }

    @Test func `I9: nothing is held against a lane that has restarted meanwhile`() {
        for restarted in [false, true] {
            var court = Self.court()
            if restarted { court.judge.laneRestarts(ofPhone: 0, at: court.at(305)) }
            court.update(JudgeTests.two("g1", "g2"), at: 330)
            #expect(court.broken[.i9] == (restarted ? nil : 1), "\(court.sentences)")
        }
    }
}
