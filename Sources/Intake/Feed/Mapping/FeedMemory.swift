internal import CardRules

/// What the feed has told of each game, so that an announcement goes out when it says something new and not with every
/// score. Bounded: full, it starts afresh, and announcements are told once more.
struct FeedMemory: Hashable, Sendable {
    static let maximumGames = 4096

    private struct Known: Hashable, Sendable {
        /// Its time and version left out.
        var announcement: GamePatch?
        var isFinal = false
    }

    private var games: [GameID: Known] = [:]

    /// The lines of a row that are worth sending.
    mutating func news(of lines: RowMapper.Lines) -> [SlateLine] {
        guard let game = lines.announcement?.game ?? lines.score?.game else { return [] }
        if games[game] == nil, games.count >= FeedMemory.maximumGames { games = [:] }
        var known = games[game] ?? Known()
        var news: [SlateLine] = []
        if let patch = lines.announcement {
            var timeless = patch
            timeless.at = .distantPast
            timeless.version = nil
            if timeless != known.announcement { news.append(.game(patch)) }
            known.announcement = timeless
        }
        if let patch = lines.score {
            news.append(.score(patch))
            if patch.phase != .absent { known.isFinal = patch.phase == .value(.final) }
        }
        games[game] = known
        return news
    }

    /// The line that takes a game off the slate whose row is gone: the slate has no deleting, so it is `postponed` (S11).
    /// A game known to be final leaves by itself: a night's cleaning up says nothing.
    mutating func remove(_ game: GameID, at time: WallTime) -> SlateLine? {
        if games.removeValue(forKey: game)?.isFinal == true { return nil }
        var patch = ScorePatch(game: game, at: time)
        patch.phase = .value(.postponed)
        return .score(patch)
    }

    /// The same for all games known, in the order of their ids.
    mutating func removeAll(at time: WallTime) -> [SlateLine] {
        games.keys.sorted().compactMap { remove($0, at: time) }
    }
}
