public import CardRules

/// A lane that was thrown away between two turns, until the store has given its successor.
struct FallenLane {
    let place: Int
    /// What its finished turns asked to keep is the outbox's: it is still written, from the lane as they left it. `nil`: it
    /// never stood here, for its row does not parse.
    let lane: Lane?
    /// Called once, when nothing of it is left to be written: `true`, and the store may be read; `false`, and it is gone
    /// for good.
    let whenWritten: @Sendable (Bool) -> Void
    var stage = Stage.writing
    /// What came for the device meanwhile, in order.
    var calls: [DeviceCall] = []

    enum Stage {
        /// Something of it is on its way to the store. -> reading.
        case writing
        /// Whoever killed it reads the store. -> waiting, unreadable, gone.
        case reading
        /// The store is away; it is read again in a while. -> reading.
        case waiting
        /// Its row does not parse: needs a person. What comes for it is told to try again.
        case unreadable
        /// It died too often: it rests until then, and goes on with the first call after that or an operator's word.
        /// -> reading.
        case parked(until: WallTime)

        /// What an app asks for meanwhile is told to try again.
        var turnsCallsAway: Bool {
            switch self {
            case .unreadable, .parked: true
            case .writing, .reading, .waiting: false
            }
        }
    }

    var cause = RestartCause.killed
}

/// What whoever killed a lane says of its reading.
enum FallenNews: Sendable {
    case waits
    case reads
    case unreadable
    /// `nil`: the store has no such device.
    case found(StoredLane?, timestampFloor: Int64)
}

/// How often a lane may be thrown away before it is parked, so that one that keeps dying costs its shard nothing.
public struct RestartIntensity: Hashable, Sendable {
    public var deathsAtMost: Int
    public var withinSeconds: Double
    public var parkedSeconds: Double

    public init(deathsAtMost: Int = 5, withinSeconds: Double = 60, parkedSeconds: Double = 60) {
        self.deathsAtMost = deathsAtMost
        self.withinSeconds = withinSeconds
        self.parkedSeconds = parkedSeconds
    }

    /// Devices whose deaths are remembered; above, those long past are forgotten.
    static let remembered = 1024
}

/// A lane that died too often.
public struct ParkedLane: Hashable, Sendable {
    public let device: DeviceID
    /// It goes on with the first call after that, or when it is unparked.
    public let until: WallTime
    /// For people.
    public let reason: String
}

struct KillOrder: Sendable {
    let device: DeviceID
    /// A lane that rests is to go on.
    var isUnparking = false
    let whenWritten: @Sendable (Bool) -> Void
}

/// One lane dies, the others of its shard go on; its successor knows what the store knows (L1, L10).
extension Shard {
    /// The lane takes no turn any more. Pushes of it that wait for its record do not leave; verdicts that come for it are
    /// refused as of an earlier generation.
    func kill(_ order: KillOrder) {
        if let fallen = fallen[order.device] {
            switch fallen.stage {
            case .unreadable: break
            case .parked where order.isUnparking: break
            case .parked, .writing, .reading, .waiting: return order.whenWritten(false)
            }
            self.fallen[order.device] = FallenLane(
                place: fallen.place, lane: fallen.lane, whenWritten: order.whenWritten, calls: fallen.calls,
                cause: order.isUnparking ? .unparked : .killed)
            return
        }
        guard !order.isUnparking else { return order.whenWritten(false) }
        guard let place = places[order.device], let lane = lanes[place] else { return order.whenWritten(false) }
        lanes[place] = nil
        deadlines.clear(place)
        fallen[order.device] = FallenLane(place: place, lane: lane, whenWritten: order.whenWritten)
        noteDeath(of: order.device)
    }

    private func noteDeath(of device: DeviceID) {
        let now = environment.clock.now
        let restarts = environment.restarts
        let recent = { (times: [WallTime]) in times.filter { abs(now.seconds(since: $0)) < restarts.withinSeconds } }
        if deaths.count >= RestartIntensity.remembered {
            deaths = deaths.mapValues(recent).filter { !$0.value.isEmpty }
        }
        deaths[device] = (recent(deaths[device] ?? []) + [now]).suffix(restarts.deathsAtMost + 1)
    }

    private func diesTooOften(_ device: DeviceID) -> Bool {
        (deaths[device]?.count ?? 0) > environment.restarts.deathsAtMost
    }

