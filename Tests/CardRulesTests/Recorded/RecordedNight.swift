@testable import CardRules

/// A recorded slate as the merge tells it, line by line and game by game, for questions that look ahead.
struct RecordedNight {
    /// A game from one of its lines to the next.
    struct Point {
        let at: Int64
        /// Home less away.
        let lead: Int
        let isUnderWay: Bool
        /// T10, 0...100.
        let worth: Double
        let moments: MomentSet
        /// For people: sport, score, period and clock.
        let label: String
    }

    struct Game {
        let id: GameID
        let sport: Sport
        fileprivate(set) var points: [Point] = []
        /// Of play, Unix seconds.
        fileprivate(set) var began: Int64 = .max
        fileprivate(set) var ended: Int64 = .max

        /// At most one score, and a margin that is hardly made good (T9).
        var oneScore: Int { [.basketball: 3, .football: 8][sport] ?? 1 }
        var largeMargin: Int { [.basketball: 15, .football: 14, .baseball: 4][sport] ?? 2 }

        /// The place of the point that holds at that time; `nil` before the first.
        func place(at time: Int64) -> Int? {
            var (low, high) = (0, points.count)
            while low < high {
                let middle = (low + high) / 2
                if points[middle].at <= time { low = middle + 1 } else { high = middle }
            }
            return low == 0 ? nil : low - 1
        }

        func point(at time: Int64) -> Point? { place(at: time).map { points[$0] } }

        /// Of the time that the game took in the end: hindsight, and no work of the sports' models.
        func sharePlayed(at time: Int64) -> Double {
            min(1, max(0, Double(time - began) / Double(max(1, ended - began))))
        }
    }

    let games: [Game]
    let from: Int64
    let to: Int64

    init(_ name: String) throws {
        let tuning = Tuning()
        var slate = Slate(tuning: tuning)
        var games: [GameID: Game] = [:]
        var order: [GameID] = []
        for line in try SlateFiles.lines(name) {
            _ = slate.apply(line, at: line.at)
            guard let state = slate.game(line.game), let lead = state.lead else { continue }
            if games[line.game] == nil { order.append(line.game) }
            var game = games[line.game] ?? Game(id: state.id, sport: state.sport)
            let now = line.at.unixSeconds
            let isUnderWay = state.phase?.isUnderWay ?? false
            if isUnderWay { game.began = min(game.began, now) }
            if state.phase == .final { game.ended = min(game.ended, now) }
            let half = state.detail?["half"]?.text ?? ""
            let score = "\(state.homeScore ?? 0)-\(state.awayScore ?? 0)"
            game.points.append(
                Point(
                    at: now, lead: lead, isUnderWay: isUnderWay, worth: worth(of: state, tuning: tuning).total,
                    moments: moments(of: state, tuning: tuning),
                    label: "\(score) period \(state.period ?? 0) \(state.clock ?? half)"))
            games[line.game] = game
        }
        self.games = order.compactMap { games[$0] }
        from = self.games.map(\.began).min() ?? 0
        to = self.games.map(\.ended).max() ?? 0
    }

    func underWay(at time: Int64) -> [(game: Game, point: Point)] {
        games.compactMap { game in
            game.point(at: time).flatMap { $0.isUnderWay ? (game, $0) : nil }
        }
    }
}

extension RecordedNight.Game {
    /// How good the next twenty minutes of this game turned out, or what is left of it; 0 to about 1.75.
    ///
    /// The share of that time in which the score was within one score, every moment counted with the square of the share
    /// of the game played by then; and a quarter of that square for each of the first three scores that drew level, broke
    /// a tie or turned the lead. From margins and the wall clock alone, and looking ahead: nothing that worth could know.
    func dramaToCome(at time: Int64, within seconds: Int64 = 1200) -> Double {
        let end = min(time + seconds, ended)
        guard end > time, let first = place(at: time) else { return 0 }
        var close = 0.0
        var turns = 0.0
        var turnsLeft = 3
        for place in first..<points.count {
            let point = points[place]
            guard point.at <= end else { break }
            let begins = max(time, point.at)
            let ends = place + 1 < points.count ? min(end, points[place + 1].at) : end
            let share = sharePlayed(at: (begins + ends) / 2)
            if abs(point.lead) <= oneScore, ends > begins { close += Double(ends - begins) * share * share }
            if place > first, point.lead.signum() != points[place - 1].lead.signum(), turnsLeft > 0 {
                let share = sharePlayed(at: point.at)
                turns += share * share
                turnsLeft -= 1
            }
        }
        return close / Double(end - time) + turns / 4
    }

    /// From here on the game never came within one score again.
    func isDecided(at time: Int64) -> Bool {
        guard let first = place(at: time), abs(points[first].lead) >= largeMargin else { return false }
        return points[first...].allSatisfy { abs($0.lead) > oneScore }
    }

    /// Overtime, shootout or walk-off chance, or the lead has just changed hands late; and the game is open.
    func isDramatic(at time: Int64) -> Bool {
        guard let first = place(at: time), abs(points[first].lead) <= oneScore else { return false }
        let great: MomentSet = [MomentSet(.overtime), MomentSet(.shootout), MomentSet(.walkOffChance)]
        if !points[first].moments.isDisjoint(with: great) { return true }
        var place = first
        while place > 0, points[place].at > time - 300 {
            let (now, before) = (points[place].lead, points[place - 1].lead)
            if now.signum() != before.signum(), sharePlayed(at: points[place].at) >= 0.9 { return true }
            place -= 1
        }
        return false
    }
}

/// Spearman's rank correlation, equal values sharing the mean of their ranks; `nil` where one side has no order.
func rankCorrelation(_ one: [Double], _ other: [Double]) -> Double? {
    let (x, y) = (ranks(one), ranks(other))
    let mean = Double(x.count + 1) / 2
    var (xy, xx, yy) = (0.0, 0.0, 0.0)
    for (a, b) in zip(x, y) {
        xy += (a - mean) * (b - mean)
        xx += (a - mean) * (a - mean)
        yy += (b - mean) * (b - mean)
    }
    return xx > 0 && yy > 0 ? xy / (xx * yy).squareRoot() : nil
}

/// 1 for the least; equal values share the mean of their ranks.
func ranks(_ values: [Double]) -> [Double] {
    let order = values.indices.sorted { values[$0] < values[$1] }
    var ranks = [Double](repeating: 0, count: values.count)
    var first = 0
    while first < order.count {
        var last = first
        while last + 1 < order.count, values[order[last + 1]] == values[order[first]] { last += 1 }
        for place in first...last { ranks[order[place]] = Double(first + last) / 2 + 1 }
        first = last + 1
    }
    return ranks
}
