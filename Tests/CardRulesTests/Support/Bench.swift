@testable import CardRules

/// One lane on a bench: a slate that the test lays out, a clock that only the test moves, and all that was sent.
struct Bench {
    var lane: LaneState
    var now: WallTime
    var tuning = Tuning()
    var mayClaim = true
    /// Of the last turn.
    private(set) var effects: [LaneEffect] = []
    /// Every push ever ordered.
    private(set) var sent: [PushOrder] = []
    private(set) var games: [RankedGame] = []
    /// The sessions as the caller left them.
    var book: [CardKey: Session] = [:]
    private var slate = SlateSnapshot.empty
    private var version: UInt64 = 1
    private var roster: UInt32 = 1

    static let device = DeviceID(unchecked: "phone")
    static let token: [UInt8] = [0xa1]
    /// Saturday 2026-01-10, 20:00 UTC: far from the turn of the night.
    static let evening = WallTime(seconds: Int64(1_768_075_200))

    init(at now: WallTime = Bench.evening, device: DeviceID = Bench.device) {
        self.now = now
        lane = LaneState(device: device, app: AppID(unchecked: "app"), zone: .utc, at: now, tuning: Tuning())
    }

    // MARK: - Where tests begin

    /// Signed in, iOS 18, a push-to-start token that it owns; nothing chosen.
    static func registered(at now: WallTime = Bench.evening, tuning: Tuning = Tuning()) -> Bench {
        var bench = Bench(at: now)
        bench.tuning = tuning
        bench.register { _ in }
        bench.apply(.owned(token: Bench.token, from: nil, handover: nil))
        return bench
    }

    /// Registered, and long enough after a selection that S8 and A2 hold nothing.
    static func following(_ games: GameID..., at now: WallTime = Bench.evening) -> Bench {
        var bench = registered(at: now)
        bench.select(games)
        bench.pass(31)
        return bench
    }

    /// A card whose start APNs has just accepted; no update token yet. The first game is live and in front.
    static func believed(_ games: GameID...) -> Bench {
        var bench = registered()
        bench.select(games.isEmpty ? ["g1"] : games)
        bench.pass(31)
        bench.join("g1")
        bench.verdict(.accepted)
        return bench
    }

    /// A card with its update token, a minute after its start: no gap holds an update.
    static func confirmed(_ games: GameID...) -> Bench {
        var bench = registered()
        bench.select(games.isEmpty ? ["g1"] : games)
        bench.pass(31)
        bench.join("g1")
        bench.verdict(.accepted)
        bench.cardToken()
        bench.pass(60)
        return bench
    }

    // MARK: - The slate

    var surroundings: Surroundings { Surroundings(slate: slate, tuning: tuning, mayClaim: mayClaim) }

    /// Lays a game on the slate or changes it, without a turn. A change of face or spoiler-free face counts as such.
    mutating func lay(_ id: GameID, _ change: (inout RankedGame) -> Void = { _ in }) {
        version += 1
        defer { slate = SlateSnapshot(version: version, roster: roster, asOf: now, games: games) }
        if let index = games.firstIndex(where: { $0.id == id }) {
            let before = games[index]
            change(&games[index])
            if games[index].differsInFace(from: before) {
                // A change that an ordinary card draws, whatever else the test changed, and a spoiler-free one does not.
                games[index].detail = .integer(Int64(version))
            }
            games[index].drawFaces()
            if games[index].moments.count > before.moments.count { games[index].momentsBegun += 1 }
            games[index].changeVersion = version
        } else {
            roster += 1
            var game = RankedGame(
                id: id, sport: .hockey, league: "league", home: "\(id)-home", away: "\(id)-away", phase: .live,
                worth: 50)
            change(&game)
            game.drawFaces()
            game.changeVersion = version
            games.append(game)
        }
    }

    /// Lays a game, then a tick.
    @discardableResult
    mutating func tick(_ id: GameID, _ change: (inout RankedGame) -> Void = { _ in }) -> [LaneEffect] {
        lay(id, change)
        return apply(.tick)
    }

    /// A live game comes into the window.
    @discardableResult
    mutating func join(_ id: GameID) -> [LaneEffect] { tick(id) { $0.isInWindow = true } }

    @discardableResult
    mutating func leave(_ id: GameID) -> [LaneEffect] { tick(id) { $0.isInWindow = false } }

    /// A goal.
    @discardableResult
    mutating func score(_ id: GameID) -> [LaneEffect] { tick(id) { $0.homeScore += 1 } }

    // MARK: - What happens

    @discardableResult
    mutating func apply(_ event: LaneEvent) -> [LaneEffect] {
        effects = lane.apply(event, at: now, in: surroundings)
        sent += effects.orders
        return effects
    }

