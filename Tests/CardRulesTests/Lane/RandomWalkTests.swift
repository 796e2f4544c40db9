import Testing

@testable import CardRules

/// Seeded walks over one lane: whatever comes in whatever order, what must hold holds after each step.
/// A failure names its seed and step; the walk of a seed is the same everywhere.
@Suite struct RandomWalkTests {
    @Test(arguments: 0..<64 as Range<UInt64>)
    func `L1, L7, S3, S6, P5, T8: whatever happens, what must hold holds`(seed: UInt64) {
        var walk = Walk(seed: seed)
        for _ in 0..<500 {
            walk.step()
            if let breach = walk.breach {
                Issue.record("seed \(seed), step \(walk.steps): \(breach)")
                return
            }
        }
        #expect(walk.steps == 500)
    }

    @Test func `the walks get somewhere: starts, updates, ends, retries, restarts and takeovers all happen`() {
        var seen = Walk.Seen()
        for seed in UInt64(0)..<64 {
            var walk = Walk(seed: seed)
            for _ in 0..<500 { walk.step() }
            seen.add(walk.seen)
        }
        #expect(seen.starts > 100 && seen.updates > 1000 && seen.ends > 100, "\(seen)")
        #expect(seen.takeovers > 100 && seen.restarts > 100 && seen.clockSteps > 100, "\(seen)")
        #expect(seen.otherGateway >= 3 && seen.oldEnds > 20, "\(seen)")
    }

    @Test func `the same seed gives the same walk`() {
        var (one, other) = (Walk(seed: 7), Walk(seed: 7))
        for _ in 0..<500 {
            one.step()
            other.step()
        }
        #expect(one.bench.sent == other.bench.sent)
        #expect(one.bench.lane.kept == other.bench.lane.kept)
    }
}

/// One walk, with the books that the test keeps by itself beside the lane's.
struct Walk {
    private(set) var bench = Bench.registered()
    private(set) var random: SeededGenerator
    private(set) var steps = 0
    private(set) var breach: String?
    private(set) var seen = Seen()

    struct Seen {
        var starts = 0
        var updates = 0
        var ends = 0
        var takeovers = 0
        var restarts = 0
        var clockSteps = 0
        var otherGateway = 0
        var oldEnds = 0

        mutating func add(_ other: Seen) {
            starts += other.starts
            updates += other.updates
            ends += other.ends
            takeovers += other.takeovers
            restarts += other.restarts
            clockSteps += other.clockSteps
            otherGateway += other.otherGateway
            oldEnds += other.oldEnds
        }
    }

