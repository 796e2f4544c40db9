/// What a column can mean: the keys of the slate format (api.md, "Slates"), the two pairs of `home` and `away` told apart
/// as in the content of a card.
public enum FeedKey: String, Hashable, Sendable, CaseIterable {
    /// The game's id. The one that must have a column.
    case game
    case sport, league, home, away, startsAt, homeRank, awayRank, spread, favourite
    case homeScore, awayScore, period, clock, phase, detail
    /// When the row's state was so. Without it: when its transaction was committed.
    case t
    case version, correction

    enum Line: Hashable, Sendable { case announcement, score, both }

    /// Which line it goes into.
    var line: Line {
        switch self {
        case .game, .t, .version, .correction: .both
        case .sport, .league, .home, .away, .startsAt, .homeRank, .awayRank, .spread, .favourite: .announcement
        case .homeScore, .awayScore, .period, .clock, .phase, .detail: .score
        }
    }

    /// Its name in a line.
    var name: String {
        switch self {
        case .homeScore: "home"
        case .awayScore: "away"
        default: rawValue
        }
    }

    enum Content: Hashable, Sendable { case text, number, time, flag, json }

    /// How a column's text is read, whatever the column's type: a number may stand in a text column.
    var content: Content {
        switch self {
        case .game, .sport, .league, .home, .away, .favourite, .clock, .phase: .text
        case .homeRank, .awayRank, .spread, .homeScore, .awayScore, .period, .version: .number
        case .startsAt, .t: .time
        case .correction: .flag
        case .detail: .json
        }
    }
}

/// Where the value of a key comes from.
public enum FeedSource: Hashable, Sendable {
    /// A column, and the feed's words for its values: `["in_progress": "live"]`. A value without a word is taken as it is.
    case column(String, words: [String: String])
    /// The same for every row.
    case fixed(String)

    var column: String? {
        if case .column(let name, _) = self { name } else { nil }
    }
}
