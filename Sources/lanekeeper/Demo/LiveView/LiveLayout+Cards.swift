/// Lock Screens side by side.
extension LiveLayout {
    func cards(_ state: ViewState) -> [Line] {
        let aside = LiveLayout.phonesAside(columns: size.columns)
        let width = size.columns / aside
        var rows = Array(repeating: Line(), count: LiveLayout.cardRows)
        for (place, phone) in state.phones.prefix(aside).enumerated() {
            let box = self.box(phone, number: place + 1, isPicked: place == state.picked, columns: width - 1)
            for row in rows.indices { rows[row] = rows[row] + box[row] + Line(" ") }
        }
        return rows
    }

    private func box(_ phone: PhoneFace, number: Int, isPicked: Bool, columns: Int) -> [Line] {
        let inner = columns - 4
        let content = phone.card.map { card($0, columns: inner) } ?? excuse(phone.why, columns: inner)
        let border: Style = isPicked ? .strong : .faint
        var lines = [top(phone, number: number, isPicked: isPicked, columns: columns)]
        for row in 0..<LiveLayout.cardRows - 2 {
            let line = row < content.count ? content[row] : Line()
            lines.append(
                Line(Span(glyphs.down, border), Span(" ")) + line.fitted(to: inner)
                    + Line(Span(" "), Span(glyphs.down, border)))
        }
        lines.append(
            Line(
                glyphs.corners[2] + String(repeating: glyphs.across, count: columns - 2) + glyphs.corners[3], border))
        return lines
    }

    private func top(_ phone: PhoneFace, number: Int, isPicked: Bool, columns: Int) -> Line {
        let border: Style = isPicked ? .strong : .faint
        let mark = phone.isSpoilerFree ? " spoiler-free " : phone.isStale ? " stale " : ""
        let marks = isPicked ? ("[", "]") : (" ", " ")
        let text = "\(number) \(phone.name)".shortened(to: columns - 6 - mark.columns, mark: glyphs.cut)
        let name = marks.0 + text + marks.1
        let rest = columns - 3 - name.columns - mark.columns
        return Line(
            Span(glyphs.corners[0] + glyphs.across, border), Span(name, isPicked ? .picked : .strong),
            Span(mark, .alert), Span(String(repeating: glyphs.across, count: max(0, rest)) + glyphs.corners[1], border))
    }

    /// The front in three rows, the others in one each.
    private func card(_ games: [GameFace], columns: Int) -> [Line] {
        guard let front = games.first else { return [] }
        func side(_ lead: String, _ team: String, _ score: Int?) -> Line {
            let points = score.map { " \($0)" } ?? ""
            let name = (lead + team).shortened(to: columns - points.columns, mark: glyphs.cut)
            return Line(name.padded(to: columns - points.columns) + points, .strong)
        }
        let time = "  " + front.time
        let moment = front.moments.first.map { "  " + $0 } ?? ""
        var lines = [
            side(glyphs.front + " ", front.away, front.awayScore), side("  ", front.home, front.homeScore),
            Line(Span(time), Span(moment.shortened(to: columns - time.columns, mark: glyphs.cut), .alert)),
        ]
        for game in games.dropFirst() { lines.append(small(game, columns: columns)) }
        return lines
    }

    private func small(_ game: GameFace, columns: Int) -> Line {
        // A narrow card leaves the clock out.
        let isNarrow = columns < 26 && game.time.contains(":")
        let time = isNarrow ? String(game.time.prefix { $0 != " " }) : game.time
        let tail = " " + (game.moments.isEmpty ? time : "\(time) !")
        let scores = [game.awayScore, game.homeScore].map { $0.map { " \($0)" } ?? "" }
        let names = columns - tail.columns - scores[0].columns - scores[1].columns - 1
        let away = game.away.shortened(to: max(3, names / 2), mark: glyphs.cut)
        let home = game.home.shortened(to: max(3, names - away.columns), mark: glyphs.cut)
        let text = "\(away)\(scores[0]) \(home)\(scores[1])"
        return Line(Span(text.padded(to: columns - tail.columns)), Span(tail, game.moments.isEmpty ? .faint : .alert))
    }

    /// Words as many as fit in each row.
    private func excuse(_ why: String, columns: Int) -> [Line] {
        var rows = [""]
        for word in why.split(separator: " ") {
            let last = rows[rows.count - 1]
            if last.isEmpty {
                rows[rows.count - 1] = String(word)
            } else if last.columns + 1 + String(word).columns <= columns {
                rows[rows.count - 1] = last + " " + word
            } else {
                rows.append(String(word))
            }
        }
        return [Line("no card", .strong)] + rows.map { Line($0.clipped(to: columns), .faint) }
    }
}
