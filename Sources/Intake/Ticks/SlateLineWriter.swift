public import CardRules
internal import PushWire

/// Writes slate lines as a feed sends them: the inverse of `SlateLineParser`.
public enum SlateLineWriter {
    /// NDJSON, each line with its line feed. What is absent is left out, null is null; a number without a fraction is
    /// written without one.
    public static func text(of lines: some Sequence<SlateLine>) -> [UInt8] {
        var writer = JSONWriter()
        for line in lines {
            writer.value(value(of: line))
            writer.raw("\n")
        }
        return writer.bytes
    }

    private static func value(of line: SlateLine) -> JSONValue {
        var members: [String: JSONValue]
        switch line {
        case .game(let patch):
            members = patch.others
            members["type"] = .string("game")
            members["sport"] = patch.sport.json { .string($0.name) }
            members["league"] = patch.league.json { .string($0) }
            members["home"] = patch.home.json { .string($0) }
            members["away"] = patch.away.json { .string($0) }
            members["startsAt"] = patch.startsAt.json(seconds)
            members["homeRank"] = patch.homeRank.json { .integer(Int64($0)) }
            members["awayRank"] = patch.awayRank.json { .integer(Int64($0)) }
            members["spread"] = patch.spread.json { .number($0) }
            members["favourite"] = patch.favourite.json { .string($0.rawValue) }
            members["version"] = patch.version.map { .integer($0) }
        case .score(let patch):
            members = patch.others
            members["type"] = .string("score")
            members["home"] = patch.home.json { .integer(Int64($0)) }
            members["away"] = patch.away.json { .integer(Int64($0)) }
            members["period"] = patch.period.json { .integer(Int64($0)) }
            members["clock"] = patch.clock.json { .string($0) }
            members["phase"] = patch.phase.json { .string($0.rawValue) }
            members["detail"] = patch.detail.json { $0 }
            members["version"] = patch.version.map { .integer($0) }
            if patch.isCorrection { members["correction"] = .bool(true) }
        }
        members["game"] = .string(line.game.text)
        members["t"] = seconds(line.at)
        return .object(members)
    }

    private static func seconds(_ time: WallTime) -> JSONValue { .number(Double(time.milliseconds) / 1000) }
}

extension Patched {
    /// `nil`: the key is left out.
    fileprivate func json(_ value: (Value) -> JSONValue) -> JSONValue? {
        switch self {
        case .absent: nil
        case .null: .null
        case .value(let held): value(held)
        }
    }
}
