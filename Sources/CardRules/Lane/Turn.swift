/// One turn while it lasts: what it looks at, and the effects it gathers in the order in which they must happen.
struct Turn {
    let now: WallTime
    /// Not copied out of it: the tuning is a long row of numbers.
    private let surroundings: Surroundings
    var slate: SlateSnapshot { surroundings.slate }
    var tuning: Tuning { surroundings.tuning }
    /// How many starts may still be claimed in this turn (L10).
    private(set) var claimsLeft: Int

    private var claims: [LaneEffect] = []
    private var sends: [LaneEffect] = []
    private var handovers: [LaneEffect] = []
    private(set) var notes: [TimelineEntry] = []
    /// The record must be durable before any push of this turn leaves (L1).
    private var savesFirst = false
    /// The record changed; nothing waits for it.
    private var savesLater = false

    init(now: WallTime, surroundings: Surroundings) {
        self.now = now
        self.surroundings = surroundings
        claimsLeft = surroundings.claims
    }

    /// What is sent in this turn leaves only when the record is durable.
    mutating func saveFirst() { savesFirst = true }

    /// The record is to be written, but no push waits for it.
    mutating func saveLater() { savesLater = true }

    mutating func claim(night: WallTime, ordinal: Int, key: CardKey) {
        claims.append(.claim(night: night, ordinal: ordinal, key: key))
        claimsLeft -= 1
        savesFirst = true
    }

    mutating func send(_ order: PushOrder) { sends.append(.send(order)) }

    /// Something that concerns other records: never before this record is durable.
    mutating func afterSaving(_ effect: LaneEffect) {
        handovers.append(effect)
        savesFirst = true
    }

    /// Something that needs no record: forwarding, refusing.
    mutating func answer(_ effect: LaneEffect) { sends.append(effect) }

    mutating func note(
        _ kind: TimelineEntry.Kind, _ key: CardKey?, _ rule: Rule?, _ detail: String, changesWhen: String? = nil,
        push: PushNumber? = nil, probe: ProbeStep? = nil
    ) {
        notes.append(
            TimelineEntry(
                at: now, key: key, kind: kind, rule: rule, detail: detail, changesWhen: changesWhen, push: push,
                probe: probe))
    }

    /// Durable before visible: claims, the record, then what leaves; notes ride along.
    consuming func effects() -> [LaneEffect] {
        if savesFirst { return claims + [.save] + sends + handovers + notes.map(LaneEffect.note) }
        return sends + (savesLater ? [.save] : []) + notes.map(LaneEffect.note)
    }
}
