/// A game of the slate as one phone may come to have it: in the window, not muted.
public struct Candidate: Hashable, Sendable {
    public let game: GameID
    /// Worth + taste, points: what A3 ranks by.
    public let score: Double

    public init(game: GameID, score: Double) {
        self.game = game
        self.score = score
    }
}

/// By what a phone's eligible set is filled (A3).
public enum EligibilitySource: Hashable, Sendable {
    /// A selection that arrived lately: its games, in the app's order.
    case selection([GameID])
    /// A readable personalisation: the best games that reach `minimum`, at most `limit`.
    case taste(minimum: Double, limit: Int)
    /// Neither: none new.
    case nothing
}

/// A phone's eligible set after a change of the slate or of its wishes (A3).
///
/// - Parameters:
///   - members: the set as it was, in order of joining.
///   - candidates: every game in the window of S11 that is not muted.
///   - margin: T3's margin, points: what a newcomer needs to displace the lowest of a full set ranked by taste.
/// - Returns: the set in order of joining; those that stay keep their place.
public func eligibleSet(
    from members: [GameID], candidates: [Candidate], source: EligibilitySource, margin: Double
) -> [GameID] {
    var marks: [GameID: Mark] = [:]
    marks.reserveCapacity(candidates.count)
    for candidate in candidates { marks[candidate.game] = Mark(score: candidate.score) }
    var set = members.filter { marks[$0] != nil }
    func score(_ game: GameID) -> Double { marks[game]?.score ?? 0 }

    switch source {
    case .nothing:
        break
    case .selection(let games):
        // Marked first, so that long lists are not searched in each other.
        for game in games { marks[game]?.isChosen = true }
        set.removeAll { !(marks[$0]?.isChosen ?? false) }
        for game in set { marks[game]?.isIn = true }
        for game in games where marks[game].map({ !$0.isIn }) ?? false {
            set.append(game)
            marks[game]?.isIn = true
        }
    case .taste(let minimum, let limit):
        let newcomers = candidates.filter { $0.score >= minimum && !set.contains($0.game) }
            .sorted { $0.score != $1.score ? $0.score > $1.score : $0.game < $1.game }
        for newcomer in newcomers {
            if set.count < limit {
                set.append(newcomer.game)
                continue
            }
            let lowest = set.enumerated().min { left, right in
                let (one, other) = (score(left.element), score(right.element))
                return one != other ? one < other : left.element > right.element
            }
            guard let lowest, newcomer.score >= score(lowest.element) + margin else { break }
            set.remove(at: lowest.offset)
            set.append(newcomer.game)
        }
    }
    return set
}

/// What is known of one candidate while a set is made.
private struct Mark {
    let score: Double
    var isChosen = false
    var isIn = false
}

extension Taste {
    /// T1: what this phone adds to a game's worth, points.
    public func points(for game: RankedGame, tuning: Tuning.Takeover) -> Double {
        let teams = (self.teams[game.home] ?? 0) + (self.teams[game.away] ?? 0)
        return tuning.favouriteTeamPoints * teams + (game.league.flatMap { leagues[$0] } ?? 0)
    }
}
