internal import CardRules

/// What a row says of one column.
enum ColumnValue: Hashable, Sendable {
    case null
    /// Not sent, and not touched: what is held stays (C5).
    case unchanged
    case text(String)
}

/// Why a row could not be used.
struct RowFault: Error, Hashable, Sendable {
    let game: String?
    /// The column, or the key of the configuration where it has none.
    let column: String
    let detail: String
}

/// Rows into lines of the slate format, by the configuration. Checked as the lines of `POST /v1/ticks` are.
struct RowMapper: Sendable {
    /// In the order of `columns`, for `values`.
    let columns: [String]
    private let keys: [(key: FeedKey, source: FeedSource, place: Int?)]

    init(_ settings: FeedSettings) {
        let columns = settings.columns
        self.columns = columns
        keys = FeedKey.allCases.compactMap { key in
            settings.sources[key].map { (key, $0, $0.column.flatMap { columns.firstIndex(of: $0) }) }
        }
    }

    /// The lines of a row: what the game is, and how it stands.
    struct Lines: Hashable, Sendable {
        /// `nil` when no column tells of it.
        var announcement: GamePatch?
        var score: ScorePatch?
    }

    /// - Parameters:
    ///   - values: one per column. Unchanged ones become keys left out, NULLs become nulls.
    ///   - commit: what stands for `t` where no column does.
    func lines(_ values: [ColumnValue], commit: WallTime) throws(RowFault) -> Lines {
        let game = values.indices.contains(gamePlace) ? text(values[gamePlace]) : nil
        var members: [FeedKey: JSONValue] = [:]
        for (key, source, place) in keys {
            do throws(UnreadableText) {
                members[key] = try value(of: key, source, place.map { values[$0] })
            } catch {
                throw RowFault(game: game, column: source.column ?? key.rawValue, detail: "must be \(error.expected)")
            }
        }
        if members[.t] == nil || members[.t] == .null {
            members[.t] = .number(Double(commit.milliseconds) / 1000)
        }
        var lines = Lines()
        if case .game(let patch)? = try line(.announcement, members, game) { lines.announcement = patch }
        if case .score(let patch)? = try line(.score, members, game) { lines.score = patch }
        // Both lines of a row have its version, and only the first of them would count.
        if lines.score != nil { lines.announcement?.version = nil }
        return lines
    }

    /// The game that a key of the replica identity names; `nil` when its column is not part of it.
    func game(_ values: [ColumnValue]) -> GameID? {
        guard values.indices.contains(gamePlace) else { return nil }
        return text(values[gamePlace]).flatMap { GameID($0) }
    }

    private var gamePlace: Int { keys.first { $0.key == .game }?.place ?? columns.count }

    private func text(_ value: ColumnValue) -> String? {
        guard case .text(let text) = value else { return nil }
        guard case .column(_, let words)? = keys.first(where: { $0.key == .game })?.source else { return text }
        return words[text] ?? text
    }

    /// - Returns: `nil` for a line that would say nothing.
    private func line(
        _ line: FeedKey.Line, _ members: [FeedKey: JSONValue], _ game: String?
    ) throws(RowFault) -> SlateLine? {
        guard members.contains(where: { $0.key.line == line }) else { return nil }
        var fields = LineFields(
            [("type", .string(line == .score ? "score" : "game"))]
                + FeedKey.allCases.filter { $0.line == line || $0.line == .both }.compactMap { key in
                    members[key].map { (key.name, $0) }
                })
        do throws(SlateLineFault) {
            return try SlateLineParser.parse(&fields)
        } catch {
            let name = String(error.field?.dropFirst() ?? "")
            let blamed = keys.first { $0.key.name == name && ($0.key.line == line || $0.key.line == .both) }
            let detail =
                switch error.reason {
                case .wrongValue(let expected): "must be \(expected)"
                case .missing: "is missing"
                case .notAnObject, .syntax: "\(error)"
                }
            throw RowFault(game: game, column: blamed?.source.column ?? name, detail: detail)
        }
    }

    private struct UnreadableText: Error { let expected: String }

    private func value(
        of key: FeedKey, _ source: FeedSource, _ column: ColumnValue?
    ) throws(UnreadableText) -> JSONValue? {
        switch (source, column) {
        case (.fixed(let text), _): return try read(text, as: key.content)
        case (.column, .null?): return .null
        case (.column, .unchanged?), (.column, nil): return nil
        case (.column(_, let words), .text(let text)?): return try read(words[text] ?? text, as: key.content)
        }
    }

    private func read(_ text: String, as content: FeedKey.Content) throws(UnreadableText) -> JSONValue {
        switch content {
        case .text: return .string(text)
        case .json:
            guard let value = json(text) else { throw UnreadableText(expected: "JSON, with no key twice") }
            return value
        case .number:
            guard let value = json(text), value.double != nil else { throw UnreadableText(expected: "a number") }
            return value
        case .time:
            if let time = ServerTimestamp.read(text) { return .number(Double(time.milliseconds) / 1000) }
            guard let value = json(text), value.wallTime != nil else {
                throw UnreadableText(expected: "a time, or \(unixSecondsExpected)")
            }
            return value
        case .flag:
            switch text {
            case "t", "true", "1": return .bool(true)
            case "f", "false", "0": return .bool(false)
            default: throw UnreadableText(expected: "true or false")
            }
        }
    }

    private func json(_ text: String) -> JSONValue? {
        let bytes = Array(text.utf8)
        return try? JSONScanner.value(in: bytes.span)
    }
}
