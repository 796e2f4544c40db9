internal import CardRules
internal import Lanes

/// The connections to one gateway with one key (G6, ref K6 to K8), and when others may be opened. Pure.
struct GroupState: Sendable {
    struct Limits: Equatable, Sendable {
        /// All connections of the group that are not draining; at least 1.
        var connections = 4
        var maxStreams = 1000
        /// To be ready for requests, seconds.
        var connectSeconds = 10.0
        var backoff = PushPool.Configuration.Backoff()
        /// In any minute (ref T21).
        var opensPerMinute = 30
        /// One that lasts less counts as a failure (ref T21).
        var shortSeconds = 1.0
        /// After so long without a request, more than one are not kept.
        var shrinkSeconds = 600.0
        /// PING after so long without traffic (ref T19).
        var pingSeconds = 3600.0
        /// For the answer to a PING.
        var timeoutSeconds = 30.0
        /// Replaced then, quietly (ref T19).
        var oldSeconds = 7 * 86_400.0
    }

    let index: Int
    let gateway: Gateway
    /// Of the pool's keys.
    let key: Int
    let keyID: String
    let limits: Limits
    private(set) var connections: [ConnectionState] = []
    private(set) var failures = 0
    /// Troubles told of since an answer last came.
    private var toldTroubles: [String] = []
    private(set) var nextAttempt = SteadyTime.zero
    private var opens: [SteadyTime] = []
    /// Requests of that standing found no room in this turn.
    private var starved: Set<Standing> = []
    /// G5: someone waits for a connection younger than this one.
    private var freshWanted: UInt64?

    init(index: Int, gateway: Gateway, key: Int, keyID: String, limits: Limits) {
        self.index = index
        self.gateway = gateway
        self.key = key
        self.keyID = keyID
        self.limits = limits
    }

    /// G8: a quarter of the connections, at least one, is for unconfirmed addresses; with a single one all share it.
    func most(_ standing: Standing) -> Int {
        let unconfirmed = max(1, limits.connections / 4)
        return standing == .unconfirmed ? unconfirmed : max(1, limits.connections - unconfirmed)
    }

    /// With one connection there is no keeping apart.
    func home(of standing: Standing) -> Standing { limits.connections < 2 ? .confirmed : standing }

    func place(of number: UInt64) -> Int? { connections.place(of: number) }

    subscript(place: Int) -> ConnectionState {
        @inline(__always) _read { yield connections[place] }
        @inline(__always) _modify { yield &connections[place] }
    }

    /// Requests on connections that take more.
    var usableInFlight: Int { connections.reduce(0) { $0 + ($1.isDraining ? 0 : $1.inFlight) } }

    /// A token that was never signed is carried by no connection.
    mutating func forget(_ token: TokenRef) {
        for place in connections.indices where connections[place].token?.token == token {
            connections[place].token = nil
        }
    }

    mutating func starve(_ standing: Standing) { starved.insert(standing) }

    /// - Parameter number: a connection above it is wanted, even if older ones have room.
    mutating func wantFresh(above number: UInt64) { freshWanted = max(freshWanted ?? 0, number) }

    /// - Returns: whether that ends troubles that were told of.
    mutating func noteSuccess() -> Bool {
        failures = 0
        guard !toldTroubles.isEmpty else { return false }
        toldTroubles = []
        return true
    }

    /// A trouble is told when it begins, and another one that takes its place too; a peer with endless new words is not
    /// heard out.
    mutating func isNews(_ trouble: String) -> Bool {
        guard toldTroubles.count < 8, !toldTroubles.contains(trouble) else { return false }
        toldTroubles.append(trouble)
        return true
    }

    /// - Parameter jitter: 0..<1, from the injected generator.
    mutating func noteFailure(jitter: Double, at now: SteadyTime) {
        failures = min(failures + 1, 1000)
        nextAttempt = now.advanced(bySeconds: limits.backoff.seconds(failures: failures, jitter: jitter))
    }

