/// Scores that came before their game was announced, in order of arrival (api.md, "Slates").
struct HeldScores: Sendable {
    struct Held: Sendable {
        let patch: ScorePatch
        let arrived: WallTime
    }

    private var scores: [Held] = []

    var count: Int { scores.count }
    var oldest: WallTime? { scores.first?.arrived }

    /// - Returns: how many had to make room.
    mutating func hold(_ patch: ScorePatch, arrived: WallTime, limit: Int) -> Int {
        let surplus = min(scores.count, max(0, scores.count + 1 - max(1, limit)))
        scores.removeFirst(surplus)
        scores.append(Held(patch: patch, arrived: arrived))
        return surplus
    }

    /// - Returns: how many have waited too long.
    mutating func dropExpired(at now: WallTime, afterSeconds seconds: Double) -> Int {
        guard let oldest, oldest.advanced(bySeconds: seconds) <= now else { return 0 }
        let before = scores.count
        scores.removeAll { $0.arrived.advanced(bySeconds: seconds) <= now }
        return before - scores.count
    }

    /// Takes out those of one game.
    mutating func take(of game: GameID) -> [Held] {
        guard scores.contains(where: { $0.patch.game == game }) else { return [] }
        let taken = scores.filter { $0.patch.game == game }
        scores.removeAll { $0.patch.game == game }
        return taken
    }
}
