internal import Lanes

/// G8: two kinds of connection, so that refusals of unproven tokens cannot slow the proven ones down (ref T16).
enum Standing: Int, CaseIterable, Sendable {
    case confirmed
    case unconfirmed
}

/// One connection as the pool's decisions see it (G6). Pure; the thread that holds its socket reports what happened.
///
/// `opening` -> `greeting` -> `unproven` -> `proven` -> `draining`; any of them may be over at any time.
struct ConnectionState: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        /// The name is looked up, TCP and TLS are under way.
        case opening
        /// TLS stands; the peer's first SETTINGS are awaited: nghttp2 would let 100 requests out before (ref T14).
        case greeting
        /// One request at a time, until one is answered (ref T14).
        case unproven
        case proven
        /// No more requests; closed when the last is over.
        case draining(DrainCause)
    }

    enum DrainCause: Equatable, Sendable {
        case goaway
        /// A request or a PING was not answered in time (ref T23).
        case timedOut
        /// The provider token was refused on it, or it is bound to another key (ref T23, K8).
        case providerToken
        /// IdleTimeout, Shutdown.
        case peerAsked
        /// A 5xx: a start tries once more on a fresh one (G5).
        case serverError
        /// Not needed any more.
        case idle
        /// A week old (ref T19).
        case old
        /// It did not become ready in time.
        case slowOpening
        /// The session takes nothing more.
        case full
    }

    /// Never used twice.
    let number: UInt64
    let standing: Standing
    let openedAt: SteadyTime
    private(set) var phase = Phase.opening
    /// What the newest SETTINGS say, also when they shrank (G6).
    private(set) var streamLimit = 0
    private(set) var inFlight = 0
    /// When bytes last went either way, as far as requests tell.
    private(set) var usedAt: SteadyTime
    private(set) var pingedAt: SteadyTime?
    /// What its requests carry, and since when (ref K3).
    var token: (token: TokenRef, since: SteadyTime)?
    /// The peer's clock was compared once.
    var isClockCompared = false
    /// It has answered something.
    private(set) var hasAnswered = false

    init(number: UInt64, standing: Standing, at now: SteadyTime) {
        self.number = number
        self.standing = standing
        openedAt = now
        usedAt = now
    }

    static func == (left: ConnectionState, right: ConnectionState) -> Bool {
        left.number == right.number && left.standing == right.standing && left.openedAt == right.openedAt
            && left.phase == right.phase && left.streamLimit == right.streamLimit && left.inFlight == right.inFlight
            && left.usedAt == right.usedAt && left.pingedAt == right.pingedAt
            && left.token?.token == right.token?.token && left.token?.since == right.token?.since
    }

    var isDraining: Bool { if case .draining = phase { true } else { false } }
    var isOver: Bool { isDraining && inFlight == 0 }
    /// Its SETTINGS have come, and it takes requests.
    var isUsable: Bool { phase == .unproven || phase == .proven }
    var isReady: Bool { phase != .opening && phase != .greeting }

    /// How many more requests may go now.
    func room(atMost limit: Int) -> Int {
        switch phase {
        case .opening, .greeting, .draining: 0
        case .unproven: inFlight == 0 && streamLimit > 0 ? 1 : 0
        case .proven: max(0, min(streamLimit, limit) - inFlight)
        }
    }

    mutating func established(at now: SteadyTime) {
        guard phase == .opening else { return }
        phase = .greeting
        usedAt = now
    }

    mutating func took(settings limit: Int, at now: SteadyTime) {
        streamLimit = limit
        if phase == .opening || phase == .greeting { phase = .unproven }
        usedAt = now
    }

    mutating func sent(at now: SteadyTime) {
        inFlight += 1
        usedAt = now
    }

    /// A request is over, however it went.
    mutating func ended(at now: SteadyTime) {
        inFlight = max(0, inFlight - 1)
        usedAt = now
    }

    /// A request was answered with anything that did not speak against its provider token.
    mutating func proved() {
        hasAnswered = true
        if phase == .unproven { phase = .proven }
    }

    mutating func drain(_ cause: DrainCause) {
        if !isDraining { phase = .draining(cause) }
    }

    mutating func pinged(at now: SteadyTime) { pingedAt = now }

    mutating func ponged(at now: SteadyTime) {
        pingedAt = nil
        usedAt = now
    }
}
