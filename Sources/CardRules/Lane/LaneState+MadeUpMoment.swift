/// A moment that an operator made up for one phone (`POST /v1/moments`). Not kept: after a restart there is none.
struct MadeUpMoment: Hashable, Sendable {
    let game: GameID
    let kind: MomentKind
    /// When it is over; its lift lasts on as that of any moment does (T1).
    var until: WallTime

    func liftEnds(_ tuning: Tuning) -> WallTime { until.advanced(bySeconds: tuning.takeover.tailSeconds) }
}

extension LaneState {
    /// Lifts one game for this phone alone, as a moment of that kind would (T1, T2). Every rule that holds a takeover
    /// back holds it back (A2, T3-T8); content shows games as they are, so nothing in it tells of the moment (P2).
    /// A newer one replaces an older one.
    mutating func makeUp(_ moment: MadeUpMoment, _ turn: inout Turn) {
        let seconds = Int(moment.until.seconds(since: turn.now).rounded())
        guard moment.until > turn.now, kept.members.contains(moment.game) else {
            turn.note(.moment, .slate, .t1, "a made-up moment of \(moment.game) concerns no game of this phone")
            return
        }
        madeUp = moment
        turn.note(.moment, .slate, .t1, "made up: \(moment.kind.rawValue) of \(moment.game) for \(seconds) s")
    }

    /// To be called in every turn.
    mutating func forgetMadeUpMoment(_ turn: Turn) {
        if let madeUp, madeUp.liftEnds(turn.tuning) <= turn.now { self.madeUp = nil }
    }

    /// What the made-up moment gives to a game now, points (T2); 0 where there is none.
    func madeUpLift(of game: GameID, _ turn: Turn) -> Double {
        guard let madeUp, madeUp.game == game, turn.now < madeUp.liftEnds(turn.tuning) else { return 0 }
        return turn.tuning.takeover.boosts[madeUp.kind]
    }
}
