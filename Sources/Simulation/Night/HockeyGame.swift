import CardRules

/// One made-up hockey game: three periods, a sudden-death overtime, a shootout.
struct HockeyGame {
    enum Script: Hashable, Sendable { case free, overtime, shootout }

    var sheet: ScoreSheet
    /// How much better home is, within about ±1.
    let edge: Double
    let script: Script
    private var shots = (home: 0, away: 0)

    init(sheet: ScoreSheet, edge: Double, script: Script) {
        self.sheet = sheet
        self.edge = edge
        self.script = script
    }

    mutating func play(_ random: inout SeededGenerator) -> [SlateLine] {
        for period in 1...3 {
            playPeriod(period, &random)
            if period < 3 || sheet.lead == 0 { pause(seconds: period < 3 ? 1080 : 180) }
        }
        if sheet.lead == 0 {
            playPeriod(4, &random)
            if sheet.lead == 0 {
                pause(seconds: 180)
                shootout(&random)
                return sheet.lines
            }
        }
        sheet.now += 15
        sheet.phase = .final
        sheet.note(detail("final"))
        return sheet.lines
    }

    private mutating func playPeriod(_ period: Int, _ random: inout SeededGenerator) {
        sheet.period = period
        sheet.phase = .live
        var left = period == 4 ? 300 : 1200
        sheet.clockSeconds = left
        sheet.note(detail("period-start", period: period))
        while left > 0 {
            let length = min(left, Int.random(in: 4...26, using: &random))
            left -= length
            sheet.now += Int64(length)
            sheet.clockSeconds = left
            let side: Side = random.chance(0.5 + edge * 0.08) ? .home : .away
            if let scorer = scorer(side, period, left, &random) {
                shot(by: scorer)
                sheet.score(1, for: scorer)
                sheet.note(detail("goal", by: scorer, period: period))
                guard period < 4 else { return }
                faceOff(after: 45, period, &random)
            } else {
                happen(side, period, &random)
            }
        }
    }

    private mutating func happen(_ side: Side, _ period: Int, _ random: inout SeededGenerator) {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<40:
            shot(by: side)
            sheet.note(detail("shot", by: side, period: period))
        case ..<55: sheet.note(detail("shot-missed", by: side, period: period))
        case ..<65: sheet.note(detail("shot-blocked", by: side, period: period))
        case ..<85:
            sheet.note(detail("stoppage", period: period))
            faceOff(after: 24, period, &random)
        default: sheet.note()
        }
    }

    /// Goals by chance, about six a game; by script who trails late draws level and nobody else scores.
    private func scorer(_ side: Side, _ period: Int, _ left: Int, _ random: inout SeededGenerator) -> Side? {
        guard script != .free else { return random.chance(0.026) ? side : nil }
        switch period {
        case 4: return script == .overtime && left < 200 ? side : nil
        case 3 where left < 600:
            guard let trailing = sheet.trailing else { return nil }
            return left < 40 * (abs(sheet.lead) + 2) || random.chance(0.1) ? trailing : nil
        default: return random.chance(0.026) && abs(sheet.lead) < 3 ? side : nil
        }
    }

    private mutating func faceOff(after seconds: Int64, _ period: Int, _ random: inout SeededGenerator) {
        sheet.now += seconds + Int64.random(in: 0...10, using: &random)
        sheet.note(detail("faceoff", by: Bool.random(using: &random) ? .home : .away, period: period))
    }

    private mutating func shot(by side: Side) {
        if side == .home { shots.home += 1 } else { shots.away += 1 }
    }

    private mutating func pause(seconds: Int64) {
        sheet.now += 5
        sheet.clockSeconds = 0
        sheet.phase = .break
        sheet.note(detail("period-end"))
        sheet.now += seconds
    }

    /// Three rounds, then one at a time; the winner gets one goal on the last line.
    private mutating func shootout(_ random: inout SeededGenerator) {
        sheet.period = 5
        sheet.clockSeconds = nil
        sheet.phase = .live
        var scored = (home: 0, away: 0)
        sheet.note(shootoutDetail(scored, round: 1, play: "shootout-start"))
        var round = 1
        while true {
            for side in [Side.home, .away] {
                sheet.now += 28
                // After ten rounds the home side holds, so that the night ends.
                let isGoal = round > 10 ? side == .home : random.chance(0.32)
                if isGoal { if side == .home { scored.home += 1 } else { scored.away += 1 } }
                sheet.note(shootoutDetail(scored, round: round, play: isGoal ? "goal" : "no-goal", by: side))
            }
            if round >= 3, scored.home != scored.away { break }
            round += 1
        }
        sheet.now += 28
        sheet.score(1, for: scored.home > scored.away ? .home : .away)
        sheet.phase = .final
        sheet.note(shootoutDetail(scored, round: round, play: "final"))
    }

    private func detail(_ play: String, by: Side? = nil, period: Int? = nil) -> JSONValue {
        var members: [String: JSONValue] = [
            "play": .string(play), "shots": .array([.integer(Int64(shots.home)), .integer(Int64(shots.away))]),
        ]
        if let period { members["strength"] = .string(period == 4 ? "4v4" : "5v5") }
        if let by { members["by"] = .string(by.rawValue) }
        return .object(members)
    }

    private func shootoutDetail(
        _ scored: (home: Int, away: Int), round: Int, play: String, by: Side? = nil
    ) -> JSONValue {
        let shootout: [String: JSONValue] = [
            "home": .integer(Int64(scored.home)), "away": .integer(Int64(scored.away)), "round": .integer(Int64(round)),
        ]
        var members: [String: JSONValue] = ["shootout": .object(shootout), "play": .string(play)]
        if let by { members["by"] = .string(by.rawValue) }
        return .object(members)
    }
}
