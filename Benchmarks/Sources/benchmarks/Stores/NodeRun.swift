import CardRules
import Foundation
import Intake
import Lanes
import Measuring
import PushWire
import Simulation

/// Nodes as `serve` makes them: so many phones register, a node starts on what another left, a second one is given half.
struct NodeRun: Sendable {
    struct Outcome: Sendable {
        let kind: StoreKind
        let lanes: Int
        /// Registrations answered a second, each durable, and what their rows come to on disk.
        var registered = 0.0
        var registeredBytes = 0.0
        /// A node's start on lanes of which most have a card: until its first push, and until every lane is in its place.
        var firstPushSeconds = 0.0
        var allSeconds = 0.0
        var diskBytes = 0.0
        /// A lane's share of the process when all are there, and at the worst moment before.
        var memoryBytes = 0.0
        var worstBytes = 0.0
        var handOver: HandOver?
    }

    struct HandOver: Sendable {
        let lanes: Int
        let seconds: Double
        /// Without a lane at either node, of a partition that moves.
        let gapSeconds: Spread
    }

    let place: StorePlace
    let lanes: Int
    let seed: UInt64

    /// Calls under way at a time, as many callers.
    private static let callers = 4000

    func run() async throws -> Outcome {
        var outcome = Outcome(kind: place.kind, lanes: lanes)
        let zones = ZoneDirectory()
        let slate = MadeUpSlate()
        let phones = MadeUpPhones(seed: seed, games: slate.ids, zone: { zones.zone(named: $0) ?? .utc })
        try await register(phones, zones, &outcome)
        try await start(phones, slate, zones, &outcome)
        return outcome
    }

    private var clock: ScaledClock { ScaledClock(start: MadeUpSlate.evening, speed: 1) }

    // MARK: - Registrations

    private func register(_ phones: MadeUpPhones, _ zones: ZoneDirectory, _ outcome: inout Outcome) async throws {
        say("store: \(place.kind.rawValue), \(grouped(lanes)) phones register at a node")
        let place = place.fresh("registered_\(lanes)")
        let node = try await StoreNode("first", at: place, zones: zones, clock: clock)
        try await until("the node has everything") { node.running == partitionCount }
        let began = uptimeSeconds()
        let refused = await withTaskGroup(of: Int.self) { group in
            for caller in 0..<Self.callers {
                group.addTask {
                    var refused = 0
                    for number in stride(from: caller, to: lanes, by: Self.callers) {
                        let record = phones.freshRecord(number)
                        let answer = await node.system.answer(
                            to: .registered(patch(record, zones)), for: record.device, app: MadeUpPhones.app)
                        if answer != .done { refused += 1 }
                    }
                    return refused
                }
            }
            return await group.reduce(0, +)
        }
        outcome.registered = Double(lanes) / (uptimeSeconds() - began)
        guard refused == 0 else { throw Failure("\(refused) of \(lanes) registrations were refused") }
        await node.stop(place)
        outcome.registeredBytes = Double(await place.diskBytes()) / Double(lanes)
    }

    private func patch(_ record: LaneRecord, _ zones: ZoneDirectory) -> DevicePatch {
        var patch = DevicePatch()
        patch.user = record.settings.user.map { .value($0) } ?? .absent
        patch.pushToStart = (record.pushToStart?.address).map { .value($0) } ?? .absent
        patch.osVersion = record.settings.osVersion
        patch.appVersion = record.settings.appVersion
        patch.zone = zones.zone(named: record.settings.timeZone)
        patch.personalisation = .readable(Taste(teams: [:], leagues: [:], minimumWorth: 0, maxGames: 4))
        return patch
    }

    // MARK: - A start, and a second node

    private func start(
        _ phones: MadeUpPhones, _ slate: MadeUpSlate, _ zones: ZoneDirectory, _ outcome: inout Outcome
    ) async throws {
        let place = place.fresh("nodes_\(lanes)")
        let first = try await place.open()
        try await fill(first, phones, lanes, opening: slate.opening())
        await place.close(first)
        outcome.diskBytes = Double(await place.diskBytes()) / Double(lanes)
        say("store: \(place.kind.rawValue), a node starts with \(grouped(lanes)) lanes")
        let before = Memory.residentBytes
        Memory.forgetMost()
        let began = uptimeSeconds()
        let node = try await StoreNode("first", at: place, zones: zones, clock: clock)
        try await until("the first push") { node.pusher.taken > 0 }
        outcome.firstPushSeconds = uptimeSeconds() - began
        try await until("all lanes") { node.running == partitionCount }
        outcome.allSeconds = uptimeSeconds() - began
        await node.system.settle()
        let count = await node.system.laneCount()
        guard count == lanes else { throw Failure("\(count) of \(lanes) lanes came back") }
        outcome.memoryBytes = Double(Memory.residentBytes - before) / Double(lanes)
        outcome.worstBytes = Double(Memory.mostResidentBytes - before) / Double(lanes)
        if try place.address != nil { outcome.handOver = try await handOver(from: node, at: place, phones, zones) }
        await node.stop(place)
    }

    private func handOver(
        from node: StoreNode, at place: StorePlace, _ phones: MadeUpPhones, _ zones: ZoneDirectory
    ) async throws -> HandOver {
        say("store: \(place.kind.rawValue), a second node is given half of \(grouped(lanes)) lanes")
        // One device of each partition tells where its lanes are.
        var tellers: [Int: DeviceID] = [:]
        for number in 0..<lanes where tellers.count < partitionCount {
            let device = phones.device(number)
            if tellers[partition(of: device)] == nil { tellers[partition(of: device)] = device }
        }
        let began = uptimeSeconds()
        let second = try await StoreNode("second", at: place, zones: zones, clock: clock)
        var gone: [Int: Double] = [:]
        var came: [Int: Double] = [:]
        try await until("half of it moves") {
            for (place, device) in tellers {
                if gone[place] == nil {
                    if await node.system.state(of: device) == nil { gone[place] = uptimeSeconds() }
                } else if came[place] == nil, await second.system.state(of: device) != nil {
                    came[place] = uptimeSeconds()
                }
            }
            return node.running == partitionCount / 2 && second.running == partitionCount / 2
                && came.count == gone.count
        }
        let seconds = uptimeSeconds() - began
        let moved = await second.system.laneCount()
        await second.stop(place)
        return HandOver(
            lanes: moved, seconds: seconds,
            gapSeconds: Spread(gone.compactMap { place, time in came[place].map { $0 - time } }))
    }

    private func until(_ what: String, _ isSo: () async throws -> Bool) async throws {
        let began = uptimeSeconds()
        while try await !isSo() {
            guard uptimeSeconds() - began < 600 else { throw Failure("never came: \(what)") }
            try await ContinuousClock().sleep(for: .milliseconds(2))
        }
    }
}
