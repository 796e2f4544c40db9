import CardRules

/// Everything that the live view shows at one instant. What it looks like is `LiveLayout`'s.
struct ViewState: Hashable, Sendable {
    var now: WallTime
    var begins: WallTime
    var end: WallTime
    /// `60x` or `max`.
    var speed: String
    var isPaused = false
    /// Tonight's games by worth, those in the window first.
    var games: [RankedRow] = []
    var rates = Rates()
    /// The phones of the page that is shown.
    var phones: [PhoneFace] = []
    /// Which of `phones` is picked.
    var picked = 0
    /// How many phones there are to pick from, and where the page begins among them.
    var phonesInAll = 0
    var firstPhone = 0
    /// The newest last.
    var takeovers: [Happening] = []
    /// The newest last; `nil` while they are not asked for.
    var decisions: [Happening]?
    var showsHelp = false
    /// How to look at it from outside: address and key of the API.
    var access: [String] = []
    /// What the last key has done.
    var message: String?

    /// One game of the ranking.
    struct RankedRow: Hashable, Sendable {
        var game: GameFace
        /// Points, 0...100.
        var worth: Int
        var isInWindow: Bool
        /// On how many cards it is in front.
        var cardsInFront: Int
    }

    struct Rates: Hashable, Sendable {
        /// Pushes handed to the pool, and verdicts come home, per second of real time.
        var pushes = 0.0
        var verdicts = 0.0
        var starts = 0
        var updates = 0
        var ends = 0
        var refused = 0
        var unknown = 0
        var cards = 0
    }

    /// Something of one phone at one time.
    struct Happening: Hashable, Sendable {
        var at: WallTime
        var phone: String?
        var rule: String?
        var text: String
    }
}

/// A game as it is drawn.
struct GameFace: Hashable, Sendable {
    var away: String
    var home: String
    /// `nil` on a spoiler-free card, and before the game.
    var awayScore: Int?
    var homeScore: Int?
    /// Period and clock, or the phase.
    var time: String
    /// Strongest first.
    var moments: [String] = []
}

/// The Lock Screen of one phone.
struct PhoneFace: Hashable, Sendable {
    var name: String
    var isSpoilerFree: Bool
    /// The front first; `nil` while no card stands.
    var card: [GameFace]?
    var isStale = false
    /// Why no card stands.
    var why = ""
}
