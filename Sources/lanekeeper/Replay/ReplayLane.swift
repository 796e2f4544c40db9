import CardRules
import PushWire

/// One phone's lane in a replay, with the perfect phone and gateway around it: every push is accepted at once, every
/// start is answered by an update token a little later.
struct ReplayLane {
    /// How long a phone takes from a start to its update token, seconds.
    static let tokenSeconds = 2.0

    let phone: ReplayPhone
    private(set) var state: LaneState
    private(set) var steps: [ReplayStep] = []
    private(set) var counts = ReplayCounts()
    /// When the token of the newest start comes.
    private var tokenAt: WallTime?
    private var activities: UInt8 = 0
    /// Why the card is to end, until its end is sent.
    private var endReason: (rule: Rule?, detail: String)?
    /// What the last push of the card showed.
    private var shown: [RankedGame] = []

    init(_ phone: ReplayPhone, at now: WallTime, tuning: Tuning) {
        self.phone = phone
        state = LaneState(
            device: DeviceID(unchecked: "replay"), app: ReplayLane.app.id, zone: phone.zone, at: now, tuning: tuning)
    }

    static let app = AppProfile(
        id: AppID(unchecked: "lineup"), bundleID: "com.example.lineup", slateAttributesType: "LineupAttributes")

    /// When the lane wants a turn of its own.
    var nextTime: WallTime? { [state.nextLook, tokenAt].compactMap { $0 }.min() }

    var isCardStanding: Bool { !state.kept.cards.isEmpty }

    /// Whatever time brings by now.
    mutating func passTime(
        to now: WallTime, in surroundings: Surroundings, _ renderer: inout PayloadRenderer
    ) {
        if let due = tokenAt, due <= now {
            tokenAt = nil
            activities &+= 1
            let token = CardToken(
                key: .slate, activity: ActivityID(unchecked: "card-\(activities)"),
                address: PushAddress(token: [0xB0, activities], gateway: .production), startedBy: .push,
                began: nil)
            take(.cardToken(token), at: now, in: surroundings, &renderer)
        }
        if let look = state.nextLook, look <= now { take(.look, at: now, in: surroundings, &renderer) }
    }

    /// One event, and all that follows from it at the same instant.
    mutating func take(
        _ event: LaneEvent, at now: WallTime, in surroundings: Surroundings, _ renderer: inout PayloadRenderer
    ) {
        var events = [event]
        while !events.isEmpty {
            let front = state.card(.slate)?.front?.game
            let effects = state.apply(events.removeFirst(), at: now, in: surroundings)
            guard !effects.isEmpty else { continue }
            noteWithheld(effects)
            noteFront(after: front, effects, at: now, surroundings)
            for effect in effects {
                switch effect {
                case .send(let order):
                    events.append(.verdict(order.number, send(order, effects, at: now, surroundings, &renderer)))
                case .claimPhone(let token): events.append(.owned(token: token, from: nil, handover: nil))
                case .claim(let night, _, _): counts.starts[night, default: 0] += 1
                case .save, .note, .handOver, .confirmHandover, .forward, .askSessions, .refuseSelection, .erase: break
                }
            }
        }
    }

    // MARK: - Decisions

    private mutating func noteWithheld(_ effects: [LaneEffect]) {
        for case .note(let entry) in effects {
            switch entry.kind {
            case .withheld:
                steps.append(ReplayStep(at: entry.at, kind: .withheld, rule: entry.rule, detail: entry.detail))
            case .end where entry.rule == .l7:
                steps.append(ReplayStep(at: entry.at, kind: .end, rule: .l7, detail: entry.detail))
            case .end: endReason = (entry.rule, entry.detail)
            case .reissue where entry.push == nil: endReason = (entry.rule, entry.detail)  // of the card replaced
            default: break
            }
        }
    }

