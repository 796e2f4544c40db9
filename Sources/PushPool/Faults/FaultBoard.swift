public import CardRules
internal import Lanes

/// What is at fault when several pushes are refused for the same cause (G3, G5).
public enum PoolScope: Hashable, Sendable {
    /// Its servers: 5xx.
    case gateway(Gateway)
    /// A provider key on that gateway: 403.
    case key(Gateway, keyID: String)
    /// An app on that gateway: its topic.
    case app(Gateway, topic: String)

    public var gateway: Gateway {
        switch self {
        case .gateway(let gateway), .key(let gateway, _), .app(let gateway, _): gateway
        }
    }
}

/// Counts faults by scope, and holds a scope that has had too many in a row (G3: `misconfigured`; G5: a gateway in
/// trouble). Only that scope stops: one waiting push probes at a time.
struct FaultBoard: Sendable {
    struct Limits: Equatable, Sendable {
        /// Without a 200 between.
        var inARow = 5
        var probeSeconds = 30.0
    }

    enum Gate: Equatable, Sendable {
        case open
        /// One push may go, and tells.
        case probe
        case shut
    }

    enum Change: Equatable, Sendable {
        /// Said once, not again while it lasts.
        case held
        case healed
    }

    private struct State: Sendable {
        var inARow = 0
        /// Set while it is held.
        var nextProbeAt: SteadyTime?
    }

    let limits: Limits
    private var states: [PoolScope: State] = [:]
    /// Scopes held: mostly none, and then every gate is open without a look.
    private(set) var heldCount = 0

    init(limits: Limits) { self.limits = limits }

    var held: [PoolScope] { states.filter { $0.value.nextProbeAt != nil }.map(\.key) }

    func isHeld(_ scope: PoolScope) -> Bool { states[scope]?.nextProbeAt != nil }

    /// No fault anywhere since the last 200 of its scope: mostly so, and then nobody need ask for `room`.
    var isQuiet: Bool { states.isEmpty }

    /// How many requests of a scope may be in flight while it is under suspicion: as many as it takes to hold it, so that a
    /// wrong setting costs a few refusals and not a connection full of them (G3, G8). `nil`: no fault since its last 200,
    /// or held already.
    func room(_ scope: PoolScope) -> Int? {
        guard let state = states[scope], state.nextProbeAt == nil else { return nil }
        return max(1, limits.inARow - state.inARow)
    }

    func gate(_ scope: PoolScope, at now: SteadyTime) -> Gate {
        guard heldCount > 0, let next = states[scope]?.nextProbeAt else { return .open }
        return next <= now ? .probe : .shut
    }

    /// A probe leaves: the next one is due half a minute later.
    mutating func probed(_ scope: PoolScope, at now: SteadyTime) {
        guard states[scope]?.nextProbeAt != nil else { return }
        states[scope]?.nextProbeAt = now.advanced(bySeconds: limits.probeSeconds)
    }

    mutating func noteFault(_ scope: PoolScope, at now: SteadyTime) -> Change? {
        var state = states[scope] ?? State()
        state.inARow += 1
        defer { states[scope] = state }
        guard state.inARow >= limits.inARow, state.nextProbeAt == nil else { return nil }
        state.nextProbeAt = now.advanced(bySeconds: limits.probeSeconds)
        heldCount += 1
        return .held
    }

    mutating func noteAccepted(_ scope: PoolScope) -> Change? {
        guard !states.isEmpty, let state = states.removeValue(forKey: scope), state.nextProbeAt != nil else {
            return nil
        }
        heldCount -= 1
        return .healed
    }
}

/// G8: after a run of `BadDeviceToken` the tries on the other gateway (G2) keep a distance, whoever makes them.
struct OtherTries: Equatable, Sendable {
    private(set) var run = 0
    private var nextAt = SteadyTime.zero
    let inARow: Int
    let seconds: Double

    init(inARow: Int, seconds: Double) {
        self.inARow = inARow
        self.seconds = seconds
    }

    mutating func noteBad() { run = min(run + 1, 1_000_000) }
    mutating func noteAccepted() { run = 0 }

    /// When such a try may go.
    func due(at now: SteadyTime) -> SteadyTime { run < inARow ? now : max(now, nextAt) }

    mutating func spend(at now: SteadyTime) {
        if run >= inARow { nextAt = now.advanced(bySeconds: seconds) }
    }
}
