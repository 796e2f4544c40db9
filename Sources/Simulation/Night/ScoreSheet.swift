import CardRules

/// Keeps one made-up game's row and writes what changed of it as patches.
struct ScoreSheet {
    let id: GameID
    let startsAt: WallTime
    /// Unix seconds on the wall.
    var now: Int64
    var home = 0
    var away = 0
    var period = 0
    /// Left in the period, as the next line shows it; `nil` where there is no clock.
    var clockSeconds: Int?
    var phase = Phase.pre
    private(set) var lines: [SlateLine] = []
    private var last: Row?

    private struct Row {
        var home: Int
        var away: Int
        var period: Int
        var clock: String?
        var phase: Phase
        var detail: JSONValue
    }

    init(id: GameID, announcedAt: WallTime, startsAt: WallTime) {
        self.id = id
        self.startsAt = startsAt
        now = announcedAt.unixSeconds
        note(.object([:] as [String: JSONValue]))
        now = startsAt.unixSeconds
    }

    /// - Parameter detail: `nil` for a line of the clock alone.
    mutating func note(_ detail: JSONValue? = nil) {
        let row = Row(
            home: home, away: away, period: period, clock: clockSeconds.map(ScoreSheet.text), phase: phase,
            detail: detail ?? last?.detail ?? .object([:] as [String: JSONValue]))
        var patch = ScorePatch(game: id, at: WallTime(seconds: now))
        if row.home != last?.home { patch.home = .value(row.home) }
        if row.away != last?.away { patch.away = .value(row.away) }
        if row.period != last?.period { patch.period = .value(row.period) }
        if last == nil || row.clock != last?.clock { patch.clock = row.clock.map { .value($0) } ?? .null }
        if row.phase != last?.phase { patch.phase = .value(row.phase) }
        if row.detail != last?.detail { patch.detail = .value(row.detail) }
        last = row
        guard patch != ScorePatch(game: id, at: patch.at) else { return }
        lines.append(.score(patch))
    }

    mutating func score(_ points: Int, for side: Side) {
        if side == .home { home += points } else { away += points }
    }

    /// Home less away.
    var lead: Int { home - away }

    /// `nil` when level.
    var trailing: Side? { lead == 0 ? nil : lead > 0 ? .away : .home }

    private static func text(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(max(0, seconds) / 60)):\(two(max(0, seconds) % 60))"
    }
}