    private mutating func noteFront(
        after before: GameID?, _ effects: [LaneEffect], at now: WallTime, _ surroundings: Surroundings
    ) {
        guard let front = state.card(.slate)?.front?.game, front != before,
            let to = score(of: front, surroundings)
        else { return }
        var rule: Rule?
        for case .note(let entry) in effects where entry.kind == .takeover { rule = entry.rule }
        let change = FrontChange(from: before.flatMap { score(of: $0, surroundings) }, to: to)
        // A start chooses its first front without a word.
        let isFirst = change.from == nil
        steps.append(
            ReplayStep(at: now, kind: .front, rule: rule ?? (isFirst ? .t12 : nil), detail: "", change: change))
    }

    private func score(of game: GameID, _ surroundings: Surroundings) -> FrontScore? {
        guard let ranked = surroundings.slate.game(game) else { return nil }
        var taste = 0.0
        if case .readable(let own) = state.kept.settings.personalisation {
            taste = own.points(for: ranked, tuning: surroundings.tuning.takeover)
        }
        return FrontScore(game: game, worth: ranked.worth, taste: taste, lift: ranked.lift)
    }

    // MARK: - Pushes

    private mutating func send(
        _ order: PushOrder, _ effects: [LaneEffect], at now: WallTime, _ surroundings: Surroundings,
        _ renderer: inout PayloadRenderer
    ) -> Verdict {
        let id = ApnsID(randomHigh: 0, randomLow: 0)
        guard let request = renderer.request(for: order, snapshot: surroundings.slate, id: id) else { return .notSent }
        let push = ReplayPush(
            priority: order.priority, payload: request.payload, games: order.content.games)
        let games = order.content.games.compactMap { surroundings.slate.game($0) }
        switch order.event {
        case .start:
            // An addition (S4), or the successor of a card (R1).
            var reason: (rule: Rule?, detail: String) = (.s4, "")
            for case .note(let entry) in effects where entry.push == order.number {
                reason = (entry.rule, entry.detail)
            }
            steps.append(ReplayStep(at: now, kind: .start, rule: reason.rule, detail: reason.detail, push: push))
            tokenAt = now.advanced(bySeconds: ReplayLane.tokenSeconds)
        case .update: steps.append(update(push, showing: games, at: now))
        case .end:
            steps.append(
                ReplayStep(
                    at: now, kind: .end, rule: endReason?.rule, detail: endReason?.detail ?? "", push: push))
            endReason = nil
        }
        shown = games
        return .accepted
    }

    private mutating func update(_ push: ReplayPush, showing games: [RankedGame], at now: WallTime) -> ReplayStep {
        let reason = urgentReason(games)
        guard let reason else {
            return ReplayStep(at: now, kind: .update, rule: .u1, detail: "", push: push)
        }
        guard push.priority == .conserving else {
            return ReplayStep(at: now, kind: .update, rule: .p6, detail: reason, push: push)
        }
        counts.conserved += 1
        return ReplayStep(
            at: now, kind: .update, rule: .p6, detail: "\(reason), but the hour's priority 10 is used up", push: push)
    }

    /// P6, as against the push before. Of a spoiler-free phone nothing is told that its pushes hide (P2).
    private func urgentReason(_ games: [RankedGame]) -> String? {
        if games.first?.id != shown.first?.id { return "another front" }
        for game in games {
            guard let before = shown.first(where: { $0.id == game.id }) else { continue }
            if game.momentsBegun > before.momentsBegun {
                guard !phone.isSpoilerFree else { return "a moment began" }
                let begun = game.moments.first { !before.moments.contains($0) }
                return begun.map { "a moment began: \($0.rawValue)" } ?? "a moment began"
            }
            if game.phase == .final, before.phase != .final { return "a game ended" }
        }
        return nil
    }
}

/// What a lane counts while it is replayed.
struct ReplayCounts: Hashable, Sendable {
    /// Starts claimed, by the beginning of the night that they counted in.
    var starts: [WallTime: Int] = [:]
    /// Updates that would have had priority 10, had the hour not used up its own (P6).
    var conserved = 0
}
