import CardRules
import Lanes
import Postgres
import PushWire
import Simulation
import Synchronization
import Testing

@testable import LaneStore

/// The phones of a cluster's test: what reached each, from whatever node, and which nodes' pushes are held up.
final class ClusterPhones: Sendable {
    private let sent = Locked<[(node: String, push: OutgoingPush, at: SteadyTime)]>([])

    func note(_ pushes: [OutgoingPush], from node: String, at now: SteadyTime) {
        sent.change { $0 += pushes.map { (node, $0, now) } }
    }

    /// When each phone was sent what, from then on.
    func times(of event: PushEvent, since: SteadyTime) -> [DeviceID: [SteadyTime]] {
        sent.change { sent in
            sent.reduce(into: [:]) { times, one in
                guard one.push.request.event == event, one.at >= since else { return }
                times[one.push.ticket.device, default: []].append(one.at)
            }
        }
    }

    /// How many starts each phone was sent.
    var starts: [DeviceID: Int] {
        sent.change { sent in
            sent.reduce(into: [:]) { if $1.push.request.event == .start { $0[$1.push.ticket.device, default: 0] += 1 } }
        }
    }

    func count(_ event: PushEvent, to device: DeviceID? = nil) -> Int {
        sent.change { sent in
            sent.count { $0.push.request.event == event && (device == nil || $0.push.ticket.device == device) }
        }
    }

    /// Who sent the last push of that kind to a phone.
    func sender(of event: PushEvent, to device: DeviceID) -> String? {
        sent.change { sent in
            sent.last { $0.push.request.event == event && $0.push.ticket.device == device }?.node
        }
    }
}

private final class PhonePusher: Pusher {
    let phones: ClusterPhones
    let node: String
    private let clock: any SteadyClock
    private let held = Locked<(isHolding: Bool, pushes: [OutgoingPush], paused: Set<Gateway>)>((false, [], []))

    init(_ phones: ClusterPhones, _ node: String, _ clock: any SteadyClock) {
        (self.phones, self.node, self.clock) = (phones, node, clock)
    }

    func send(_ pushes: [OutgoingPush]) -> [OutgoingPush] {
        phones.note(pushes, from: node, at: clock.uptime)
        let isHeld = held.change { held in
            if held.isHolding { held.pushes += pushes }
            return held.isHolding
        }
        if !isHeld { for push in pushes { answer(push) } }
        return []
    }

    private func answer(_ push: OutgoingPush) {
        push.sink.take([PushAnswer(ticket: push.ticket, verdict: .accepted)])
    }

    /// Answers come when it is let go.
    func hold() { held.change { $0.isHolding = true } }

    func letGo() {
        let pushes = held.change { held in
            defer { held = (false, [], held.paused) }
            return held.pushes
        }
        for push in pushes { answer(push) }
    }

    func pause(_ gateway: Gateway) { held.change { _ = $0.paused.insert(gateway) } }
    func resume(_ gateway: Gateway) { held.change { _ = $0.paused.remove(gateway) } }
    var paused: Set<Gateway> { held.change { $0.paused } }
}

/// A steady clock that can jump, over one that runs.
final class JumpingClock: SteadyClock {
    private let base: any SteadyClock
    private let jumped = Locked(0.0)
    init(_ base: any SteadyClock) { self.base = base }
    var uptime: SteadyTime { base.uptime.advanced(bySeconds: jumped.change { $0 }) }
    func jump(_ seconds: Double) { jumped.change { $0 += seconds } }
}

/// One node of a cluster in this process: store, leases, link and supervisor.
final class ClusterNode: Sendable {
    static let app = AppID(unchecked: "lineup")
    static let evening = WallTime(seconds: Int64(1_768_075_200))

    let name: String
    let store: PostgresStore
    let cluster: PostgresCluster
    let system: Supervisor
    let steady: JumpingClock
    let clock: ScaledClock
    private let pusher: PhonePusher

    init(
        _ name: String, in schema: TestSchema, phones: ClusterPhones, clock: ScaledClock, leaseSeconds: Double = 10
    ) async throws {
        var settings = schema.settings
        settings.connections = 2
        settings.session.parameters["application_name"] = nil
        store = try await PostgresStore.open(
            schema.address, settings: settings, ownership: .leases, migrate: true, random: SeededSource(seed: 1))
        steady = JumpingClock(clock)
        var node = PostgresCluster.Settings()
        node.name = name
        node.leaseSeconds = leaseSeconds
        cluster = try PostgresCluster(
            schema.address, store: store, settings: node, storeSettings: settings, clock: steady,
            random: SeededSource(seed: 1))
        pusher = PhonePusher(phones, name, clock)
        let profile = AppProfile(
            id: ClusterNode.app, bundleID: "com.example.lineup", slateAttributesType: "LineupAttributes")
        var tuning = Tuning()
        tuning.updates.gapSeconds = 0.05
        tuning.authority.syncHoldSeconds = 0.05
        tuning.updates.urgentGapSeconds = 0.05
        system = Supervisor(
            configuration: Supervisor.Configuration(tuning: tuning, apps: [profile], shards: 2, callsHeld: 1000),
            store: store, cluster: cluster, pusher: pusher, clock: clock, random: SeededSource(seed: 1),
            zone: { _ in .utc })
        (self.name, self.clock) = (name, clock)
        try await system.restore()
        try cluster.begin()
    }

