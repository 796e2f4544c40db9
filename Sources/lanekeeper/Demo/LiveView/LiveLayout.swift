import CardRules

/// Draws a state on a screen of a size: rows of text, each exactly as wide as the screen. Pure.
struct LiveLayout {
    let size: ScreenSize
    let glyphs: Glyphs

    static let smallest = ScreenSize(columns: 60, rows: 18)
    /// A card's box at least, its border in it.
    private static let cardColumns = 26
    /// A card's box: border, front in three rows, three more games, border.
    static let cardRows = 8

    /// How many phones stand side by side.
    static func phonesAside(columns: Int) -> Int { max(1, columns / cardColumns) }

    func lines(_ state: ViewState) -> [Line] {
        guard size.columns >= LiveLayout.smallest.columns, size.rows >= LiveLayout.smallest.rows else {
            return tooSmall(state)
        }
        // What is not fixed: heading, counts, three titles, cards, keys.
        let free = size.rows - 6 - LiveLayout.cardRows
        // Help and decisions are what one looks at then: the ranking makes room.
        let ranked =
            state.showsHelp
            ? max(1, min(3, free - LiveLayout.help.count - state.access.count))
            : state.decisions == nil ? min(state.games.count, (free * 3 + 4) / 5) : max(1, min(3, free / 3))
        var lines = [heading(state), counts(state.rates)]
        lines.append(rankingTitle())
        lines += ranking(state.games, rows: ranked)
        lines.append(
            title(
                "Phones \(state.firstPhone + 1) to \(state.firstPhone + state.phones.count) of \(state.phonesInAll), "
                    + "\(state.rates.cards) cards stand"))
        lines += cards(state)
        let rest = size.rows - lines.count - 2
        if state.showsHelp {
            lines.append(title("Keys"))
            let help = LiveLayout.help + state.access
            lines +=
                (help.map { Line($0.shortened(to: size.columns, mark: glyphs.cut)) }
                + Array(repeating: Line(), count: rest)).prefix(rest)
        } else if let decisions = state.decisions {
            let name = state.phones.indices.contains(state.picked) ? state.phones[state.picked].name : "the phone"
            lines.append(title("Last decisions of \(name)"))
            lines += newest(decisions, rows: rest, orElse: "none yet")
        } else {
            lines.append(title("Takeovers"))
            lines += newest(state.takeovers, rows: rest, orElse: "none yet")
        }
        lines.append(keys(state))
        return lines.map { $0.fitted(to: size.columns, fills: $0.spans.last?.style == .picked) }
    }

    private func tooSmall(_ state: ViewState) -> [Line] {
        let need = LiveLayout.smallest
        let lines = [
            "\(clockText(state.now))\(state.isPaused ? "  paused" : "")",
            "\(need.columns) x \(need.rows) is needed, this is \(size.columns) x \(size.rows)",
            "q leaves",
        ]
        return lines.prefix(size.rows).map { Line($0.clipped(to: size.columns)).fitted(to: size.columns) }
    }

    // MARK: - The top

    private func heading(_ state: ViewState) -> Line {
        let whole = max(1, state.end.seconds(since: state.begins))
        let share = min(1, max(0, state.now.seconds(since: state.begins) / whole))
        let left = Int(max(0, state.end.seconds(since: state.now)))
        let time = "  \(secondsText(state.now)) UTC  \(state.speed)  "
        let pause = state.isPaused ? " paused " : ""
        let told =
            "  \(Int(share * 100)) %, \(left / 3600) h \(left % 3600 / 60) min"
            + (size.columns < 72 ? "" : " to go")
        let bar = max(0, size.columns - 11 - time.columns - pause.columns - told.columns)
        let full = Int((share * Double(bar)).rounded(.down))
        return Line(
            Span("Lanekeeper", .heading), Span(time, .strong), Span(pause, .picked), Span(state.isPaused ? " " : ""),
            Span(String(repeating: glyphs.full, count: full), .good),
            Span(String(repeating: glyphs.empty, count: bar - full), .faint), Span(told))
    }

    private func counts(_ rates: ViewState.Rates) -> Line {
        Line(
            Span("pushes "), Span("\(rateText(rates.pushes))/s", .strong), Span("  verdicts "),
            Span("\(rateText(rates.verdicts))/s", .strong),
            Span("  start \(rates.starts) update \(rates.updates) end \(rates.ends)"),
            Span("  refused \(rates.refused) unknown \(rates.unknown)", rates.unknown > 0 ? .alert : .plain))
    }