    /// Time passes; every look that the lane asks for is given, at its time.
    @discardableResult
    mutating func pass(_ seconds: Double) -> [LaneEffect] {
        let end = now.advanced(bySeconds: seconds)
        var seen: [LaneEffect] = []
        while let look = lane.nextLook, look <= end {
            now = max(now, look)
            seen += apply(.look)
        }
        now = end
        effects = seen
        return seen
    }

    /// Registers a signed-in iPhone with the token `Bench.token`, or what `change` makes of that.
    @discardableResult
    mutating func register(_ change: (inout DevicePatch) -> Void) -> [LaneEffect] {
        var patch = DevicePatch()
        patch.user = .value("owner")
        patch.osVersion = OSVersion(major: 18, minor: 0)
        patch.pushToStart = .value(PushAddress(token: Bench.token, gateway: .production))
        change(&patch)
        return apply(.registered(patch))
    }

    /// Registers only what is given.
    @discardableResult
    mutating func patch(_ change: (inout DevicePatch) -> Void) -> [LaneEffect] {
        var patch = DevicePatch()
        change(&patch)
        return apply(.registered(patch))
    }

    @discardableResult
    mutating func select(
        _ games: [GameID], pinned: GameID? = nil, muted: [GameID] = [], syncedAt: WallTime? = nil
    ) -> [LaneEffect] {
        apply(.selected(games: games, pinned: pinned, muted: muted, syncedAt: syncedAt ?? now))
    }

    /// A verdict for the push ordered last.
    @discardableResult
    mutating func verdict(_ verdict: Verdict) -> [LaneEffect] {
        apply(.verdict(sent.last?.number ?? PushNumber(0), verdict))
    }

    @discardableResult
    mutating func refuse(_ reason: RefusalReason.Known, deadSince: WallTime? = nil) -> [LaneEffect] {
        verdict(.refused(Refusal(.known(reason), status: 400, deadSince: deadSince)))
    }

    @discardableResult
    mutating func cardToken(
        _ activity: ActivityID = "a1", token: UInt8 = 1, gateway: Gateway = .production,
        startedBy: Card.StartedBy = .push, began: WallTime? = nil, key: CardKey = .slate
    ) -> [LaneEffect] {
        apply(
            .cardToken(
                CardToken(
                    key: key, activity: activity, address: PushAddress(token: [token], gateway: gateway),
                    startedBy: startedBy, began: began)))
    }

    @discardableResult
    mutating func report(
        _ kind: CardReport.Kind, _ activity: ActivityID = "a1", key: CardKey = .slate
    ) -> [LaneEffect] {
        apply(.reported(CardReport(key: key, kind: kind, activity: activity, at: now)))
    }

    /// The process dies and comes back: only what is kept survives. Then the first look.
    @discardableResult
    mutating func restart(timestampFloor: Int64? = nil) -> [LaneEffect] {
        let floor = timestampFloor ?? (sent.map(\.timestamp).max() ?? 0) + 60
        let sessions = lane.kept.sessions.compactMap { book[$0.key] }
        lane = LaneState(restoring: lane.kept, zone: lane.zone, timestampFloor: floor, sessions: sessions)
        return apply(.look)
    }

    // MARK: - What is to be seen

    var card: Card? { lane.card(.slate) }
    var state: Card.State? { card?.state }
    var front: GameID? { card?.front?.game }
    var ledger: NightLedger { lane.kept.ledger }
    var counts: NightLedger.KeyLedger { lane.kept.ledger[.slate] }
    var starts: Int { sent.count { $0.event == .start } }
}

extension RankedGame {
    fileprivate func differsInFace(from other: RankedGame) -> Bool {
        phase != other.phase || homeScore != other.homeScore || awayScore != other.awayScore
            || moments != other.moments || clock != other.clock || period != other.period
    }
}

extension [LaneEffect] {
    var orders: [PushOrder] {
        compactMap { if case .send(let order) = $0 { order } else { nil } }
    }
    var starts: [PushOrder] { orders.filter { $0.event == .start } }
    var updates: [PushOrder] { orders.filter { $0.event == .update } }
    var ends: [PushOrder] { orders.filter { $0.event == .end } }
    var notes: [TimelineEntry] {
        compactMap { if case .note(let entry) = $0 { entry } else { nil } }
    }
    /// The rules that withheld a start in this turn.
    var withheld: [Rule?] { notes.filter { $0.kind == .withheld }.map(\.rule) }
    var takeovers: [Rule?] { notes.filter { $0.kind == .takeover }.map(\.rule) }

    func index(where matches: (LaneEffect) -> Bool) -> Int? { firstIndex(where: matches) }
}

extension GameID: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension CardKey: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension ActivityID: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension DeviceID: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}
