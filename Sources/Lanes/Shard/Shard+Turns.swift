import CardRules
import PushWire

/// One turn of one lane, and its effects carried out in their order.
extension Shard {
    /// What a turn made of its event.
    enum Outcome {
        case kept
        /// It was an older selection than the one held.
        case stale(held: WallTime)
        /// It belongs to the record that owns the phone (S7).
        case forwarded(ForwardedEvent, to: DeviceID)
    }

    @discardableResult
    func turn(
        _ index: Int, _ lane: Lane, _ event: LaneEvent, answered: (InFlight, PushAnswer)? = nil
    ) async -> Outcome {
        let now = environment.clock.now
        while permits < Surroundings.claimsATurn, environment.claims.take() { permits += 1 }
        let turn = await lane.take(event, at: now, in: surroundings[permits])
        deadlines.arm(index, at: turn.nextLook)
        if turn.effects.isEmpty { return .kept }
        return await perform(turn.effects, index, lane, answered: answered)
    }

    func perform(
        _ effects: [LaneEffect], _ index: Int, _ lane: Lane, answered: (InFlight, PushAnswer)?
    ) async -> Outcome {
        guard let device = devices[index] else { return .kept }
        var isHeld = false
        var claims: [StartClaim] = []
        var outcome = Outcome.kept
        var sent: [(order: PushOrder, id: ApnsID)] = []
        for effect in effects {
            switch effect {
            case .claim(let night, let ordinal, let key):
                let made = StartClaim(
                    device: device, night: night, ordinal: ordinal, key: key, at: environment.clock.now)
                claims.append(made)
                outbox.gathering.claims.append(made)
            case .save:
                outbox.gathering.lanes.insert(index)
                isHeld = true
            case .send(let order):
                let claim = claims.first { $0.key == order.key }
                if let id = await send(order, index, lane, device, claim: claim, isHeld: isHeld) {
                    sent.append((order, id))
                }
            case .note(let entry):
                note(entry, device, sent: sent, answered: answered)
            case .claimPhone, .handOver, .confirmHandover, .askSessions:
                outbox.gathering.messages.append(Outbox.HeldMessage(from: device, effect: effect))
            case .forward(let event, let owner):
                outcome = .forwarded(event, to: owner)
            case .refuseSelection(let held):
                outcome = .stale(held: held)
            case .erase:
                outbox.gathering.lanes.remove(index)
                outbox.gathering.erased.insert(Outbox.Erased(lane: index, device: device))
            }
        }
        return outcome
    }

    func note(
        _ entry: TimelineEntry, _ device: DeviceID, sent: [(order: PushOrder, id: ApnsID)],
        answered: (InFlight, PushAnswer)?
    ) {
        environment.trace.record(.decided(device, entry))
        guard environment.keepsTimeline else { return }
        var id: String?
        var summary: PushSummary?
        if let push = entry.push, let sent = sent.first(where: { $0.order.number == push }) {
            id = sent.id.description
            summary = PushSummary(
                event: sent.order.event, gateway: sent.order.address.gateway, priority: sent.order.priority.rawValue,
                status: nil, reason: nil)
        } else if let (push, answer) = answered, entry.kind == .verdict || entry.kind == .probe && entry.push != nil {
            id = push.id.description
            let (status, reason) = answer.verdict.statusAndReason
            summary = PushSummary(
                event: push.event, gateway: push.gateway, priority: push.priority.rawValue, status: status,
                reason: reason)
        }
        outbox.gathering.append(
            TimelineRow(device: device, entry: entry, apnsID: id, push: summary), at: environment.clock.now)
    }
}

extension Verdict {
    /// For the timeline.
    fileprivate var statusAndReason: (Int?, String?) {
        switch self {
        case .accepted: (200, nil)
        case .refused(let refusal): (refusal.status, refusal.reason.word)
        case .notSent: (nil, "not sent")
        case .unknown: (nil, "unknown")
        }
    }
}
