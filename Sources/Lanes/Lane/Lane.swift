import CardRules

/// The actor that owns one device. It runs on its shard's executor, so a turn inside the shard costs no hop, and it has
/// no task, no stream and no timer of its own.
///
/// A turn never awaits: nothing can slip in between check and change.
actor Lane {
    private let shard: Shard
    let generation: Generation
    private var state: LaneState

    init(state: LaneState, generation: Generation, shard: Shard) {
        self.state = state
        self.generation = generation
        self.shard = shard
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { shard.unownedExecutor }

    func take(_ event: LaneEvent, at now: WallTime, in surroundings: Surroundings) -> LaneTurn {
        let effects = state.apply(event, at: now, in: surroundings)
        return LaneTurn(effects: effects, nextLook: state.nextLook)
    }

    /// What must survive, as it is now.
    var stored: StoredLane { StoredLane(record: state.kept, generation: generation) }

    /// A decision that the app has overtaken is discarded when it is about to be sent (A4).
    func isCurrent(_ order: PushOrder) -> Bool { state.isCurrent(order) }

    /// R7: no reissue begins before then.
    func holdReissues(until time: WallTime) { state.holdReissues(until: time) }

    var isRemoved: Bool { state.kept.isRemoved }

    /// It owns the phone behind the token (S7).
    func owns(_ token: [UInt8]) -> Bool {
        guard let held = state.kept.pushToStart else { return false }
        return held.ownership == .owner && held.address?.token == token
    }

    var app: AppID { state.kept.app }

    func needsToken(_ tuning: Tuning) -> Bool { state.needsToken(tuning) }

    /// What a gauge counts of it.
    func tally(_ tuning: Tuning) -> LaneTally {
        let condition: Gauges.LaneCondition =
            state.kept.isRemoved
            ? .removed
            : state.supersededBy != nil
                ? .superseded
                : state.needsToken(tuning) ? .needsToken : state.kept.cards.isEmpty ? .idle : .standing
        return LaneTally(
            condition: condition, cards: state.kept.cards, isProbing: state.isProbing)
    }

    /// The whole state, for people and for tests.
    var snapshot: LaneState { state }
}

/// What one turn asks of the shard.
struct LaneTurn: Sendable {
    let effects: [LaneEffect]
    let nextLook: WallTime?
}
