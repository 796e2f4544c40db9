import CardRules

/// One made-up basketball game, possession by possession.
struct BasketballGame {
    var sheet: ScoreSheet
    /// How much better home is, within about ±1.
    let edge: Double
    /// By script: level when regulation ends.
    let goesToOvertime: Bool
    private var attacking = Side.home

    init(sheet: ScoreSheet, edge: Double, goesToOvertime: Bool) {
        self.sheet = sheet
        self.edge = edge
        self.goesToOvertime = goesToOvertime
    }

    mutating func play(_ random: inout SeededGenerator) -> [SlateLine] {
        attacking = Bool.random(using: &random) ? .home : .away
        var period = 1
        while period <= 4 || (sheet.lead == 0 && period < 10) {
            playPeriod(period, &random)
            let isOver = period >= 4 && sheet.lead != 0
            guard !isOver else { break }
            pause(after: period)
            period += 1
        }
        if sheet.lead == 0 { sheet.score(1, for: attacking) }  // a tenth period never comes
        sheet.now += 20
        sheet.phase = .final
        sheet.note(detail("final"))
        return sheet.lines
    }

    private mutating func playPeriod(_ period: Int, _ random: inout SeededGenerator) {
        sheet.period = period
        sheet.phase = .live
        var left = period > 4 ? 300 : 720
        sheet.clockSeconds = left
        sheet.note(.object(["possession": .null, "play": .string("period-start")]))
        while left > 0 {
            let length = min(left, Int.random(in: 6...22, using: &random))
            // Dead balls make the wall clock run about twice as fast as the game's.
            let wall = Int64(length) + (random.chance(0.3) ? Int64.random(in: 20...75, using: &random) : 0)
            if wall >= 15 {
                sheet.now += wall / 2
                sheet.clockSeconds = left - length / 2
                sheet.note()
                sheet.now -= wall / 2
            }
            left -= length
            sheet.now += wall
            sheet.clockSeconds = left
            possession(period, left, &random)
        }
        if goesToOvertime, period == 4, let trailing = sheet.trailing {
            // The buzzer beater that the script asks for.
            sheet.score(abs(sheet.lead), for: trailing)
            sheet.note(detail("made", by: trailing, possession: trailing.other))
        }
    }

    private mutating func possession(_ period: Int, _ left: Int, _ random: inout SeededGenerator) {
        let side = attacking
        let points = random.chance(0.3) ? 3 : 2
        if random.chance(chance(of: side, points: points, period: period, left: left)) {
            sheet.score(cappedByScript(points, side, period, left), for: side)
            sheet.note(detail("made", by: side, possession: side.other))
            attacking = side.other
        } else if random.chance(0.18) {
            sheet.note(detail("turnover", by: side, possession: side.other))
            attacking = side.other
        } else {
            sheet.note(detail("miss", by: side, possession: side))
            sheet.now += Int64.random(in: 1...3, using: &random)
            let rebounder = random.chance(0.25) ? side : side.other
            sheet.note(detail("rebound", by: rebounder, possession: rebounder))
            attacking = rebounder
        }
    }

    private func chance(of side: Side, points: Int, period: Int, left: Int) -> Double {
        let advantage = (side == .home ? edge : -edge) * 0.035
        let base = (points == 3 ? 0.38 : 0.53) + advantage
        // Scripted: from the fourth quarter on who trails catches up, and once level both sides miss at the end.
        guard goesToOvertime, period == 4 else { return base }
        guard let trailing = sheet.trailing else { return left < 60 ? 0 : base }
        guard left < 60 || abs(sheet.lead) > 3 else { return base }
        return side == trailing ? 0.95 : left < 240 ? 0 : 0.2
    }

    /// Who catches up by script does not overtake in the last minute.
    private func cappedByScript(_ points: Int, _ side: Side, _ period: Int, _ left: Int) -> Int {
        guard goesToOvertime, period == 4, left < 60, side == sheet.trailing else { return points }
        return min(points, abs(sheet.lead))
    }

    private mutating func pause(after period: Int) {
        sheet.now += 5
        sheet.clockSeconds = 0
        sheet.phase = .break
        sheet.note(detail("period-end"))
        sheet.now += period == 2 ? 900 : 145
    }

    private func detail(_ play: String, by: Side? = nil, possession: Side? = nil) -> JSONValue {
        var members = ["play": JSONValue.string(play)]
        if let by { members["by"] = .string(by.rawValue) }
        if let possession { members["possession"] = .string(possession.rawValue) }
        return .object(members)
    }
}
