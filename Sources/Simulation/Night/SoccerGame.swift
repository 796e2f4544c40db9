import CardRules

/// One made-up soccer game, minute by minute: two halves with stoppage time; by script extra time and a shootout.
struct SoccerGame {
    var sheet: ScoreSheet
    /// How much better home is, within about ±1.
    let edge: Double
    /// By script: level after ninety minutes and after extra time. Else a draw stands.
    let goesToShootout: Bool
    private var red = (home: 0, away: 0)

    init(sheet: ScoreSheet, edge: Double, goesToShootout: Bool) {
        self.sheet = sheet
        self.edge = edge
        self.goesToShootout = goesToShootout
    }

    mutating func play(_ random: inout SeededGenerator) -> [SlateLine] {
        playPeriod(1, minutes: 0..<45, stoppage: Int.random(in: 1...3, using: &random), &random)
        pause(seconds: 900)
        playPeriod(2, minutes: 45..<90, stoppage: Int.random(in: 2...6, using: &random), &random)
        guard goesToShootout else {
            end(detail("final"))
            return sheet.lines
        }
        pause(seconds: 300)
        playPeriod(3, minutes: 90..<105, stoppage: 1, &random)
        pause(seconds: 90)
        playPeriod(4, minutes: 105..<120, stoppage: 1, &random)
        pause(seconds: 240)
        shootout(&random)
        return sheet.lines
    }

    private mutating func playPeriod(
        _ period: Int, minutes: Range<Int>, stoppage: Int, _ random: inout SeededGenerator
    ) {
        let began = sheet.now
        sheet.period = period
        sheet.phase = .live
        let end = minutes.upperBound + stoppage
        for minute in minutes.lowerBound..<end {
            set(minute * 60, began, minutes)
            sheet.note(minute == minutes.lowerBound ? detail("period-start") : nil)
            let second = Int.random(in: 5...55, using: &random)
            let side: Side = random.chance(0.5 + edge * 0.12) ? .home : .away
            guard let play = event(side, minute, isLast: minute == end - 1, period, &random) else { continue }
            set(minute * 60 + second, began, minutes)
            sheet.note(detail(play.name, by: play.by))
        }
        set(end * 60, began, minutes)
    }

    private mutating func set(_ played: Int, _ began: Int64, _ minutes: Range<Int>) {
        sheet.clockSeconds = played
        sheet.now = began + Int64(played - minutes.lowerBound * 60)
    }

    /// Goals by chance, under three a game; by script only who trails late scores, and has scored by the last minute.
    private mutating func event(
        _ side: Side, _ minute: Int, isLast: Bool, _ period: Int, _ random: inout SeededGenerator
    ) -> (name: String, by: Side)? {
        if goesToShootout, minute >= 70 {
            if let trailing = sheet.trailing, random.chance(0.1 * Double(abs(sheet.lead))) || isLast {
                sheet.score(isLast ? abs(sheet.lead) : 1, for: trailing)
                return ("goal", trailing)
            }
        } else if random.chance(0.028), !goesToShootout || abs(sheet.lead) < 1 || side == sheet.trailing {
            sheet.score(1, for: side)
            return ("goal", side)
        }
        switch Int.random(in: 0..<1000, using: &random) {
        case ..<240: return ("shot", side)
        case ..<340: return ("corner", side)
        case ..<375: return ("yellow-card", side)
        case ..<377:
            if side == .home { red.home += 1 } else { red.away += 1 }
            return ("red-card", side)
        default: return nil
        }
    }

    private mutating func pause(seconds: Int64) {
        sheet.phase = .break
        sheet.note(detail("period-end"))
        sheet.now += seconds
    }

    private mutating func end(_ detail: JSONValue) {
        sheet.now += 6
        sheet.phase = .final
        sheet.note(detail)
    }

    /// Five kicks each as long as they matter, then one each; the score stays.
    private mutating func shootout(_ random: inout SeededGenerator) {
        sheet.period = 5
        sheet.clockSeconds = nil
        sheet.phase = .live
        var scored = (home: 0, away: 0)
        var round = 1
        sheet.note(kicks(scored, round, "shootout-start"))
        while true {
            for side in [Side.home, .away] {
                sheet.now += 40
                // After twelve rounds the home side holds, so that the night ends.
                let isGoal = round > 12 ? side == .home : random.chance(0.75)
                if isGoal { if side == .home { scored.home += 1 } else { scored.away += 1 } }
                sheet.note(kicks(scored, round, isGoal ? "goal" : "no-goal", by: side))
                let left = max(0, 5 - round)
                // Home kicks first: the visitors have their answer still.
                let answer = side == .home ? 1 : 0
                if scored.home > scored.away + left + answer || scored.away > scored.home + left {
                    end(kicks(scored, round, "final"))
                    return
                }
            }
            round += 1
        }
    }

    private func kicks(_ scored: (home: Int, away: Int), _ round: Int, _ play: String, by: Side? = nil) -> JSONValue {
        let shootout: [String: JSONValue] = [
            "home": .integer(Int64(scored.home)), "away": .integer(Int64(scored.away)), "round": .integer(Int64(round)),
        ]
        var members: [String: JSONValue] = ["shootout": .object(shootout), "play": .string(play)]
        if let by { members["by"] = .string(by.rawValue) }
        return .object(members)
    }

    private func detail(_ play: String, by: Side? = nil) -> JSONValue {
        var members: [String: JSONValue] = ["play": .string(play)]
        if let by { members["by"] = .string(by.rawValue) }
        if red != (0, 0) { members["red"] = .array([.integer(Int64(red.home)), .integer(Int64(red.away))]) }
        return .object(members)
    }
}
