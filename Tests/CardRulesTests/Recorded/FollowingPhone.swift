@testable import CardRules

/// A made-up phone that follows a slate through the pure lane: its pushes are accepted at once, its app comes back now
/// and then with another selection. What its card shows is booked from outside, for T3, T8, T11 and A2.
struct FollowingPhone {
    /// What the phone noticed, and when.
    struct Deed: Hashable {
        let at: WallTime
        let what: What

        enum What: Hashable {
            case front(GameID)
            /// `asOf` alone is no difference.
            case push(PushEvent, SlateContent?)
        }
    }

    struct Seen {
        var cards = 0
        var takeovers = 0
        var settled = 0
        var forced = 0

        mutating func add(_ other: Seen) {
            cards += other.cards
            takeovers += other.takeovers
            settled += other.settled
            forced += other.forced
        }
    }

    private(set) var lane: LaneState
    private(set) var deeds: [Deed] = []
    private(set) var breaches: [String] = []
    private(set) var seen = Seen()
    private let tuning: Tuning
    private let taste: Taste?
    private let games: [GameID]
    private var random: SeededGenerator
    private var nextVisit: WallTime?
    private var selection: (games: [GameID], muted: [GameID], pinned: GameID?, at: WallTime)?
    /// When the front changed, what T6 forced left out.
    private var changes: [WallTime] = []
    private var activities = 0
    private var surroundings: Surroundings

    /// - Parameter isHasty: with margin, settling and bench so small that only T8 is left to hold the front.
    init(seed: UInt64, games: [RankedGame], at now: WallTime, isHasty: Bool) {
        var tuning = Tuning()
        if isHasty {
            tuning.takeover.marginPoints = 0.25
            tuning.takeover.settleSeconds = 0.5
            tuning.takeover.benchSeconds = 0.5
        }
        self.tuning = tuning
        self.games = games.map(\.id)
        random = SeededGenerator(seed: seed)
        surroundings = Surroundings(slate: .empty, tuning: tuning)
        lane = LaneState(
            device: DeviceID(unchecked: "phone-\(seed)"), app: AppID(unchecked: "app"), zone: .utc, at: now,
            tuning: tuning)
        let mind = random.pick([0, 1, 1, 1, 1, 1, 1, 2])
        var patch = DevicePatch()
        patch.user = .value("owner")
        patch.osVersion = OSVersion(major: 18, minor: 0)
        patch.pushToStart = .value(PushAddress(token: [0xa1], gateway: .production))
        patch.spoilerFree = random.chance(20)
        var teams: [String: Double] = [:]
        for game in games where random.chance(15) {
            teams[game.home] = Double(Int.random(in: 0...4, using: &random)) / 4
        }
        let taste = Taste(
            teams: teams, leagues: ["NBA": random.pick([0, 0, 4]), "NFL": random.pick([0, 0, 7])],
            minimumWorth: random.pick([0, 30, 45, 60]), maxGames: random.pick([1, 2, 4, 4, 6, 12]))
        self.taste = mind == 1 ? taste : nil
        patch.personalisation = mind == 0 ? Personalisation.none : mind == 1 ? .readable(taste) : .unreadable("?")
        apply(.registered(patch), at: now)
        // Some phones never choose; the taste fills their card.
        if mind != 1 || random.chance(60) { nextVisit = now.advanced(bySeconds: 1) }
    }

    /// Time passes before the next tick: looks, and the visits of the app.
    mutating func pass(to time: WallTime) {
        while true {
            let look = lane.nextLook.map { max($0, lastTurn) } ?? .distantFuture
            let visit = nextVisit ?? .distantFuture
            guard min(look, visit) < time else { return }
            if visit <= look { self.visit(at: visit) } else { apply(.look, at: look) }
        }
    }

    mutating func tick(_ slate: SlateSnapshot, at now: WallTime) {
        surroundings = Surroundings(slate: slate, tuning: tuning)
        apply(.tick, at: now)
    }

    private var lastTurn = WallTime.distantPast

    private mutating func visit(at now: WallTime) {
        nextVisit = now.advanced(bySeconds: Double(Int.random(in: 900...9000, using: &random)))
        let chosen = Array(games.shuffled(using: &random).prefix(Int.random(in: 1...9, using: &random)))
        let muted = random.chance(30) ? Array(games.shuffled(using: &random).prefix(2)) : []
        let pinned = random.chance(25) ? chosen.first : nil
        selection = (chosen, muted, pinned, now)
        apply(.selected(games: chosen, pinned: pinned, muted: muted, syncedAt: now), at: now)
    }

