public import CardRules

/// Tonight's games for people: best first, equal ones by id (T7), each with what is merged and what it is worth for (T10).
public struct SlateRanking: Sendable {
    public let version: UInt64
    public let asOf: WallTime
    public let games: [Game]

    public struct Game: Sendable {
        public let ranked: RankedGame
        public let merged: GameState
        public let worth: Worth
    }
}
