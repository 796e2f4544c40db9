internal import CardRules
internal import Lanes

/// One signature of one key, in the order in which they were made.
struct TokenRef: Hashable, Sendable {
    /// Of the pool's keys.
    let key: Int
    let generation: Int
}

/// When the provider token of a key is signed, and which connection carries which (G4). Pure; one a key and process.
///
/// Two bounds meet here. A token serves 50 min and is not replaced before 20 (ref K2). And a connection must not see a
/// second fresh one within 20 min (ref K3): so each keeps the token that it began with for that long, and one that would
/// begin with it late in its life, fresh or changing over, gets a fresh one.
struct TokenSchedule: Equatable, Sendable {
    struct Limits: Equatable, Sendable {
        var minSeconds = 1200.0
        var maxSeconds = 3000.0
        /// A wall clock that was set by more than this since the signature counts as mended.
        var mendedSeconds = 60.0
    }

    let key: Int
    let limits: Limits
    private(set) var generation = 0
    private(set) var signedAt: PoolTime?
    private var isRefused = false
    private var isMendUsed = false

    init(key: Int, limits: Limits) {
        self.key = key
        self.limits = limits
    }

    /// Age is counted on the steady clock from the signature on, whatever the wall clock does meanwhile.
    func age(at now: PoolTime) -> Double? { signedAt.map { now.steady.seconds(since: $0.steady) } }

    /// The token for a request on a connection.
    /// - Parameters:
    ///   - held: what the connection carries, and since when; `nil` before its first request.
    /// - Returns: whether it must be signed now; then it is `generation`'s.
    mutating func token(
        held: (token: TokenRef, since: SteadyTime)?, at now: PoolTime
    ) -> (token: TokenRef, mustSign: Bool) {
        // What others got meanwhile does not concern this connection yet.
        if let held, isYoung(held.since, now) { return (held.token, false) }
        // A connection that changes over begins anew with the other token, as a fresh one does.
        guard isDue(asNew: held?.token.generation != generation, at: now) else {
            return (TokenRef(key: key, generation: generation), false)
        }
        isMendUsed = age(at: now).map { $0 < limits.minSeconds } ?? false
        generation += 1
        signedAt = now
        isRefused = false
        return (TokenRef(key: key, generation: generation), true)
    }

    /// APNs called it expired: the next is signed as soon as the least interval allows.
    mutating func wasRefused(_ token: TokenRef) {
        if token.generation == generation { isRefused = true }
    }

    /// Nothing was signed: the next request tries again.
    mutating func signingFailed(_ token: TokenRef) {
        if token.generation == generation { signedAt = nil }
    }

    private func isYoung(_ since: SteadyTime, _ now: PoolTime) -> Bool {
        now.steady.seconds(since: since) < limits.minSeconds
    }

    private func isDue(asNew isNew: Bool, at now: PoolTime) -> Bool {
        guard let signedAt, let age = age(at: now) else { return true }
        if age >= limits.maxSeconds { return true }
        if age >= limits.minSeconds {
            // On a connection that begins with it now it must last until that may have another.
            return isRefused || isNew && age >= limits.maxSeconds - limits.minSeconds
        }
        // G4: a mended clock allows one fresh signature.
        let stepped = now.wall.seconds(since: signedAt.wall) - age
        return isRefused && !isMendUsed && abs(stepped) >= limits.mendedSeconds
    }
}
