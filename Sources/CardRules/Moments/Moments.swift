/// The moments of T9 that are on in a game as it stands. Pure; the tail of T1 is the slate's work.
///
/// None unless the game is under way, and none in a sport without a model. During a shootout `overtime` is on too: both
/// are play beyond regulation. What a missing field leaves open is not on.
public func moments(of game: GameState, tuning: Tuning) -> MomentSet {
    guard game.phase?.isUnderWay == true,
        let sport = model(of: game.sport, moments: tuning.moments, worth: tuning.worth)
    else { return [] }
    let stages = sport.stages(of: game)
    guard !stages.isEmpty else { return [] }

    var on: MomentSet = []
    if stages.allSatisfy(\.isOvertime) { on.insert(MomentSet(.overtime)) }
    if stages.allSatisfy(\.isShootout) { on.insert(MomentSet(.shootout)) }
    guard let lead = game.lead else { return on }
    if sport.isWalkOffChance(game) { on.insert(MomentSet(.walkOffChance)) }
    if lead.magnitude <= sport.closeMargin.magnitude, stages.allSatisfy(\.isFinish) {
        on.insert(MomentSet(.closeFinish))
    }
    if hasComeBack(game.history, lead: lead, margin: sport.comebackMargin) { on.insert(MomentSet(.comeback)) }
    if let leader = game.leader, leader == lessFavoured(game, tuning: tuning.moments.upset),
        stages.allSatisfy({ isLate($0, from: tuning.moments.upset.fromShare) })
    {
        on.insert(MomentSet(.upset))
    }
    return on
}

private func hasComeBack(_ history: GameHistory, lead: Int, margin: Int) -> Bool {
    (lead >= 0 && history.homeTrailedBy >= margin) || (lead <= 0 && history.awayTrailedBy >= margin)
}

/// The end of one period is not yet the next one.
private func isLate(_ stage: Stage, from share: Double) -> Bool {
    stage.sharePlayed > share || (stage.sharePlayed == share && (stage.periodSecondsLeft > 0 || share >= 1))
}

/// The side clearly less favoured before the game: the other than the one named, else by the spread.
private func lessFavoured(_ game: GameState, tuning: MomentTuning.Upset) -> Side? {
    if let favourite = game.favourite { return favourite.other }
    guard let spread = game.spread, abs(spread) >= tuning.spreadPoints, spread != 0 else { return nil }
    return spread < 0 ? .away : .home
}