    func holdPushes() { pusher.hold() }
    func letPushesGo() { pusher.letGo() }
    var paused: Set<Gateway> { pusher.paused }

    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.system.run() }
            group.addTask { await self.system.run(by: self.clock) }
        }
    }

    func close() async {
        await cluster.close()
        await store.close()
    }

    /// Waits until it is so, or the test's own time is over; a few hundred looks a second, for what other nodes and the
    /// server do by their own time tells nobody here.
    func until(
        _ what: String, source: SourceLocation = #_sourceLocation, _ isTrue: () async throws -> Bool
    ) async throws {
        while !Task.isCancelled {
            if try await isTrue() { return }
            try? await clock.sleep(until: clock.now.advanced(bySeconds: 0.003))
        }
        Issue.record("never came: \(what)", sourceLocation: source)
    }

    func untilOwns(_ count: Int, source: SourceLocation = #_sourceLocation) async throws {
        try await until("\(name) owns \(count)", source: source) {
            let partitions = system.partitions
            return partitions.owned == count && partitions.loading == 0
        }
    }

    func runs(_ device: DeviceID) async -> Bool { await system.state(of: device) != nil }

    func register(_ device: DeviceID, token: String? = nil, user: String? = "owner") async -> DeviceAnswer {
        var patch = DevicePatch()
        patch.user = user.map { .value($0) } ?? .absent
        patch.osVersion = OSVersion(major: 18, minor: 0)
        patch.pushToStart = .value(PushAddress(token: Array((token ?? device.text).utf8), gateway: .production))
        patch.personalisation = .readable(Taste(teams: [:], leagues: [:], minimumWorth: 0, maxGames: 4))
        return await system.answer(to: .registered(patch), for: device, app: ClusterNode.app)
    }

    @discardableResult
    func play(_ game: GameID, goals: Int, phase: Phase = .live) async throws -> [SlateChange] {
        var patch = GamePatch(game: game, at: clock.now)
        patch.sport = .value(.hockey)
        patch.league = .value("NHL")
        patch.home = .value("\(game)-home")
        patch.away = .value("\(game)-away")
        patch.startsAt = .value(ClusterNode.evening)
        var score = ScorePatch(game: game, at: clock.now)
        score.phase = .value(phase)
        score.home = .value(goals)
        score.away = .value(0)
        score.period = .value(1)
        score.clock = .value("10:00")
        return try await system.tick([.game(patch), .score(score)])
    }

    func homeScore(_ game: GameID) async -> Int? {
        await system.ranking.games.first { $0.ranked.id == game }?.merged.homeScore
    }

    func cardToken(_ device: DeviceID) -> LaneEvent {
        .cardToken(
            CardToken(
                key: .slate, activity: ActivityID(unchecked: "a-\(device.text)"),
                address: PushAddress(token: Array("u-\(device.text)".utf8), gateway: .production), startedBy: .push,
                began: nil))
    }
}

/// Nodes over one schema, running while a test lasts.
func withNodes(
    _ count: Int, leaseSeconds: Double = 10,
    _ body: (_ nodes: [ClusterNode], _ phones: ClusterPhones, _ schema: TestSchema) async throws -> Void
) async throws {
    let schema = try await TestSchema()
    let phones = ClusterPhones()
    let clock = ScaledClock(start: ClusterNode.evening, speed: 1)
    var nodes: [ClusterNode] = []
    for number in 0..<count {
        nodes.append(
            try await ClusterNode(
                ["a", "b", "c"][number], in: schema, phones: phones, clock: clock, leaseSeconds: leaseSeconds))
    }
    let made = nodes
    let result = await withTaskGroup(of: Void.self) { group -> Result<Void, any Error> in
        for node in made { group.addTask { await node.run() } }
        var result = Result<Void, any Error>.success(())
        do { try await body(made, phones, schema) } catch { result = .failure(error) }
        for node in made { await node.close() }
        group.cancelAll()
        return result
    }
    try result.get()
}

func devices(_ count: Int, _ stem: String = "d") -> [DeviceID] {
    (1...count).map { DeviceID(unchecked: "\(stem)\($0)") }
}
