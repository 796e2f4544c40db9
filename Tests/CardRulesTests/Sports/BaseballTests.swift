import Testing

@testable import CardRules

@Suite struct BaseballTests {
    private typealias At = Situation

    @Test(
        arguments: [
            (3, 3, 9, "bottom", 2, "---", 9, true), (3, 4, 9, "bottom", 0, "1--", 9, true),
            (3, 4, 9, "bottom", 0, "---", 9, false), (3, 6, 9, "bottom", 2, "1-3", 9, false),
            (2, 5, 9, "bottom", 2, "123", 9, true), (1, 5, 9, "bottom", 0, "123", 9, false),
            (3, 3, 9, "bottom", 3, "---", 9, false), (3, 3, 9, "top", 0, "---", 9, false),
            (3, 3, 8, "bottom", 0, "---", 9, false), (4, 3, 9, "bottom", 0, "---", 9, false),
            (4, 5, 10, "bottom", 0, "-2-", 9, true), (4, 4, 7, "bottom", 1, "---", 7, true),
            (4, 4, 8, "bottom", 1, "-2-", 7, true), (4, 4, 6, "bottom", 1, "---", 7, false),
        ] as [(Int, Int, Int, String, Int, String, Int, Bool)])
    func `T9: walk-off chance is the last bottom half, not ahead, and a home run would win it`(
        home: Int, away: Int, inning: Int, half: String, outs: Int, bases: String, innings: Int, isOn: Bool
    ) {
        let game = At.baseball(home, away, inning, half, outs: outs, bases: bases, innings: innings)
        #expect(At.kinds(game).contains(.walkOffChance) == isOn)
    }

    @Test func `T9: what a missing field leaves open is no walk-off chance, what it does not is one`() {
        #expect(!At.kinds(At.baseball(3, 3, 9, nil)).contains(.walkOffChance))
        #expect(!At.kinds(At.baseball(3, 3, 9, "bottom", outs: nil)).contains(.walkOffChance))
        #expect(!At.kinds(At.baseball(3, 4, 9, "bottom", bases: nil)).contains(.walkOffChance))
        #expect(!At.kinds(At.baseball(nil, 4, 9, "bottom")).contains(.walkOffChance))
        #expect(!At.kinds(At.baseball(3, 3, nil, "bottom")).contains(.walkOffChance))
        #expect(!At.kinds(At.baseball(3, 3, 7, "bottom", innings: nil)).contains(.walkOffChance), "may be one of nine")
        // Level: any home run wins it, whoever is on base; the ninth is the last of seven and of nine.
        #expect(At.kinds(At.baseball(3, 3, 9, "bottom", bases: nil, innings: nil)).contains(.walkOffChance))
    }

    @Test func `T9: overtime is an inning beyond those scheduled, seven or nine, and P2 agrees`() {
        for innings in [7, 9] {
            for inning in 1...12 {
                let game = At.baseball(2, 2, inning, "top", innings: innings)
                #expect(At.kinds(game).contains(.overtime) == (inning > innings))
                #expect(At.isBeyondRegulation(game) == (inning > innings))
            }
        }
        let unknown = At.baseball(2, 2, 8, "top", innings: nil)
        #expect(!At.kinds(unknown).contains(.overtime) && !At.isBeyondRegulation(unknown))
        #expect(At.kinds(At.baseball(2, 2, 10, "top", innings: nil)).contains(.overtime))
    }

    @Test func `T9: close finish in baseball is the last scheduled inning within a run`() {
        #expect(At.kinds(At.baseball(3, 4, 9, "top")) == [.closeFinish])
        #expect(At.kinds(At.baseball(3, 5, 9, "top")).isEmpty)
        #expect(At.kinds(At.baseball(3, 4, 8, "bottom")).isEmpty)
        #expect(At.kinds(At.baseball(3, 4, 7, "top", innings: 7)) == [.closeFinish])
        #expect(At.kinds(At.baseball(3, 4, 7, "top", innings: nil)).isEmpty)
    }

