public import CardRules

/// Reads one line of the slate format (api.md, "Slates"): known keys checked, unknown ones kept.
public enum SlateLineParser {
    /// Names and clocks are short; a longer one is a fault of the feed and would not fit a card.
    public static let maximumTextBytes = 256

    /// - Parameter line: one JSON object, without its line feed.
    public static func parse(_ line: Span<UInt8>) throws(SlateLineFault) -> SlateLine {
        var fields = try LineFields(line)
        return try parse(&fields)
    }

    /// The same checks for members that come from elsewhere, such as the columns of a table.
    static func parse(_ fields: inout LineFields) throws(SlateLineFault) -> SlateLine {
        let kind = try fields.required("type") { $0.text }
        guard let kind, kind == "game" || kind == "score" else {
            throw fields.wrong("type", expected: "\"game\" or \"score\"")
        }
        guard let game = try fields.required("game", { $0.text.flatMap { GameID($0) } }) else {
            throw fields.wrong("game", expected: identifierExpected)
        }
        guard let at = try fields.required("t", { $0.wallTime }) else {
            throw fields.wrong("t", expected: unixSecondsExpected)
        }
        return kind == "game"
            ? .game(try announcement(game, at, &fields)) : .score(try score(game, at, &fields))
    }

    private static func announcement(
        _ game: GameID, _ at: WallTime, _ fields: inout LineFields
    ) throws(SlateLineFault) -> GamePatch {
        var patch = GamePatch(game: game, at: at)
        patch.sport = try fields.take("sport", expected: textExpected) { shortText($0).map { Sport($0) } }
        patch.league = try fields.take("league", expected: textExpected, shortText)
        patch.home = try fields.take("home", expected: textExpected, shortText)
        patch.away = try fields.take("away", expected: textExpected, shortText)
        patch.startsAt = try fields.take("startsAt", expected: unixSecondsExpected) { $0.wallTime }
        patch.homeRank = try fields.take("homeRank", expected: "a whole number from 1") { whole($0, in: 1...100_000) }
        patch.awayRank = try fields.take("awayRank", expected: "a whole number from 1") { whole($0, in: 1...100_000) }
        patch.spread = try fields.take("spread", expected: "a number of points") { $0.double }
        patch.favourite = try fields.take("favourite", expected: "\"home\" or \"away\"") {
            $0.text.flatMap { Side(rawValue: $0) }
        }
        patch.version = try version(&fields)
        _ = try isCorrection(&fields)
        patch.others = fields.rest()
        return patch
    }

    private static func score(
        _ game: GameID, _ at: WallTime, _ fields: inout LineFields
    ) throws(SlateLineFault) -> ScorePatch {
        var patch = ScorePatch(game: game, at: at)
        let expected = "a whole number of points, goals or runs"
        patch.home = try fields.take("home", expected: expected) { whole($0, in: -1_000_000...1_000_000) }
        patch.away = try fields.take("away", expected: expected) { whole($0, in: -1_000_000...1_000_000) }
        patch.period = try fields.take("period", expected: "a whole number from 0") { whole($0, in: 0...1000) }
        patch.clock = try fields.take("clock", expected: textExpected, shortText)
        patch.phase = try fields.take("phase", expected: "pre, live, break, final or postponed") {
            $0.text.flatMap { Phase(rawValue: $0) }
        }
        patch.detail = try fields.take("detail", expected: "a JSON value") { $0 }
        patch.version = try version(&fields)
        patch.isCorrection = try isCorrection(&fields)
        patch.others = fields.rest()
        return patch
    }

    private static func version(_ fields: inout LineFields) throws(SlateLineFault) -> Int64? {
        try fields.take("version", expected: "a whole number") { $0.wholeNumber.map { Int64($0) } }.held
    }

    private static func isCorrection(_ fields: inout LineFields) throws(SlateLineFault) -> Bool {
        try fields.take("correction", expected: "true or false") { value in
            if case .bool(let flag) = value { flag } else { nil }
        }.held ?? false
    }

    // MARK: - Values

    private static let textExpected = "a text of at most \(maximumTextBytes) bytes"

    private static func shortText(_ value: JSONValue) -> String? {
        guard let text = value.text, text.utf8.count <= maximumTextBytes else { return nil }
        return text
    }

    private static func whole(_ value: JSONValue, in range: ClosedRange<Int>) -> Int? {
        guard let number = value.wholeNumber, range.contains(number) else { return nil }
        return number
    }
}

extension Patched {
    /// The value, where one was given.
    fileprivate var held: Value? {
        if case .value(let value) = self { value } else { nil }
    }
}
