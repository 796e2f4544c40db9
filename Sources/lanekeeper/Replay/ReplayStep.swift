import CardRules

/// Something that the rules decided for one phone.
struct ReplayStep: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Another game in front, or the first one of a card.
        case front
        case start, update, end
        /// A start that a rule forbade.
        case withheld
    }

    let at: WallTime
    let kind: Kind
    let rule: Rule?
    /// A short sentence; empty where kind and rule say it all.
    let detail: String
    /// Of a front change.
    var change: FrontChange?
    /// Of a start, an update, an end that was sent.
    var push: ReplayPush?
}

/// Who gave way to whom.
struct FrontChange: Hashable, Sendable {
    /// `nil` on a fresh card.
    let from: FrontScore?
    let to: FrontScore
}

/// What a game counted for on one phone at one instant (T1), points.
struct FrontScore: Hashable, Sendable {
    let game: GameID
    let worth: Double
    let taste: Double
    let lift: Double

    var effective: Double { worth + taste + lift }
}

/// One push, as APNs would have got it.
struct ReplayPush: Hashable, Sendable {
    let priority: PushPriority
    let payload: [UInt8]
    /// The front first.
    let games: [GameID]

    var byteCount: Int { payload.count }
}

/// The whole night of one phone.
struct ReplayNight: Sendable {
    let phone: ReplayPhone
    /// In order of time.
    let steps: [ReplayStep]
    let tally: ReplayTally
}
