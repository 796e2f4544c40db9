@testable import CardRules

/// One lane, one phone, one gateway and one store over a few nights, all of it from one seed: verdicts late, doubled and
/// lost, tokens, selections, clock steps, quiet hours, zones, sessions, and a restart from the stored record at any point.
/// What must hold is judged from the phone's side, by books of the journey's own.
struct Journey {
    var bench: Bench
    var random: SeededGenerator
    let plan: Plan
    /// Time as it is; the server's clock differs from it by `skew`.
    var now: WallTime
    var skew = 0.0
    /// Clock steps so far, seconds: what the server cannot know better.
    var skewSum = 0.0

    var stored: LaneRecord
    /// Turns whose commit has not landed; in order.
    var held: [HeldTurn] = []
    /// P5: the stored mark.
    var mark: Int64 = 0
    var generation = 0
    var coming: [Coming] = []
    var phone: SimulatedPhone
    var books = Books()
    var seen = Seen()
    private(set) var breach: String?
    /// For looking into a seed that failed.
    let tellsStory: Bool
    private(set) var story: [String] = []
    /// Faults have stopped.
    var rest = false
    /// The push-to-start token held before this turn.
    var clearedToken: [UInt8]?

    /// What one seed is about: a journey with everything at once seldom gets anywhere.
    struct Plan {
        var faults = true
        var restarts = true
        var clockSteps = false
        var travels = false
        var isOffline = false
        var sessions = true
        var ranks = false
    }

    struct HeldTurn {
        var lands: WallTime
        var record: LaneRecord
        var sends: [PushOrder]
        var claims: [Claim] = []
        var asks: [LaneEffect]
        /// A call of the app that is answered when it has landed; lost with a crash, it comes again.
        var call: LaneEvent?
    }

    /// A start about to be spent.
    struct Claim {
        let night: WallTime
        let ordinal: Int
        let key: CardKey
        let number: PushNumber
        let isReissue: Bool
    }

    /// Something on its way.
    struct Coming {
        var at: WallTime
        var what: What
        enum What {
            case verdict(PushOrder, Verdict, generation: Int)
            case push(PushOrder)
            case call(LaneEvent)
            case owned([UInt8], generation: Int)
        }
    }

    struct Seen {
        var starts = 0, updates = 0, ends = 0, restarts = 0, crashes = 0, reissues = 0, expiries = 0
        var dismissals = 0, withheld = 0, nights = 0, takeovers = 0, discarded = 0, settled = 0

        mutating func add(_ other: Seen) {
            starts += other.starts
            updates += other.updates
            ends += other.ends
            restarts += other.restarts
            crashes += other.crashes
            reissues += other.reissues
            expiries += other.expiries
            dismissals += other.dismissals
            withheld += other.withheld
            nights += other.nights
            takeovers += other.takeovers
            discarded += other.discarded
            settled += other.settled
        }
    }

    init(seed: UInt64, tellsStory: Bool = false) {
        self.tellsStory = tellsStory
        random = SeededGenerator(seed: seed)
        now = Bench.evening.advanced(bySeconds: Double(random.pick([0, 3600, 20_000, 35_500, 50_000])))
        bench = Bench(at: now)
        stored = bench.lane.kept
        phone = SimulatedPhone(gateway: random.pick(Gateway.allCases))
        plan = Plan(
            faults: random.chance(75), restarts: random.chance(60), clockSteps: random.chance(15),
            travels: random.chance(15), isOffline: random.chance(30), sessions: random.chance(60),
            ranks: random.chance(20))
    }

    /// The whole journey: a first registration, some sixty events, and then rest.
    mutating func run(steps: Int = 60) {
        open()
        for _ in 0..<steps {
            step()
            if breach != nil { return }
        }
        comeToRest()
    }

    mutating func fail(_ what: String) { if breach == nil { breach = what } }

    mutating func tell(_ what: @autoclosure () -> String) {
        if tellsStory { story.append("\(Int(now.seconds(since: Bench.evening))) s: \(what())") }
    }

    // MARK: - Turns

    /// The server's clock.
    var serverNow: WallTime { now.advanced(bySeconds: skew) }

