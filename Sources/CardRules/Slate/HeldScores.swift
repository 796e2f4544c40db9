/// Scores that came before their game was announced, in order of arrival (api.md, "Slates").
struct HeldScores: Sendable {
    struct Held: Sendable {
        let patch: ScorePatch
        let arrived: WallTime
    }

    private var scores: [Held] = []
    /// Those before it have gone; they are thrown out together, so that one that makes room moves no others.
    private var first = 0
    /// How many of each game.
    private var counts: [GameID: Int] = [:]

    var count: Int { scores.count - first }
    var oldest: WallTime? { first < scores.count ? scores[first].arrived : nil }

    /// - Returns: how many had to make room.
    mutating func hold(_ patch: ScorePatch, arrived: WallTime, limit: Int) -> Int {
        let surplus = min(count, max(0, count + 1 - max(1, limit)))
        for _ in 0..<surplus { dropOldest() }
        scores.append(Held(patch: patch, arrived: arrived))
        counts[patch.game, default: 0] += 1
        return surplus
    }

    /// - Returns: how many have waited too long.
    mutating func dropExpired(at now: WallTime, afterSeconds seconds: Double) -> Int {
        guard let oldest, oldest.advanced(bySeconds: seconds) <= now else { return 0 }
        let before = count
        keep { $0.arrived.advanced(bySeconds: seconds) > now }
        return before - count
    }

    /// Takes out those of one game.
    mutating func take(of game: GameID) -> [Held] {
        guard counts[game] != nil else { return [] }
        let taken = scores[first...].filter { $0.patch.game == game }
        keep { $0.patch.game != game }
        return taken
    }

    private mutating func dropOldest() {
        forget(scores[first].patch.game)
        first += 1
        guard first * 2 > scores.count else { return }
        scores.removeFirst(first)
        first = 0
    }

    private mutating func keep(_ isKept: (Held) -> Bool) {
        for score in scores[first...] where !isKept(score) { forget(score.patch.game) }
        scores = scores[first...].filter(isKept)
        first = 0
    }

    private mutating func forget(_ game: GameID) {
        guard let count = counts[game] else { return }
        counts[game] = count > 1 ? count - 1 : nil
    }
}