    @Test func `T9: comeback in baseball is from four runs behind; upset is from the last quarter of the innings on`() {
        var behind = At.baseball(5, 5, 6, "top")
        behind.history.note(lead: -4)
        #expect(At.kinds(behind) == [.comeback])
        var ahead = At.baseball(1, 4, 8, "top")
        ahead.favourite = .home
        #expect(At.kinds(ahead) == [.upset])
        var early = At.baseball(1, 4, 7, "top")
        early.favourite = .home
        #expect(At.kinds(early).isEmpty)
        var short = At.baseball(1, 4, 6, "top", innings: 7)
        short.favourite = .home
        #expect(At.kinds(short).isEmpty)
        short.detail = At.baseball(1, 4, 6, "bottom", innings: 7).detail
        #expect(At.kinds(short) == [.upset])
    }

    @Test(arguments: [7, 9])
    func `T10: level in the last scheduled inning or later is worth 80 or more, in the pause too`(innings: Int) {
        for (half, outs, phase) in [
            ("top", 0, Phase.live), ("top", 2, .live), ("top", 3, .break), ("bottom", 0, .live), ("bottom", 2, .live),
            ("bottom", 3, .break),
        ] {
            #expect(At.worth(At.baseball(4, 4, innings, half, outs: outs, innings: innings, phase)) >= 80)
            #expect(At.worth(At.baseball(4, 4, innings + 2, half, outs: outs, innings: innings, phase)) >= 80)
        }
    }

    @Test(
        arguments: [
            (0, 0, 1, "top", 45.0...55), (3, 3, 5, "top", 52...65), (4, 3, 7, "top", 45...65),
            (3, 4, 9, "bottom", 45...65),
            (3, 5, 9, "bottom", 22...40), (5, 2, 9, "top", 15...25), (6, 2, 8, "top", 15...25),
            (9, 2, 6, "top", 15...25),
        ] as [(Int, Int, Int, String, ClosedRange<Double>)])
    func `T10: an inning of baseball is worth what can still happen`(
        home: Int, away: Int, inning: Int, half: String, expected: ClosedRange<Double>
    ) {
        #expect(expected.contains(At.worth(At.baseball(home, away, inning, half))))
    }

    @Test func `T10: only the trailing side's own outs count, and its runners on base`() {
        let early = At.worth(At.baseball(3, 4, 9, "bottom", outs: 0))
        let late = At.worth(At.baseball(3, 4, 9, "bottom", outs: 2))
        #expect(early > late + 10)
        #expect(At.worth(At.baseball(3, 4, 9, "bottom", outs: 2, bases: "-2-")) > late + 10)
        // The leader's runners and outs change little.
        let leading = At.worth(At.baseball(3, 4, 9, "top", outs: 0))
        #expect(At.worth(At.baseball(3, 4, 9, "top", outs: 2, bases: "123")) >= leading)
        #expect(At.worth(At.baseball(3, 4, 9, "top", outs: 0, bases: "123")) == leading)
    }

    @Test func `T9, T10: outs, halves and innings that cannot be count as missing`() {
        let level = At.baseball(3, 3, 9, "bottom", outs: 1)
        for (outs, half, innings) in [(-1, "bottom", 9), (7, "bottom", 9), (1, "middle", 9), (1, "bottom", 99)] {
            let odd = At.baseball(3, 3, 9, half, outs: outs, innings: innings)
            #expect(At.kinds(odd).contains(.walkOffChance) == (innings == 99))
            #expect(At.worth(odd) <= At.worth(level))
        }
        #expect(At.kinds(At.baseball(3, 4, 9, "bottom", bases: "x??")).contains(.walkOffChance) == false)
        for inning in [-3, 0] {
            #expect(At.kinds(At.baseball(3, 3, inning, "bottom")).isEmpty)
            #expect(At.worth(At.baseball(3, 3, inning, "bottom")) <= 25)
        }
        #expect(At.kinds(At.baseball(3, 3, .max, "bottom")).contains(.overtime))
    }
}
