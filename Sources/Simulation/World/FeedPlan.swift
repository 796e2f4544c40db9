internal import CardRules

/// When which lines of the evening reach the server: as a feed with its faults would send them.
struct FeedPlan {
    /// In order of time.
    let ticks: [(at: WallTime, lines: [SlateLine])]

    private struct Known {
        var home = 0
        var away = 0
    }

    init(_ lines: [SlateLine], faults: FaultPlan, random: inout SeededGenerator) {
        var sent: [(at: WallTime, number: Int, line: SlateLine)] = []
        var known: [GameID: Known] = [:]
        var postponed: [GameID: WallTime] = [:]
        func add(_ line: SlateLine, at time: WallTime) { sent.append((time, sent.count, line)) }

        for episode in faults.episodes where episode.kind == .postponements {
            let games = Array(Set(lines.map(\.game))).sorted()
            guard !games.isEmpty else { break }
            let game = games[Int(episode.draw % UInt64(games.count))]
            guard postponed[game] == nil else { continue }
            postponed[game] = episode.from
            var patch = ScorePatch(game: game, at: episode.from)
            patch.phase = .value(.postponed)
            add(.score(patch), at: episode.from)
        }
        for line in lines {
            if let since = postponed[line.game], line.at >= since { continue }
            var arrives = line.at
            func strikes(_ kind: FaultKind) -> Bool { random.chance(faults.share(of: kind, at: line.at)) }
            guard case .score(let patch) = line else {
                add(line, at: arrives)
                continue
            }
            let isLast = if case .value(.final) = patch.phase { true } else { false }
            if strikes(.missingLines), !isLast { continue }
            if strikes(.lateLines) { arrives = arrives.advanced(bySeconds: Double.random(in: 1...120, using: &random)) }
            if strikes(.reorderedLines) {
                arrives = arrives.advanced(bySeconds: Double.random(in: 0.1...8, using: &random))
            }
            if let burst = faults.episodes.first(where: {
                $0.kind == .bursts && $0.from <= arrives && arrives < $0.until
            }) {
                arrives = burst.until
            }
            var state = known[line.game] ?? Known()
            if case .value(let home) = patch.home { state.home = home }
            if case .value(let away) = patch.away { state.away = away }
            known[line.game] = state
            if strikes(.flippingSources) || strikes(.corrections), !isLast {
                // Another source, or a mistake: one point more for the home side, and right again soon.
                var wrong = ScorePatch(game: line.game, at: line.at.advanced(bySeconds: 0.001))
                wrong.home = .value(state.home + 1)
                var right = ScorePatch(game: line.game, at: line.at.advanced(bySeconds: 0.002))
                right.home = .value(state.home)
                right.isCorrection = true
                add(line, at: arrives)
                add(.score(wrong), at: arrives.advanced(bySeconds: 1))
                add(.score(right), at: arrives.advanced(bySeconds: Double.random(in: 2...20, using: &random)))
                continue
            }
            add(line, at: arrives)
            if strikes(.doubledLines) {
                add(line, at: arrives.advanced(bySeconds: Double.random(in: 0...60, using: &random)))
            }
        }
        for episode in faults.episodes where episode.kind == .disputedScores {
            for line in FeedPlan.dispute(episode, lines, postponed, &random) { add(line, at: line.at) }
        }
        sent.sort { ($0.at, $0.number) < ($1.at, $1.number) }
        var ticks: [(at: WallTime, lines: [SlateLine])] = []
        for entry in sent {
            if let last = ticks.last, last.at == entry.at {
                ticks[ticks.count - 1].lines.append(entry.line)
            } else {
                ticks.append((entry.at, [entry.line]))
            }
        }
        self.ticks = ticks
    }

    /// Every half a minute a game is twenty-five points apart, and half a minute later it is as it was.
    private static func dispute(
        _ episode: FaultPlan.Episode, _ lines: [SlateLine], _ postponed: [GameID: WallTime],
        _ random: inout SeededGenerator
    ) -> [SlateLine] {
        let scores = lines.compactMap { line in if case .score(let patch) = line { patch } else { nil } }
        let live = Set(scores.filter { $0.at <= episode.from }.map(\.game))
            .subtracting(scores.filter { $0.at <= episode.until && $0.phase == .value(.final) }.map(\.game))
            .subtracting(postponed.keys).sorted()
        guard !live.isEmpty else { return [] }
        let game = live[Int(episode.draw % UInt64(live.count))]
        let own = scores.filter { $0.game == game }
        var disputed: [SlateLine] = []
        var time = episode.from
        while time < episode.until {
            let next = time.advanced(bySeconds: Double.random(in: 22...40, using: &random))
            for (at, isWrong) in [(time, true), (next, false)] {
                let homes = own.filter { $0.at <= at }.compactMap {
                    if case .value(let home) = $0.home { home } else { nil }
                }
                var patch = ScorePatch(game: game, at: at)
                patch.home = .value((homes.last ?? 0) + (isWrong ? 25 : 0))
                patch.isCorrection = true
                disputed.append(.score(patch))
            }
            time = next.advanced(bySeconds: Double.random(in: 22...40, using: &random))
        }
        return disputed
    }
}