    /// The lane rests; whoever killed it is told that it does not go on.
    private func park(_ device: DeviceID) {
        guard let gone = fallen[device] else { return }
        let until = environment.clock.now.advanced(bySeconds: environment.restarts.parkedSeconds)
        fallen[device]?.stage = .parked(until: until)
        turnCallsAway(device)
        deaths[device] = nil
        environment.trace.record(.parked(device, until: until))
        gone.whenWritten(false)
    }

    private func turnCallsAway(_ device: DeviceID) {
        let calls = fallen[device]?.calls ?? []
        fallen[device]?.calls = calls.filter { $0.hear == nil }
        for call in calls { call.reply(.unavailable) }
    }

    /// A row that does not parse holds a place, so that nothing of its device is made anew and written over it. What apps
    /// ask is turned away, what other lanes say is kept, until the row has been mended and is read again.
    func rest(_ row: DamagedLane) {
        environment.trace.record(.storeFailed(row.error))
        guard let device = DeviceID(row.key), places[device] == nil else { return }
        let place = newPlace(of: device)
        fallen[device] = FallenLane(place: place, lane: nil, whenWritten: { _ in }, stage: .unreadable)
    }

    /// The lanes that rest.
    var parkedLanes: [ParkedLane] {
        fallen.compactMap { device, gone in
            guard case .parked(let until) = gone.stage else { return nil }
            let restarts = environment.restarts
            return ParkedLane(
                device: device, until: until,
                reason: "thrown away more than \(restarts.deathsAtMost) times in \(Int(restarts.withinSeconds)) s")
        }
    }

    /// Whoever waits for the last record of a fallen lane may read it now.
    func readFallenLanes() {
        for (device, gone) in fallen {
            guard case .writing = gone.stage, !outbox.concerns(gone.place) else { continue }
            if gone.cause == .killed, diesTooOften(device) {
                park(device)
            } else {
                fallen[device]?.stage = .reading
                gone.whenWritten(true)
            }
        }
    }

    func take(_ news: FallenNews, of device: DeviceID) async {
        switch news {
        case .waits: fallen[device]?.stage = .waiting
        case .reads: fallen[device]?.stage = .reading
        case .unreadable:
            fallen[device]?.stage = .unreadable
            turnCallsAway(device)
        case .found(let row, let floor): await raise(device, row, timestampFloor: floor)
        }
    }

    private func raise(_ device: DeviceID, _ row: StoredLane?, timestampFloor: Int64) async {
        guard let gone = fallen.removeValue(forKey: device) else { return }
        if let row {
            let state = LaneState(
                restoring: row.record, zone: environment.zone(row.record.settings.timeZone) ?? .utc,
                timestampFloor: timestampFloor, sessions: row.record.sessions.compactMap { router.session($0.key) })
            // The one that fell may never have written its own generation.
            let newest = max(row.generation, gone.lane?.generation ?? row.generation)
            let lane = Lane(state: state, generation: Generation(newest.value &+ 1), shard: self)
            lanes[gone.place] = lane
            environment.trace.record(.restarted(device, cause: gone.cause))
            for effect in state.pendingOwnership { router.route(effect, from: device) }
            for member in row.record.sessions {
                guard let session = router.session(member.key) else { continue }
                await turn(gone.place, lane, .session(session, as: nil))
            }
            await turn(gone.place, lane, .look)
        } else {
            free(gone.place, device, gone.lane)
        }
        for call in gone.calls { await take(call) }
    }

    /// Keeps a call for a lane that is being read again.
    /// - Returns: `false` when the device has no such lane.
    func park(_ call: DeviceCall) -> Bool {
        guard let gone = fallen[call.device] else { return false }
        if case .parked(let until) = gone.stage, until <= environment.clock.now {
            fallen[call.device]?.stage = .reading
            fallen[call.device]?.cause = .unparked
            router.reread(call.device)
        } else if call.hear != nil, gone.stage.turnsCallsAway {
            call.reply(.unavailable)
            return true
        }
        if call.hear != nil, gone.calls.count >= environment.callsHeld {
            call.reply(.overloaded)
            return true
        }
        fallen[call.device]?.calls.append(call)
        return true
    }

    /// The lane at a place, also one that has fallen: for what its finished turns have left to do.
    func standingOrFallen(_ place: Int) -> Lane? {
        if let lane = lanes[place] { return lane }
        return devices[place].flatMap { fallen[$0] }?.lane
    }

    /// The device is gone for good: its place is free.
    func free(_ place: Int, _ device: DeviceID, _ lane: Lane?) {
        if let lane { goneGeneration = max(goneGeneration, lane.generation.value) }
        deadlines.clear(place)
        lanes[place] = nil
        devices[place] = nil
        places[device] = nil
        freePlaces.append(place)
    }
}
