import CardRules

/// One made-up football game, snap by snap: four quarters, an overtime that the first score ends; it may end level.
struct FootballGame {
    var sheet: ScoreSheet
    /// How much better home is, within about ±1.
    let edge: Double
    private var ball = Side.home
    private var down = 1
    private var distance = 10
    /// Yards to the goal line.
    private var toGo = 75
    private var left = 0

    init(sheet: ScoreSheet, edge: Double) {
        self.sheet = sheet
        self.edge = edge
    }

    mutating func play(_ random: inout SeededGenerator) -> [SlateLine] {
        let receives: Side = random.chance(0.5) ? .home : .away
        var period = 1
        while period <= 4 || (period == 5 && sheet.lead == 0) {
            if period != 2, period != 4 { kickOff(to: period == 3 ? receives.other : receives) }
            playPeriod(period, &random)
            period += 1
            guard period <= 4 || (period == 5 && sheet.lead == 0) else { break }
            sheet.now += 5
            sheet.phase = .break
            sheet.note(detail("period-end"))
            sheet.now += period == 3 ? 900 : 160
        }
        sheet.now += 30
        sheet.phase = .final
        sheet.note(detail("final"))
        return sheet.lines
    }

    private mutating func kickOff(to side: Side) {
        ball = side
        down = 1
        distance = 10
        toGo = 75
    }

    private mutating func playPeriod(_ period: Int, _ random: inout SeededGenerator) {
        sheet.period = period
        sheet.phase = .live
        left = period > 4 ? 600 : 900
        sheet.clockSeconds = left
        sheet.note(snapDetail("period-start"))
        while left > 0 {
            let before = sheet.lead
            let runs = random.chance(0.6)
            let length = min(left, Int.random(in: runs ? 25...42 : 5...9, using: &random))
            left -= length
            sheet.now += Int64(length) + (runs ? Int64.random(in: 0...30, using: &random) : 38)
            sheet.clockSeconds = left
            snap(&random)
            if period > 4, sheet.lead != before { return }
        }
    }

    private mutating func snap(_ random: inout SeededGenerator) {
        let side = ball
        let strength = side == .home ? edge : -edge
        if down == 4, toGo > 40 || distance > 2, !mustGoForIt {
            kick(&random)
            return
        }
        if random.chance(0.022) {
            turnOver(at: 100 - toGo)
            sheet.note(snapDetail("interception", by: side.other))
            return
        }
        let isPass = random.chance(0.57)
        let isComplete = random.chance(0.61 + strength * 0.05)
        let yards =
            !isPass ? Int.random(in: -2...10, using: &random) : isComplete ? Int.random(in: 2...21, using: &random) : 0
        toGo -= yards
        guard toGo > 0 else {
            touchdown(side, isPass ? "pass-touchdown" : "run-touchdown", &random)
            return
        }
        toGo = min(99, toGo)
        distance -= yards
        if distance <= 0 {
            down = 1
            distance = min(10, toGo)
        } else if down == 4 {
            turnOver(at: 100 - toGo)
        } else {
            down += 1
        }
        sheet.note(snapDetail(isPass ? "pass" : "run"))
    }

    /// Behind late, a kick is no use.
    private var mustGoForIt: Bool {
        sheet.period >= 4 && left < 150 && sheet.trailing == ball && (toGo > 40 || abs(sheet.lead) > 3)
    }

    private mutating func kick(_ random: inout SeededGenerator) {
        let side = ball
        guard toGo <= 38 else {
            turnOver(at: min(95, max(20, 100 - (toGo - 42))))
            sheet.note(snapDetail("punt"))
            return
        }
        let isGood = random.chance(0.95 - Double(toGo) * 0.007)
        if isGood { sheet.score(3, for: side) }
        sheet.note(detail(isGood ? "field-goal" : "field-goal-missed", by: side))
        if isGood { kickOff(to: side.other) } else { turnOver(at: 100 - toGo) }
        sheet.now += isGood ? 110 : 60
    }

    private mutating func touchdown(_ side: Side, _ play: String, _ random: inout SeededGenerator) {
        sheet.score(6, for: side)
        sheet.note(detail(play, by: side))
        kickOff(to: side.other)
        guard sheet.period <= 4 else { return }
        sheet.now += 45
        if random.chance(0.94) {
            sheet.score(1, for: side)
            sheet.note(detail("extra-point", by: side))
        }
        sheet.now += 120
    }

    private mutating func turnOver(at yards: Int) {
        kickOff(to: ball.other)
        toGo = max(1, min(99, yards))
    }

    private func snapDetail(_ play: String, by: Side? = nil) -> JSONValue {
        var members: [String: JSONValue] = [
            "play": .string(play), "possession": .string(ball.rawValue), "down": .integer(Int64(down)),
            "distance": .integer(Int64(distance)),
        ]
        if let by { members["by"] = .string(by.rawValue) }
        return .object(members)
    }

    private func detail(_ play: String, by: Side? = nil) -> JSONValue {
        var members: [String: JSONValue] = ["play": .string(play), "possession": .null]
        if let by { members["by"] = .string(by.rawValue) }
        return .object(members)
    }
}