    private var inFlight: [PushOrder] = []
    /// By update token: the newest timestamp sent to that activity.
    private var timestamps: [[UInt8]: Int64] = [:]
    private var ordinals: Set<String> = []
    private var changes: [WallTime] = []
    private var activities = 0
    private var lastActivity: ActivityID = "a0"

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        bench.tuning.starts.gapSeconds = 60  // more starts a walk
        bench.select((1...12).map { GameID(unchecked: "g\($0)") })
    }

    mutating func step() {
        steps += 1
        let standing = bench.card
        let front = bench.front
        let expired = expiredTokens()
        switch random.pick(Array(0..<100)) {
        case 0..<34: tick()
        case 34..<50: pass()
        case 50..<72: answer()
        case 72..<79: token()
        case 79..<83: report()
        case 83..<89: select()
        case 89..<94: register()
        case 94..<97: restart()
        case 97..<99: clock()
        default: own()
        }
        judge(standing: standing, front: front, expired: expired)
        drain()
    }

    // MARK: - What may happen

    private mutating func tick() {
        let id = GameID(unchecked: "g\(Int.random(in: 1...12, using: &random))")
        let worth = Double.random(in: 0...100, using: &random)
        let lift = random.chance(20) ? 25.0 : 0
        let phase = random.pick([Phase.pre, .live, .live, .live, .break, .final, .postponed])
        let isIn = random.chance(80) && phase != .postponed
        let goal = random.chance(50) ? 1 : 0
        let moments = random.chance(20) ? [MomentKind.overtime] : []
        bench.tick(id) { game in
            game.worth = worth
            game.lift = lift
            game.phase = phase
            game.isInWindow = isIn
            game.homeScore += goal
            game.moments = moments
        }
    }

    private mutating func pass() {
        let seconds = random.pick([0.3, 1, 5, 16, 31, 61, 120, 700, 3600, 9000])
        let end = bench.now.advanced(bySeconds: seconds)
        var looks = 0
        while let look = bench.lane.nextLook, look <= end {
            let (standing, front) = (bench.card, bench.front)
            bench.now = max(bench.now, look)
            let expired = expiredTokens()
            bench.apply(.look)
            judge(standing: standing, front: front, expired: expired)
            looks += 1
            if looks > 2000 {
                fail("R7: looks without end")
                return
            }
        }
        bench.now = end
        bench.apply(.look)
    }

    private mutating func answer() {
        guard !inFlight.isEmpty else { return tick() }
        let order = inFlight.remove(at: Int.random(in: 0..<inFlight.count, using: &random))
        let reasons = RefusalReason.Known.allCases
        let verdict: Verdict
        switch random.pick(Array(0..<10)) {
        case 0..<6: verdict = .accepted
        case 6: verdict = .unknown
        case 7: verdict = .notSent
        case 8: verdict = .refused(Refusal(.known(.badDeviceToken), status: 400))
        default:
            verdict = .refused(
                Refusal(
                    .known(random.pick(reasons)), status: 400,
                    deadSince: random.chance(50) ? bench.now.advanced(bySeconds: -30) : nil))
        }
        bench.apply(.verdict(order.number, verdict))
    }

    private mutating func token() {
        if bench.card == nil, random.chance(80) { return answer() }
        if random.chance(60) {
            activities += 1
            lastActivity = ActivityID(unchecked: "a\(activities)")
        }
        let byte = UInt8(truncatingIfNeeded: activities % 250 + 1)
        let began =
            random.chance(30) ? bench.now.advanced(bySeconds: -Double.random(in: 0...2000, using: &random)) : nil
        bench.cardToken(
            lastActivity, token: byte, gateway: random.pick(Gateway.allCases),
            startedBy: random.chance(70) ? .push : .app, began: began)
    }

    private mutating func report() {
        bench.report(
            random.pick([.ended, .ended, .ended, .opened, .opened, .stale, .stale, .dismissed]),
            random.chance(70) ? lastActivity : "stranger")
    }

    private mutating func select() {
        let all = (1...12).map { GameID(unchecked: "g\($0)") }
        let games = all.filter { _ in random.chance(60) }
        let pinned = random.chance(20) ? random.pick(all) : nil
        let muted = all.filter { _ in random.chance(10) }
        let ago = random.chance(10) ? 500.0 : 0
        bench.select(games, pinned: pinned, muted: muted, syncedAt: bench.now.advanced(bySeconds: -ago))
    }

    private mutating func register() {
        let roll = random.pick(Array(0..<7))
        let flag = random.chance(85)
        let byte = UInt8(truncatingIfNeeded: 200 + Int.random(in: 0...3, using: &random))
        bench.patch { patch in
            switch roll {
            case 0: patch.user = flag ? .value("owner") : .null
            case 1: patch.pushToStart = flag ? .value(PushAddress(token: [byte], gateway: .production)) : .null
            case 2: patch.spoilerFree = flag
            case 3:
                patch.quietHours =
                    flag ? .null : QuietHours(fromMinute: 1320, toMinute: 420).map { .value($0) } ?? .null
            case 4: patch.personalisation = flag ? Personalisation.none : .unreadable("?")
            case 5:
                patch.personalisation = .readable(
                    Taste(teams: ["g1-home": 1], leagues: [:], minimumWorth: 30, maxGames: 3))
            default:
                patch.user = .value("owner")
                patch.frequentUpdates = flag
            }
        }
        if let address = bench.lane.kept.pushToStart?.address, random.chance(80) {
            judge(standing: nil, front: bench.front, expired: [])
            bench.apply(.owned(token: address.token, from: nil, handover: nil))
        }
    }

    private mutating func own() {
        if let address = bench.lane.kept.pushToStart?.address {
            bench.apply(.owned(token: address.token, from: nil, handover: nil))
        }
    }

    private mutating func restart() {
        seen.restarts += 1
        inFlight = []  // their verdicts find a later generation
        let before = bench.starts
        bench.restart()
        // Only what was deferred before, and never while a card stands, may follow.
        if bench.starts > before, bench.card?.state != .starting { fail("S4: a restart started beside a card") }
    }

    private mutating func clock() {
        seen.clockSteps += 1
        changes = []
        bench.now = bench.now.advanced(bySeconds: random.pick([-7200, -60, -1, 60, 3600]))
        bench.apply(.look)
    }

    // MARK: - What must hold

    private mutating func fail(_ what: String) { if breach == nil { breach = what } }

    private func expiredTokens() -> Set<[UInt8]> {
        var expired: Set<[UInt8]> = []
        let limit = bench.tuning.life.limitSeconds
        for card in bench.lane.kept.cards {
            if let age = card.ageBegan, bench.now >= age.advanced(bySeconds: limit), let address = card.updateAddress {
                expired.insert(address.token)
            }
        }
        for owed in bench.lane.kept.owedEnds where bench.now >= owed.limit { expired.insert(owed.address.token) }
        return expired
    }

    private mutating func judge(standing: Card?, front: GameID?, expired: Set<[UInt8]>) {
        let effects = bench.effects
        judgeClaims(effects)
        for order in effects.orders where !inFlight.contains(where: { $0.number == order.number }) {
            inFlight.append(order)
            switch order.event {
            case .start: judgeStart(order, standing)
            case .update, .end: judgeChange(order, expired)
            }
        }
        judgeFront(effects, before: front, standing: standing)
        if bench.lane.kept.cards.count(where: { $0.key == .slate }) > 1 { fail("I1: two cards under one key") }
        if let look = bench.lane.nextLook, look <= bench.now { fail("R7: the next look is not ahead") }
        if bench.counts.sent > bench.tuning.starts.acknowledged { fail("S6: \(bench.counts.sent) starts spent") }
        if bench.ledger.spent > bench.tuning.starts.hardCap { fail("S6: the hard cap") }
        if bench.counts.sent < 0 || bench.counts.acknowledged < 0 { fail("L2: a negative count") }
    }

    private mutating func judgeClaims(_ effects: [LaneEffect]) {
        for (place, effect) in effects.enumerated() {
            guard case .claim(let night, let ordinal, let key) = effect else { continue }
            if !ordinals.insert("\(night.milliseconds)/\(ordinal)").inserted { fail("L1: an ordinal used twice") }
            let save = effects.firstIndex(of: .save) ?? .max
            let send =
                effects.firstIndex { if case .send(let order) = $0 { order.event == .start } else { false } } ?? -1
            if !(place < save && save < send) { fail("L1: claim, save, send of \(key) are out of order") }
        }
        if !effects.starts.isEmpty, !effects.contains(where: { if case .claim = $0 { true } else { false } }) {
            seen.otherGateway += 1
        }
    }

    private mutating func judgeStart(_ order: PushOrder, _ standing: Card?) {
        seen.starts += 1
        let isReissue = bench.card?.state == .replacing
        if !isReissue, bench.card?.state != .starting { fail("S3: a start without its card") }
        let mayStand: Set<Card.State?> = isReissue ? [.confirmed, .replacing] : [nil, .starting, .ending]
        if !mayStand.contains(standing?.state) { fail("S3: a start while \(standing?.state as Any)") }
        if order.content.games.isEmpty { fail("T12: a start without a game") }
    }

    private mutating func judgeChange(_ order: PushOrder, _ expired: Set<[UInt8]>) {
        if order.event == .update { seen.updates += 1 } else { seen.ends += 1 }
        let token = order.address.token
        if expired.contains(token) { fail("L7: a push to an expired card") }
        if let last = timestamps[token], order.timestamp <= last { fail("P5: \(order.timestamp) after \(last)") }
        timestamps[token] = order.timestamp
        if bench.lane.kept.owedEnds.contains(where: { $0.address.token == token }) { seen.oldEnds += 1 }
        if order.event == .update {
            if bench.card?.updateAddress?.token != token { fail("U4: an update to a card that is not there") }
            if order.content.games.first != bench.front { fail("T12: the front is not first") }
        }
        let old = bench.lane.kept.owedEnds.contains { $0.address.token == token }
        if order.event == .end, !old, bench.card?.state != .ending { fail("E1: an end that is not owed") }
    }

    private mutating func judgeFront(_ effects: [LaneEffect], before: GameID?, standing: Card?) {
        for entry in effects.notes where entry.kind == .takeover {
            seen.takeovers += 1
            guard entry.rule != .t6, standing != nil, before != nil, entry.detail.contains("gives way") else {
                continue
            }
            changes.append(bench.now)
        }
        if bench.card == nil { changes = [] }
        let minute = changes.count { bench.now.milliseconds - $0.milliseconds < 60_000 }
        if minute > bench.tuning.takeover.changesPerMinute { fail("T8: the front changed \(minute) times in a minute") }
    }

    /// Looks at the time they were asked for bring the lane to rest: none asks for another at the same instant forever.
    private mutating func drain() {
        let until = bench.now.advanced(bySeconds: 0.2)
        var trial = bench
        var looks = 0
        while let look = trial.lane.nextLook, look <= until {
            trial.now = max(trial.now, look)
            trial.apply(.look)
            looks += 1
            if looks > 20 {
                fail("R7: looks without progress")
                return
            }
        }
    }
}