    /// A connection is gone, for whatever reason.
    mutating func remove(_ number: UInt64, jitter: Double, at now: SteadyTime) {
        guard let place = place(of: number) else { return }
        let gone = connections.remove(at: place)
        // Opening and closing quickly looks like an attack, whatever the reason was (ref T21).
        let wasShort = now.seconds(since: gone.openedAt) < limits.shortSeconds
        if gone.phase == .draining(.idle) || gone.phase == .draining(.old) { return }
        if wasShort || !gone.hasAnswered { noteFailure(jitter: jitter, at: now) }
    }

    /// What of it stands in the way of another one now; `nil`: open it.
    mutating func wantsConnection(at now: SteadyTime) -> Standing? {
        defer { if !starved.isEmpty { starved = [] } }
        if let wanted = freshWanted, connections.contains(where: { $0.number > wanted && !$0.isDraining }) {
            freshWanted = nil
        }
        // One at a time: others follow when the first has proven itself and is not enough.
        guard !connections.contains(where: { $0.phase == .opening || $0.phase == .greeting }), mayOpen(at: now) else {
            return nil
        }
        for standing in Standing.allCases {
            var count = 0
            var isEachProven = true
            var hasYoung = false
            for connection in connections where connection.standing == standing && !connection.isDraining {
                count += 1
                if connection.phase != .proven { isEachProven = false }
                if !isOld(connection, at: now) { hasYoung = true }
            }
            let isStarved = starved.contains(standing)
            if isStarved, isEachProven, count < most(standing) { return standing }
            if isStarved, freshWanted != nil { return standing }
            if !hasYoung, count > 0 { return standing }
        }
        return nil
    }

    private func mayOpen(at now: SteadyTime) -> Bool {
        guard now >= nextAttempt else { return false }
        return opens.count < limits.opensPerMinute || now.seconds(since: opens[0]) >= 60
    }

    mutating func open(_ number: UInt64, _ standing: Standing, at now: SteadyTime) {
        connections.append(ConnectionState(number: number, standing: standing, at: now))
        opens.append(now)
        if opens.count > max(1, limits.opensPerMinute) { opens.removeFirst() }
    }

    private func isOld(_ connection: ConnectionState, at now: SteadyTime) -> Bool {
        now.seconds(since: connection.openedAt) >= limits.oldSeconds
    }

    /// What time alone asks of its connections.
    enum Upkeep: Equatable {
        case ping(UInt64)
        case drain(UInt64, ConnectionState.DrainCause)
    }

    /// A usable one of the same kind.
    private func hasOther(than connection: ConnectionState, _ isWanted: (ConnectionState) -> Bool) -> Bool {
        connections.contains {
            $0.standing == connection.standing && $0.number != connection.number && $0.isUsable && isWanted($0)
        }
    }

    func upkeep(at now: SteadyTime) -> Upkeep? {
        for connection in connections where !connection.isDraining {
            let idle = now.seconds(since: connection.usedAt)
            if !connection.isReady {
                if now.seconds(since: connection.openedAt) >= limits.connectSeconds {
                    return .drain(connection.number, .slowOpening)
                }
                continue
            }
            if let pinged = connection.pingedAt {
                if now.seconds(since: pinged) >= limits.timeoutSeconds { return .drain(connection.number, .timedOut) }
                continue
            }
            if isOld(connection, at: now), hasOther(than: connection, { !isOld($0, at: now) }) {
                return .drain(connection.number, .old)
            }
            if connection.inFlight == 0, idle >= limits.shrinkSeconds,
                hasOther(than: connection, { $0.number < connection.number })
            {
                return .drain(connection.number, .idle)
            }
            if connection.inFlight == 0, idle >= limits.pingSeconds { return .ping(connection.number) }
        }
        return nil
    }
}

// Of the connections alone, and not of their group: called for every push, on an element of an array, which for that would
// be copied whole.
extension [ConnectionState] {
    func place(of number: UInt64) -> Int? { firstIndex { $0.number == number } }

    /// The connection with the fewest requests among those that have room; ties: the oldest.
    /// - Parameter limit: requests on one at most.
    func free(_ standing: Standing, above number: UInt64, atMost limit: Int) -> Int? {
        var best: Int?
        for place in indices
        where self[place].standing == standing && self[place].number > number && self[place].room(atMost: limit) > 0 {
            if best.map({ self[place].inFlight < self[$0].inFlight }) ?? true { best = place }
        }
        return best
    }
}