    private func title(_ text: String) -> Line {
        let rule = String(repeating: glyphs.across, count: max(0, size.columns - text.columns - 4))
        return Line(
            Span(String(repeating: glyphs.across, count: 2) + " ", .faint), Span(text, .heading),
            Span(" " + rule, .faint))
    }

    // MARK: - The ranking

    private var gameColumns: Int { max(24, min(46, size.columns - 46)) }

    private func rankingTitle() -> Line {
        let name = "Ranking".padded(to: gameColumns + 3)
        return Line(Span(name + "time".padded(to: 10) + "worth  front  moments", .heading))
    }

    private func ranking(_ games: [ViewState.RankedRow], rows: Int) -> [Line] {
        var lines = games.prefix(rows).enumerated().map { place, row in
            let game = row.game
            var name = "\(game.away) at \(game.home)"
            if let away = game.awayScore, let home = game.homeScore {
                name = "\(game.away) \(away) at \(game.home) \(home)"
                let excess = name.columns - gameColumns + 1
                if excess > 0 {
                    // Scores stay; both names give.
                    let half = (game.away.columns + game.home.columns - excess) / 2
                    let (one, other) = (game.away.shortened(to: half, mark: glyphs.cut), glyphs.cut)
                    name = "\(one) \(away) at \(game.home.shortened(to: half, mark: other)) \(home)"
                }
            }
            let style: Style = row.isInWindow ? .plain : .faint
            return Line(
                Span("\(place + 1)".padded(to: 2, right: true) + " ", .faint),
                Span(name.shortened(to: gameColumns - 1, mark: glyphs.cut).padded(to: gameColumns), style),
                Span(game.time.shortened(to: 9, mark: glyphs.cut).padded(to: 10), style),
                Span("\(row.worth)".padded(to: 5, right: true), row.worth >= 80 ? .strong : style),
                Span("\(row.cardsInFront)".padded(to: 7, right: true) + "  ", style),
                Span(game.moments.joined(separator: ", "), .alert))
        }
        while lines.count < rows { lines.append(Line()) }
        return lines
    }

    // MARK: - The bottom

    private func newest(_ happenings: [ViewState.Happening], rows: Int, orElse: String) -> [Line] {
        guard rows > 0 else { return [] }
        var lines = happenings.suffix(rows).reversed().map { happening in
            Line(
                Span(secondsText(happening.at) + "  ", .faint),
                Span(happening.phone.map { $0.padded(to: 8) + " " } ?? ""),
                Span((happening.rule ?? "").padded(to: 4), .strong), Span(happening.text))
        }
        if lines.isEmpty { lines = [Line(orElse, .faint)] }
        while lines.count < rows { lines.append(Line()) }
        return lines
    }

    private func keys(_ state: ViewState) -> Line {
        guard let message = state.message else {
            return Line("j k 1-9 pick  d decisions  x kill lane  m moment  p pause  ? help  q quit", .faint)
        }
        return Line(message.shortened(to: size.columns, mark: glyphs.cut), .alert)
    }

    static let help = [
        "j k, arrows, 1-9   pick a phone", "d, Enter           its last decisions, with their rules",
        "x                  kill its lane: it goes on from the store",
        "m                  make a moment up for its card", "p, blank           pause, go on",
        "?, Esc             this; back", "q, Ctrl-C          quit",
    ]
}

/// The characters that lines and boxes are drawn with.
struct Glyphs: Hashable, Sendable {
    let across: String
    let down: String
    /// Upper left, upper right, lower left, lower right.
    let corners: [String]
    let full: String
    let empty: String
    let front: String
    let cut: String

    static let unicode = Glyphs(
        across: "─", down: "│", corners: ["┌", "┐", "└", "┘"], full: "█", empty: "░", front: "▶", cut: "…")
    static let ascii = Glyphs(
        across: "-", down: "|", corners: ["+", "+", "+", "+"], full: "#", empty: ".", front: ">", cut: "~")
}

/// Hours, minutes and seconds, UTC.
func secondsText(_ time: WallTime) -> String {
    let seconds = time.unixSeconds % 60
    return clockText(time).prefix(5) + ":" + (seconds < 10 ? "0\(seconds)" : "\(seconds)")
}

/// Whole numbers; below ten one decimal.
private func rateText(_ rate: Double) -> String {
    let tenths = Int((rate * 10).rounded())
    return tenths >= 100 || tenths == 0 ? "\(Int(rate.rounded()))" : "\(tenths / 10).\(tenths % 10)"
}