    /// One event of the lane, and what the shell makes of its effects. The process may die in the middle of that.
    mutating func turn(_ event: LaneEvent, isCall: Bool = false) {
        bench.now = serverNow
        let before = bench.lane.card(.slate)
        let effects = bench.apply(event)
        tell("turn \(Journey.words(of: event)) -> \(Journey.words(of: effects))")
        judgeTurn(effects, before: before)
        let sends = effects.orders
        // Content is rendered as it is decided, also where the push then waits for its record.
        for order in sends { books.rendered(order, ShownContent(order.content, bench.surroundings.slate)) }
        let asks = effects.filter { if case .claimPhone = $0 { true } else { false } }
        let savesFirst = effects.first.map { if case .claim = $0 { true } else { $0 == .save } } ?? false
        let saves = effects.contains(.save)
        let crashes = plan.restarts && !rest && random.chance(2)
        if savesFirst {
            // What waits for the record waits for all earlier ones too.
            let delay = random.chance(70) ? 0.02 : Double.random(in: 0.05...3, using: &random)
            let lands = max(held.last?.lands ?? .distantPast, now.advanced(bySeconds: delay))
            held.append(
                HeldTurn(
                    lands: lands, record: bench.lane.kept, sends: sends, claims: claims(in: effects), asks: asks,
                    call: isCall ? event : nil))
            if crashes { restart() }
            return
        }
        for order in sends {
            if order.event == .end, !held.isEmpty {
                held[held.count - 1].sends.append(order)  // L1: an owed end waits for the record that owes it
            } else {
                leave(order)
            }
        }
        if crashes {
            restart()  // before the record of this turn was written
        } else if saves {
            held.append(
                HeldTurn(
                    lands: max(held.last?.lands ?? .distantPast, now.advanced(bySeconds: 0.5)),
                    record: bench.lane.kept, sends: [], asks: [], call: isCall ? event : nil))
        }
    }

    /// The commits that have landed by now.
    mutating func land() {
        while let first = held.first, first.lands <= now {
            held.removeFirst()
            stored = first.record
            for claim in first.claims { judgeClaim(claim) }
            if let call = first.call { books.answered(call, at: now, by: bench.lane.kept.ledger) }
            for order in first.sends {
                if !bench.lane.isCurrent(order) {
                    seen.discarded += 1
                    coming.append(
                        Coming(at: now, what: .verdict(order, .notSent, generation: generation)))
                } else {
                    leave(order)
                }
            }
            for ask in first.asks {
                if case .claimPhone(let token) = ask {
                    coming.append(
                        Coming(at: now.advanced(bySeconds: 0.1), what: .owned(token, generation: generation)))
                }
            }
        }
    }

    /// The process dies and comes back from what was stored.
    mutating func restart() {
        seen.restarts += 1
        let lost = held
        if !lost.isEmpty { seen.crashes += 1 }
        held = []
        generation += 1
        tell("restart, \(lost.count) commits lost")
        let sessions = stored.sessions.compactMap { bench.book[$0.key] }
        let zone = ZoneSample.all.first { $0.name == stored.settings.timeZone } ?? .utc
        bench.lane = LaneState(restoring: stored, zone: zone, timestampFloor: mark, sessions: sessions)
        books.restarted()
        for case .claimPhone(let token) in bench.lane.pendingOwnership {
            coming.append(Coming(at: now.advanced(bySeconds: 0.1), what: .owned(token, generation: generation)))
        }
        // Calls that were never answered come again.
        for turn in lost {
            if let call = turn.call {
                coming.append(Coming(at: now.advanced(bySeconds: 1), what: .call(call)))
            }
        }
        turn(.look)
    }

    // MARK: - Time

    /// Lets time pass: whatever falls due in it happens in order.
    mutating func pass(_ seconds: Double) {
        let end = now.advanced(bySeconds: seconds)
        var turns = 0
        while breach == nil {
            var next = end
            if let lands = held.first?.lands { next = min(next, lands) }
            for item in coming where item.at < next { next = item.at }
            if let look = bench.lane.nextLook { next = min(next, look.advanced(bySeconds: -skew)) }
            if let expiry = phone.nextExpiry { next = min(next, expiry) }
            if next > end { next = end }
            now = max(now, next)
            let isDue = happen()
            if now >= end, !isDue { break }
            turns += 1
            if turns > 5000 {
                fail("R7: turns without end")
                return
            }
        }
    }

    /// - Returns: `true` when something happened.
    private mutating func happen() -> Bool {
        var happened = false
        expireOnPhone()
        if let first = held.first, first.lands <= now {
            land()
            happened = true
        }
        let due = coming.enumerated().filter { $0.element.at <= now }.min {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }
        if let due {
            coming.remove(at: due.offset)
            deliver(due.element)
            return true
        }
        if let look = bench.lane.nextLook, look <= serverNow {
            turn(.look)
            return true
        }
        return happened
    }

    private mutating func deliver(_ item: Coming) {
        switch item.what {
        case .verdict(let order, let verdict, let generation):
            guard generation == self.generation else { return }
            books.heard(verdict, of: order, at: now)
            turn(.verdict(order.number, verdict))
            if plan.faults, !rest, random.chance(5) { turn(.verdict(order.number, verdict)) }  // doubled
        case .push(let order): arrive(order)
        case .call(let event):
            if case .session(let session, _) = event {
                // The newest of this id: the store has it.
                turn(.session(bench.book[session.id] ?? session, as: nil), isCall: true)
            } else {
                turn(event, isCall: true)
            }
        case .owned(let token, let generation):
            guard generation == self.generation else { return }
            turn(.owned(token: token, from: nil, handover: nil))
        }
    }

    func at(_ seconds: Double) -> WallTime { now.advanced(bySeconds: seconds) }
}
