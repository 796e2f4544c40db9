internal import CardRules
internal import Lanes

/// What the pool remembers of device tokens: their spacing, holds and failures. Bounded: at the bound it forgets what is
/// over, and if nothing is, all but the holds.
struct AddressMemory: Sendable {
    private struct Note {
        /// G5: no push before then.
        var heldUntil: SteadyTime?
        /// G5: how long the last hold was, before jitter.
        var holdSeconds = 0.0
        /// G8: until then it counts as failing.
        var failingUntil: SteadyTime?
        /// G2: the gateway that called it bad.
        var badAt: Gateway?

        func isOver(at now: SteadyTime) -> Bool {
            (heldUntil ?? now) <= now && (failingUntil ?? now) <= now
        }
    }

    struct Limits: Equatable, Sendable {
        var spacing: Spacing
        /// G5.
        var slowSeconds = 60.0
        var slowMaxSeconds = 900.0
        /// G8: how long a refused token keeps away from confirmed ones.
        var failingSeconds = 3600.0
        /// Tokens remembered at most.
        var kept = 200_000
    }

    let limits: Limits
    /// Of tokens that were refused: mostly few.
    private var notes: [AddressKey: Note] = [:]
    private var spacings: SpacingTable

    init(limits: Limits) {
        self.limits = limits
        spacings = SpacingTable(kept: limits.kept)
    }

    var count: Int { notes.count }

    func isFailing(_ address: AddressKey, at now: SteadyTime) -> Bool {
        guard !notes.isEmpty, let until = notes[address]?.failingUntil else { return false }
        return until > now
    }

    /// Whether another gateway called it bad a while ago: a push to this one is the try of G2.
    func isOtherTry(_ address: AddressKey, at gateway: Gateway, _ now: SteadyTime) -> Bool {
        guard !notes.isEmpty, let note = notes[address], let bad = note.badAt, let until = note.failingUntil else {
            return false
        }
        return bad != gateway && until > now
    }

    /// When a push to this token may go (G5, G7): now or later.
    /// - Parameter isPatient: false for ends and reissues, which never wait for the spacing, and for a hold one minute at
    ///   most, counted from when it began.
    func due(_ address: AddressKey, isPatient: Bool, at now: SteadyTime) -> SteadyTime {
        var due = now
        if !notes.isEmpty, let note = notes[address], let held = note.heldUntil {
            let early = note.holdSeconds > limits.slowSeconds ? note.holdSeconds - limits.slowSeconds : 0
            due = max(due, isPatient ? held : held.advanced(bySeconds: -early))
        }
        guard isPatient, limits.spacing.seconds > 0 else { return due }
        return max(due, limits.spacing.due(spacings.full(address), at: now))
    }

    /// A push to it leaves.
    mutating func spend(_ address: AddressKey, at now: SteadyTime) {
        guard limits.spacing.seconds > 0 else { return }
        spacings.set(address, full: limits.spacing.spent(spacings.full(address), at: now), at: now)
    }

    mutating func noteAccepted(_ address: AddressKey) {
        guard !notes.isEmpty, var note = notes[address], note.holdSeconds > 0 || note.failingUntil != nil else {
            return
        }
        (note.heldUntil, note.holdSeconds, note.failingUntil, note.badAt) = (nil, 0, nil, nil)
        notes[address] = note
    }

    /// It was refused for what it is (BadDeviceToken, Unregistered, ...).
    mutating func noteFailing(_ address: AddressKey, bad gateway: Gateway?, at now: SteadyTime) {
        makeRoom(at: now)
        notes[address, default: Note()].failingUntil = now.advanced(bySeconds: limits.failingSeconds)
        notes[address]?.badAt = gateway
    }

    /// G5: 60 s, doubling to 15 min.
    /// - Parameter jitter: 0..<1; adds up to a tenth.
    mutating func hold(_ address: AddressKey, jitter: Double, at now: SteadyTime) {
        makeRoom(at: now)
        var note = notes[address] ?? Note()
        note.holdSeconds =
            note.holdSeconds == 0 ? limits.slowSeconds : min(limits.slowMaxSeconds, note.holdSeconds * 2)
        note.heldUntil = now.advanced(bySeconds: note.holdSeconds * (1 + jitter / 10))
        notes[address] = note
    }

    private mutating func makeRoom(at now: SteadyTime) {
        guard notes.count >= limits.kept else { return }
        notes = notes.filter { !$0.value.isOver(at: now) }
        guard notes.count >= limits.kept / 2 else { return }
        notes = notes.filter { ($0.value.heldUntil ?? now) > now }
        if notes.count >= limits.kept { notes = [:] }
    }
}
