import CardRules

/// One made-up baseball game, batter by batter; in extra innings a runner begins on second base.
struct BaseballGame {
    var sheet: ScoreSheet
    /// How much better home is, within about ±1.
    let edge: Double
    /// Scheduled: nine, or seven in a double-header.
    let innings: Int
    /// By script: home is not ahead when its last half begins, and then wins it.
    let endsOnWalkOff: Bool
    private var outs = 0
    /// First, second, third.
    private var bases = [false, false, false]
    private var half = Half.top

    private enum Half: String { case top, bottom }

    init(sheet: ScoreSheet, edge: Double, innings: Int, endsOnWalkOff: Bool) {
        self.sheet = sheet
        self.edge = edge
        self.innings = innings
        self.endsOnWalkOff = endsOnWalkOff
    }

    mutating func play(_ random: inout SeededGenerator) -> [SlateLine] {
        var inning = 1
        while true {
            for half in [Half.top, .bottom] {
                playHalf(half, inning, &random)
                if isOver(inning) { return end() }
                sheet.phase = .break
                note("out")
                sheet.now += 130
            }
            inning += 1
        }
    }

    private func isOver(_ inning: Int) -> Bool {
        guard inning >= innings else { return false }
        return half == .top ? sheet.lead > 0 : sheet.lead != 0
    }

    private mutating func end() -> [SlateLine] {
        sheet.now += 5
        sheet.phase = .final
        note("final")
        return sheet.lines
    }

    private mutating func playHalf(_ half: Half, _ inning: Int, _ random: inout SeededGenerator) {
        self.half = half
        outs = 0
        bases = [false, inning > innings, false]
        sheet.period = inning
        sheet.phase = .live
        note("half-start")
        while outs < 3 {
            sheet.now += Int64.random(in: 55...150, using: &random)
            bat(inning, &random)
            if half == .bottom, inning >= innings, sheet.lead > 0 { return }
        }
        bases = [false, false, false]
    }

    private mutating func bat(_ inning: Int, _ random: inout SeededGenerator) {
        let side: Side = half == .top ? .away : .home
        let lead = side == .home ? sheet.lead : -sheet.lead
        var reaches = 0.31 + (side == .home ? edge : -edge) * 0.03
        if endsOnWalkOff, inning >= innings {
            // Scripted: who is behind in the last innings catches up, visitors no further than that, home does win.
            if side == .away { reaches = lead < 0 ? 1 : 0 } else { reaches = lead < 0 ? 1 : 0.85 }
        } else if inning >= innings + 6, side == .home {
            reaches = 1  // the night must end
        }
        guard random.chance(reaches) else {
            outs += 1
            if outs < 3 { note(random.chance(0.35) ? "strikeout" : "out") }
            return
        }
        let before = side == .home ? sheet.home : sheet.away
        let play: String
        switch Int.random(in: 0..<100, using: &random) {
        case ..<28:
            play = "walk"
            walk(side)
        case ..<75:
            play = "single"
            advance(1, side)
        case ..<90:
            play = "double"
            advance(2, side)
        default:
            play = "home-run"
            advance(4, side)
        }
        note(play, runs: (side == .home ? sheet.home : sheet.away) - before, by: side)
    }

    /// Every runner takes as many bases as the batter.
    private mutating func advance(_ count: Int, _ side: Side) {
        for base in [2, 1, 0] where bases[base] {
            bases[base] = false
            if base + count >= 3 { score(side) } else { bases[base + count] = true }
        }
        if count >= 4 { score(side) } else { bases[count - 1] = true }
    }

    /// Only who must move on does.
    private mutating func walk(_ side: Side) {
        guard let free = bases.firstIndex(of: false) else {
            score(side)
            return
        }
        bases[free] = true
    }

    /// A game that home wins in its last half is over with the run that wins it, but for a home run: kept simple, a run
    /// beyond that does not count.
    private mutating func score(_ side: Side) {
        let isWon = half == .bottom && sheet.period >= innings && sheet.lead > 0
        if !isWon, !(endsOnWalkOff && side == .away && sheet.period >= innings && sheet.lead <= 0) {
            sheet.score(1, for: side)
        }
    }

    private mutating func note(_ play: String, runs: Int = 0, by: Side? = nil) {
        let shown = bases.enumerated().map { $1 ? "\($0 + 1)" : "-" }.joined()
        var members: [String: JSONValue] = [
            "half": .string(half.rawValue), "outs": .integer(Int64(outs)), "bases": .string(shown),
            "innings": .integer(Int64(innings)), "play": .string(play),
        ]
        if runs > 0, let by {
            members["runs"] = .integer(Int64(runs))
            members["by"] = .string(by.rawValue)
        }
        sheet.note(.object(members))
    }
}
