/// What kind of contest a game is. Sports without a model of their own have phase and stakes only (T10).
public enum Sport: Hashable, Sendable {
    case basketball, hockey, football, baseball, soccer
    case other(String)

    public init(_ name: String) {
        switch name {
        case "basketball": self = .basketball
        case "hockey": self = .hockey
        case "football": self = .football
        case "baseball": self = .baseball
        case "soccer": self = .soccer
        default: self = .other(name)
        }
    }

    /// The word in slates and in content.
    public var name: String {
        switch self {
        case .basketball: "basketball"
        case .hockey: "hockey"
        case .football: "football"
        case .baseball: "baseball"
        case .soccer: "soccer"
        case .other(let name): name
        }
    }
}

/// Where a game stands in its evening. `break` is a pause between periods; `postponed` leaves the window (S11).
public enum Phase: String, Hashable, Sendable, Codable, CaseIterable {
    case pre, live, `break`, final, postponed

    /// Under way: `live` or in a `break`.
    public var isUnderWay: Bool { self == .live || self == .break }
}

/// One of the two sides of a game.
public enum Side: String, Hashable, Sendable, Codable {
    case home, away

    public var other: Side { self == .home ? .away : .home }
}

/// A passing event that makes a game worth a look (T2, T9).
public enum MomentKind: String, Hashable, Sendable, Codable, CaseIterable {
    case overtime
    case shootout
    case walkOffChance
    case closeFinish
    case comeback
    case upset
}
