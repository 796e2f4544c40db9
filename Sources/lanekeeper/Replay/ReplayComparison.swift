import CardRules

/// What two tunings made of the same night for the same phone.
struct ReplayComparison: Sendable {
    let first: ReplayNight
    let second: ReplayNight
    /// Front changes that only one of them has, in order of time.
    let onlyFirst: [ReplayStep]
    let onlySecond: [ReplayStep]
    /// Front changes that both have: the same games at the same time.
    let sameFronts: Int

    init(_ first: ReplayNight, _ second: ReplayNight) {
        self.first = first
        self.second = second
        let (ours, theirs) = (Set(first.changes), Set(second.changes))
        onlyFirst = first.steps.filter { step in step.move.map { !theirs.contains($0) } ?? false }
        onlySecond = second.steps.filter { step in step.move.map { !ours.contains($0) } ?? false }
        sameFronts = ours.intersection(theirs).count
    }

    enum Which: Sendable { case first, second }

    /// Both lists as one, in order of time.
    var differences: [(which: Which, step: ReplayStep)] {
        let all = onlyFirst.map { (which: Which.first, step: $0) } + onlySecond.map { (which: Which.second, step: $0) }
        return all.enumerated().sorted { ($0.element.step.at, $0.offset) < ($1.element.step.at, $1.offset) }
            .map(\.element)
    }
}

/// What makes two front changes the same, whatever the scores were.
struct FrontMove: Hashable {
    let at: WallTime
    let from: GameID?
    let to: GameID
}

extension ReplayStep {
    fileprivate var move: FrontMove? {
        change.map { FrontMove(at: at, from: $0.from?.game, to: $0.to.game) }
    }
}

extension ReplayNight {
    fileprivate var changes: [FrontMove] { steps.compactMap(\.move) }
}