    private mutating func apply(_ event: LaneEvent, at now: WallTime) {
        let before = lane.card(.slate)
        lastTurn = now
        let effects = lane.apply(event, at: now, in: surroundings)
        book(before, lane.card(.slate), at: now)
        for effect in effects {
            switch effect {
            case .claimPhone(let token): apply(.owned(token: token, from: nil, handover: nil), at: now)
            case .send(let order):
                guard case .slate(let arrangement) = order.content else { continue }
                var content = SlateContent(arrangement: arrangement, snapshot: surroundings.slate)
                content?.asOf = 0
                deeds.append(Deed(at: now, what: .push(order.event, content)))
                apply(.verdict(order.number, .accepted), at: now)
                guard order.event == .start else { continue }
                seen.cards += 1
                activities += 1
                apply(
                    .cardToken(
                        CardToken(
                            key: .slate, activity: ActivityID(unchecked: "a\(activities)"),
                            address: PushAddress(token: [UInt8(activities & 0xff)], gateway: .production),
                            startedBy: .push, began: nil)), at: now)
            default: break
            }
        }
    }

    // MARK: - Booking

    private mutating func book(_ before: Card?, _ after: Card?, at now: WallTime) {
        guard let after, let new = after.front?.game else {
            changes = []
            return
        }
        guard let old = before?.front?.game else {
            changes = []
            deeds.append(Deed(at: now, what: .front(new)))
            return
        }
        guard old != new else { return }
        deeds.append(Deed(at: now, what: .front(new)))
        guard !mustGo(old) else {
            seen.forced += 1
            return
        }
        seen.takeovers += 1
        changes.append(now)
        if changes.count(where: { now.seconds(since: $0) < 60 }) > 4 { breach("T8: the fifth change in a minute", now) }
        guard new != selection?.pinned else { return }
        if let selection, now.seconds(since: selection.at) < 30 { breach("A2: a takeover after a selection", now) }
        guard let one = surroundings.slate.game(new), let other = surroundings.slate.game(old) else {
            breach("\(new) or \(old) is on no slate", now)
            return
        }
        let gap = score(one) + one.lift - score(other) - other.lift
        guard gap < tuning.takeover.marginPoints else { return }
        // T11: the lift that won the front is over, and this is the game of highest worth and taste.
        let best = live.map(score).max() ?? 0
        if other.lift == 0, score(one) >= best {
            seen.settled += 1
        } else {
            breach("T8: \(new) took the front of \(old) by \(gap) points", now)
        }
    }

    /// T6: the front is over while another plays, or no longer of this card.
    private func mustGo(_ game: GameID) -> Bool {
        guard lane.kept.members.contains(game), let ranked = surroundings.slate.game(game), ranked.isInWindow else {
            return true
        }
        return ranked.phase == .final
            && lane.kept.members.contains { surroundings.slate.game($0)?.phase.isUnderWay ?? false }
    }

    /// Those that may stand in front.
    private var live: [RankedGame] {
        let members = lane.kept.members.compactMap { surroundings.slate.game($0) }
        let isAnyUnderWay = members.contains(where: \.phase.isUnderWay)
        return isAnyUnderWay ? members.filter { $0.phase != .final } : members
    }

    private func score(_ game: RankedGame) -> Double {
        game.worth + (taste?.points(for: game, tuning: tuning.takeover) ?? 0)
    }

    private mutating func breach(_ text: String, _ now: WallTime) {
        breaches.append("\(lane.kept.device.text) at \(now.unixSeconds): \(text)")
    }
}

extension FollowingPhone {
    /// Plays a recorded slate to phones: a tick for all lines of so many seconds, and one whenever the slate's own time
    /// comes.
    static func follow(_ name: String, seeds: Range<UInt64>, tickSeconds: Int64) throws -> [FollowingPhone] {
        let lines = try SlateFiles.lines(name)
        var slate = Slate(tuning: Tuning())
        var phones: [FollowingPhone] = []
        var next = 0
        var now = lines.first?.at ?? .distantPast
        while true {
            while next < lines.count, lines[next].at <= now {
                _ = slate.apply(lines[next], at: now)
                next += 1
            }
            let snapshot = slate.snapshot(at: now)
            if phones.isEmpty {
                phones = seeds.map { seed in
                    FollowingPhone(
                        seed: seed, games: snapshot.games, at: now, isHasty: seed.isMultiple(of: 4))
                }
            }
            for place in phones.indices {
                phones[place].pass(to: now)
                phones[place].tick(snapshot, at: now)
            }
            let second = next < lines.count ? lines[next].at.unixSeconds : .max / 2000
            let line = WallTime(seconds: (second + tickSeconds - 1) / tickSeconds * tickSeconds)
            let own = slate.nextChange ?? .distantFuture
            let last = lines.last?.at ?? now
            now = min(line, own)
            guard now <= last.advanced(bySeconds: 900) else { return phones }
        }
    }
}
