public import CardRules

/// Why no probe was begun. Nothing was changed, but see `unavailable`.
public enum ProbeFault: Error, Hashable, Sendable {
    /// 422.
    case unknownDevice
    /// 409: one goes on, or is being asked for, on this node.
    case running
    /// The phone's own: 409 for its units, else 422.
    case obstacle(ProbeObstacle)
    /// 503: the store could not keep it. Nothing was sent; it begins yet when the store is back, unless the program is
    /// restarted before.
    case unavailable
    /// 503.
    case overloaded

    /// For people.
    public var detail: String {
        switch self {
        case .unknownDevice: "there is no such device"
        case .running: "another probe is going on: one at a time"
        case .obstacle(let obstacle): obstacle.detail
        case .unavailable: "the store cannot write now: try again"
        case .overloaded: "too much is waiting: try again"
        }
    }

    /// It conflicts with something that passes (409).
    public var isConflict: Bool {
        switch self {
        case .running, .obstacle(.running), .obstacle(.unitsSpent): true
        default: false
        }
    }
}

/// Why no moment was made up. Nothing was changed.
public enum MomentFault: Error, Hashable, Sendable {
    /// The slate has no such game.
    case unknownGame
    /// The device at that place is not there.
    case unknownDevice(DeviceID, index: Int)
    case noDevices
    case tooManyDevices(limit: Int)
    /// Outside `Supervisor.momentSeconds`.
    case seconds
    /// The store cannot be read now: 503.
    case unavailable

    /// The member of the body that is to blame, as a JSON pointer.
    public var field: String? {
        switch self {
        case .unavailable: nil
        case .unknownGame: "/game"
        case .unknownDevice(_, let index): "/devices/\(index)"
        case .noDevices, .tooManyDevices: "/devices"
        case .seconds: "/seconds"
        }
    }

    /// For people.
    public var detail: String {
        switch self {
        case .unknownGame: "the slate has no such game"
        case .unknownDevice(let device, _): "there is no device \(device)"
        case .unavailable: "the store cannot be read now: try again"
        case .noDevices: "a moment names at least one device"
        case .tooManyDevices(let limit): "a moment names at most \(limit) devices"
        case .seconds:
            "must be \(Int(Supervisor.momentSeconds.lowerBound)) to \(Int(Supervisor.momentSeconds.upperBound))"
        }
    }
}

extension Supervisor {
    /// Probes one phone (`POST /v1/probes`): five starts a minute apart, the first at once, each differing from an
    /// ordinary one in one field. What becomes of each is on its timeline (kind `probe`). A restart drops what is left.
    ///
    /// - Parameter gateway: where they go; `nil`: the one that the token belongs to.
    /// - Returns: the variants in their order, once the probe is durable.
    public func probe(_ device: DeviceID, gateway: Gateway? = nil) async throws(ProbeFault) -> [ProbeVariant] {
        guard !isAskingForProbe else { throw .running }
        isAskingForProbe = true
        defer { isAskingForProbe = false }
        if let probing, await state(of: probing)?.isProbing == true { throw .running }
        let found: LaneState?
        do { found = try await look(at: device) } catch { throw .unavailable }
        guard let before = found else { throw .unknownDevice }
        if let obstacle = before.probeObstacle(tuning: tuning) { throw .obstacle(obstacle) }
        probing = device
        switch await answer(to: .probe(gateway), for: device) {
        case .done: break
        case .unknownDevice: throw .unknownDevice
        case .overloaded: throw .overloaded
        case .unavailable, .unknownCard, .staleSelection, .otherApp: throw .unavailable
        }
        // The lane has looked again, at what had become of the phone meanwhile.
        guard let after = await state(of: device) else {
            guard switchboard.table.runs(partition(of: device)) else { return ProbeVariant.allCases }  // another node's
            throw .unavailable
        }
        if !after.isProbing, let obstacle = after.probeObstacle(tuning: tuning) { throw .obstacle(obstacle) }
        return ProbeVariant.allCases
    }

    /// How long a made-up moment may last.
    public static let momentSeconds = 1.0...3600.0
    /// Devices that one made-up moment may name.
    public static let momentDevices = 100

    /// Makes a moment of a game up for these phones alone (`POST /v1/moments`), for a demonstration or a test. It lifts
    /// the game as a true one would; each lane's timeline says what it made of it.
    /// - Returns: when it was handed to every lane; a restart forgets it.
    public func makeUpMoment(
        game: GameID, kind: MomentKind, seconds: Double, devices: [DeviceID]
    ) async throws(MomentFault) {
        guard Self.momentSeconds.contains(seconds) else { throw .seconds }
        guard !devices.isEmpty else { throw .noDevices }
        guard devices.count <= Self.momentDevices else { throw .tooManyDevices(limit: Self.momentDevices) }
        guard snapshotHolds(game) else { throw .unknownGame }
        for (index, device) in devices.enumerated() {
            do {
                guard try await look(at: device) == nil else { continue }
            } catch {
                throw .unavailable
            }
            throw .unknownDevice(device, index: index)
        }
        let until = environment.clock.now.advanced(bySeconds: seconds)
        for device in Set(devices).sorted() {
            switchboard.deliver(
                DeviceCall(device: device, event: .madeUpMoment(game: game, kind: kind, until: until)))
        }
    }

    /// Per card key of a device the decision that stands, also one made before the last restart, where the timeline still
    /// has it; `nil` where there is no such device.
    /// - Throws: `StoreError`.
    public func why(of device: DeviceID) async throws -> [CardKey: TimelineEntry]? {
        guard let state = try await look(at: device) else { return nil }
        let told = try await environment.store.timeline(device: device, after: nil, limit: Self.entriesSearched)
        let older = TimelineEntry.lastDecisions(in: told.reversed().lazy.map(\.row.entry))
        return state.why.merging(older) { newest, _ in newest }
    }

    /// Entries of a timeline in which a decision is looked for.
    private static let entriesSearched = 256
}
