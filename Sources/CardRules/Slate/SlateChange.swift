/// What became of one line.
public enum SlateChange: Hashable, Sendable {
    /// A game joined; scores held for it have been applied.
    case announced
    /// Something of the game is different now.
    case applied
    /// Valid, and nothing new.
    case unchanged
    /// A lower score was set aside until the next line of the game repeats it (api.md); what else the line said is applied.
    case awaitsRepeat
    /// A score for a game not yet announced: kept for `slate.holdUnannouncedSeconds`.
    case held
    /// A line that later ones have overtaken.
    case ignored(Ignored)
    /// A line that cannot be used as the slate is.
    case refused(Refused)

    public enum Ignored: Hashable, Sendable {
        /// Its version is not above the one held.
        case version(held: Int64)
        /// Later lines have set every key that it has.
        case outdated
    }

    public enum Refused: Hashable, Sendable {
        /// A game needs a sport and both names; the line would leave it without this one.
        case incomplete(key: String)
        /// `SlateLimits.games` are held and none of them is over.
        case slateFull
    }
}

/// The bounds of a slate. At each the answer is the one stated.
public struct SlateLimits: Hashable, Sendable {
    /// At this number the game that left the window first makes room; when none has, an announcement is refused.
    public var games = 4096
    /// Scores held for games not yet announced, all together. At this number the oldest is dropped and counted.
    public var heldScores = 4096
    /// A game is forgotten so long after it left the window.
    public var retireAfterSeconds = 86_400.0
    /// Unknown keys kept per game; further ones are left out.
    public var unknownKeys = 32

    public init() {}
}
