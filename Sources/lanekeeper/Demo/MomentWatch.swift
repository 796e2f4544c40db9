import CardRules
import Simulation

/// When which moment was on, as the slate's own rules give it: for the question whether its game was in front then.
struct MomentWatch {
    private var slate: Slate
    private var open: [Moment: WallTime] = [:]
    private(set) var intervals: [MomentInterval] = []

    private struct Moment: Hashable {
        let game: GameID
        let kind: MomentKind
    }

    init(tuning: Tuning) { slate = Slate(tuning: tuning) }

    /// Games under way.
    private(set) var live = 0
    /// The slate as it was seen last.
    private(set) var snapshot = SlateSnapshot.empty

    mutating func sees(_ lines: [SlateLine], at now: WallTime) {
        for line in lines { _ = slate.apply(line, at: now) }
        var on: Set<Moment> = []
        live = 0
        snapshot = slate.snapshot(at: now)
        for game in snapshot.games {
            if game.phase.isUnderWay { live += 1 }
            for kind in game.moments { on.insert(Moment(game: game.id, kind: kind)) }
        }
        for (moment, since) in open where !on.contains(moment) {
            intervals.append(MomentInterval(game: moment.game, kind: moment.kind, from: since, to: now))
            open[moment] = nil
        }
        for moment in on where open[moment] == nil { open[moment] = now }
    }

    mutating func close(at now: WallTime) { sees([], at: now) }
}
