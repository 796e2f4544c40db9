@testable import CardRules

/// What may happen on a journey.
extension Journey {
    private static let games = (1...5).map { GameID(unchecked: "g\($0)") }
    private static let sessions: [CardKey] = ["nap", "ride"]

    mutating func open() {
        register { patch, journey in
            patch.user = .value("owner")
            patch.osVersion = OSVersion(major: 18, minor: 0)
            patch.pushToStart = .value(journey.address)
            if journey.random.chance(40) {
                patch.quietHours = QuietHours(fromMinute: 1350, toMinute: 420).map { .value($0) } ?? .absent
            }
            if journey.plan.ranks {
                patch.personalisation = .readable(
                    Taste(teams: ["g1-home": 1], leagues: [:], minimumWorth: 55, maxGames: 3))
            }
        }
        pass(1)
        if !plan.ranks { select() }
        pass(35)
    }

    /// The push-to-start address as the app reports it, now and then with the other gateway.
    private var address: PushAddress {
        mutating get {
            PushAddress(
                token: phone.pushToStart, gateway: random.chance(90) ? phone.gateway : phone.gateway.other)
        }
    }

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: tick()
        case 30..<52: pass(Double(random.pick([1, 3, 16, 31, 61, 200, 700])))
        case 52..<58: pass(Double(random.pick([3600, 9000, 20_000])))
        case 58..<64: if plan.sessions { session() } else { tick() }
        case 64..<69: appStarts()
        case 69..<73: ownerActs()
        case 73..<79: select()
        case 79..<85: registerAnew()
        case 85..<90: openApp()
        case 90..<93: if plan.restarts { restart() }
        case 93..<96:
            if plan.isOffline {
                if phone.isOnline { phone.isOnline = false } else { goOnline() }
            }
        default: clock()
        }
        pass(0.5)
    }

    private mutating func tick() {
        let id = random.pick(Self.games)
        let worth = Double.random(in: 0...100, using: &random)
        let lift = random.chance(15) ? 25.0 : 0
        let phase = random.pick([Phase.pre, .live, .live, .live, .live, .break, .final])
        let isIn = random.chance(80)
        let goal = random.chance(60) ? 1 : 0
        let moments = random.chance(15) ? [MomentKind.overtime] : []
        bench.now = serverNow
        bench.lay(id) { game in
            game.worth = worth
            game.lift = lift
            game.phase = phase
            game.isInWindow = isIn
            game.homeScore += goal
            game.moments = moments
        }
        turn(.tick)
    }

    private mutating func session() {
        let id = random.pick(Self.sessions)
        let running = bench.book[id].flatMap { $0.isRunning ? $0 : nil }
        let session: Session
        if let running, random.chance(35) {
            session = running.stopped(at: serverNow)
        } else {
            let count = Int64.random(in: 0...3, using: &random)
            let terms = SessionTerms(
                devices: [Bench.device], attributesType: "SleepAttributes", attributes: .object([]),
                content: .object(["count": .integer(count)]), title: "Sleep",
                startedAt: running?.terms.startedAt ?? serverNow, isUrgent: random.chance(20),
                startedOn: random.chance(10) ? [Bench.device] : running?.terms.startedOn ?? [])
            session = running.map { $0.changed(to: terms) } ?? Session.opened(id, terms, after: bench.book[id])
        }
        bench.book[id] = session  // the store's
        books.changed(session, at: now)
        turn(.session(session, as: nil), isCall: true)
    }

    /// The app, in front, starts a card of its own.
    private mutating func appStarts() {
        guard phone.isOnline, phone.alive(.slate).isEmpty, phone.activities.count(where: \.isAlive) < 5 else { return }
        let place = begin(.slate, .app, timestamp: 0)
        reportToken(place, after: Double(random.pick([1, 4])))
    }

    private mutating func ownerActs() {
        guard
            let place = phone.activities.indices.filter({ phone.activities[$0].isAlive }).randomElement(using: &random)
        else { return }
        let isSwipe = random.chance(40)
        phone.activities[place].endedAt = now
        if isSwipe { seen.dismissals += 1 }
        if random.chance(80) {
            reportOver(place, isSwipe ? .dismissed : .ended, after: Double(random.pick([1, 60, 4000])))
        }
    }

    mutating func select() {
        let games = Self.games.filter { _ in random.chance(70) }
        let pinned = random.chance(15) ? random.pick(Self.games) : nil
        let muted = Self.games.filter { _ in random.chance(8) }
        let ago = random.chance(10) ? 500.0 : 0
        call(.selected(games: games, pinned: pinned, muted: muted, syncedAt: serverNow.advanced(bySeconds: -ago)))
    }

    private mutating func register(_ change: (inout DevicePatch, inout Journey) -> Void) {
        var patch = DevicePatch()
        change(&patch, &self)
        call(.registered(patch))
    }

    private mutating func registerAnew() {
        let roll = Int.random(in: 0..<9, using: &random)
        register { patch, journey in
            switch roll {
            case 0: patch.user = journey.random.chance(60) ? .value("owner") : .null
            case 1:
                journey.phone.replaced[journey.phone.pushToStart] = journey.now
                journey.phone.pushToStart = [0xa0, (journey.phone.pushToStart.last ?? 0) &+ 1]
                // In silence, now and then: the server finds out, or does not (fault 3).
                if journey.random.chance(70) { patch.pushToStart = .value(journey.address) }
            case 2: patch.pushToStart = .null
            case 3: patch.spoilerFree = journey.random.chance(50)
            case 4:
                patch.quietHours =
                    journey.random.chance(50)
                    ? .null : QuietHours(fromMinute: 1320, toMinute: 420).map { .value($0) } ?? .null
            case 5: if journey.plan.travels { patch.zone = journey.random.pick(ZoneSample.all) }
            case 6: patch.personalisation = journey.random.chance(60) ? Personalisation.none : .unreadable("?")
            default:
                patch.user = .value("owner")
                patch.pushToStart = .value(journey.address)
            }
        }
    }

    /// The app runs: what it has not reported yet it reports now.
    mutating func openApp() {
        guard phone.isOnline else { return }
        for place in phone.activities.indices
        where phone.activities[place].isAlive && !phone.activities[place].isReported {
            reportToken(place, after: 1)
        }
        if let place = phone.activities.indices.last, phone.activities[place].isAlive, random.chance(30) {
            call(
                .reported(
                    CardReport(
                        key: phone.activities[place].key, kind: .opened, activity: phone.activities[place].id, at: now))
            )
        }
    }

    private mutating func clock() {
        guard plan.clockSteps else { return }
        let step = Double(random.pick([-7200, -60, -1, 1, 60, 3600]))
        skew += step
        skewSum += abs(step)
        tell("clock \(step)")
        books.clockStepped(to: serverNow)
        turn(.look)
    }

    // MARK: - The end

    /// Faults stop, the phone is online and its app runs: then I6 and I8 must hold.
    mutating func comeToRest() {
        tell("rest")
        rest = true
        if !phone.isOnline { goOnline() }
        call(
            .registered(
                { () -> DevicePatch in
                    var patch = DevicePatch()
                    patch.user = .value("owner")
                    patch.pushToStart = .value(PushAddress(token: phone.pushToStart, gateway: phone.gateway))
                    return patch
                }()))
        for place in phone.activities.indices where phone.activities[place].isAlive {
            phone.activities[place].isReported = false
        }
        openApp()
        // Whatever holds (S10, G3, G5) is over by then, and a minute more.
        for _ in 0..<4 {
            pass(400)
            openApp()
            pass(40)
        }
        guard breach == nil else { return }
        judgeRest()
        seen.settled += 1
    }
}

extension Gateway {
    var other: Gateway { self == .production ? .sandbox : .production }
}
