import CardRules
import Lanes
import PushWire
import Simulation
import Synchronization
import Testing

/// The world around a system: what outlives it, and what tests say to it.
final class Rig: Sendable {
    static let app = AppID(unchecked: "lineup")
    /// Saturday 2026-01-10, 20:00 UTC: far from the turn of the night.
    static let evening = WallTime(seconds: Int64(1_768_075_200))

    let clock = ManualClock(now: Rig.evening)
    let store = MemoryStore()
    let pusher = AnsweringPusher()
    let trace = Witness()

    /// A system over the store as it is, restored.
    func system(
        shards: Int = 1, callsHeld: Int = 1000, pusher: (any Pusher)? = nil, steady: Bool = false,
        cluster: (any Cluster)? = nil,
        change: (inout Tuning) -> Void = { _ in }
    ) async throws -> Supervisor {
        var tuning = Tuning()
        change(&tuning)
        let profile = AppProfile(id: Rig.app, bundleID: "com.example.lineup", slateAttributesType: "LineupAttributes")
        let supervisor = Supervisor(
            configuration: Supervisor.Configuration(
                tuning: tuning, apps: [profile], shards: shards, callsHeld: callsHeld),
            store: store, cluster: cluster, pusher: pusher ?? self.pusher, clock: clock, random: SeededSource(seed: 7),
            trace: trace,
            steady: steady ? clock : nil, zone: { _ in .utc })
        try await supervisor.restore()
        return supervisor
    }

    /// Runs a system while `body` lasts, and drops it then, whatever it is about.
    func running(_ system: Supervisor, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await system.run() }
            do { try await body() } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
        }
        pusher.crash()
    }

    /// Time passes for the system, up to `seconds` from now, at every time that it asks for.
    func pass(_ seconds: Double, _ system: Supervisor) async {
        let end = clock.now.advanced(bySeconds: seconds)
        while let next = await system.nextDeadline, next <= end {
            if next > clock.now { clock.set(next) }
            await system.passTime()
            await system.settle()
        }
        clock.set(end)
        await system.passTime()
    }

    /// A phone that follows whatever is played, and owns its token.
    func register(
        _ device: DeviceID, token: [UInt8]? = nil, on system: Supervisor,
        _ change: (inout DevicePatch) -> Void = { _ in }
    ) async -> DeviceAnswer {
        let answer = await system.answer(
            to: .registered(Rig.patch(device, token: token, change)), for: device, app: Rig.app)
        await system.settle()
        return answer
    }

    static func patch(
        _ device: DeviceID, token: [UInt8]? = nil, _ change: (inout DevicePatch) -> Void = { _ in }
    ) -> DevicePatch {
        var patch = DevicePatch()
        patch.user = .value("owner")
        patch.osVersion = OSVersion(major: 18, minor: 0)
        patch.pushToStart = .value(PushAddress(token: token ?? Array(device.text.utf8), gateway: .production))
        patch.personalisation = .readable(Taste(teams: [:], leagues: [:], minimumWorth: 0, maxGames: 4))
        change(&patch)
        return patch
    }

    /// The app of a phone has a card and reports its update token.
    static func cardToken(_ activity: ActivityID = "a1") -> LaneEvent {
        .cardToken(
            CardToken(
                key: .slate, activity: activity,
                address: PushAddress(token: Array(activity.text.utf8), gateway: .production),
                startedBy: .push, began: nil))
    }

    /// A game that comes into the window in five minutes, without a tick.
    func announce(_ game: GameID = "g1", on system: Supervisor) async throws {
        try await system.tick([line(game, startsAt: clock.now.advanced(bySeconds: 600))])
    }

    private func line(_ game: GameID, startsAt: WallTime) -> SlateLine {
        var patch = GamePatch(game: game, at: clock.now)
        patch.sport = .value(.hockey)
        patch.league = .value("NHL")
        patch.home = .value("\(game)-home")
        patch.away = .value("\(game)-away")
        patch.startsAt = .value(startsAt)
        return .game(patch)
    }

    /// A game is played, with so many goals of its home side.
    func play(_ game: GameID = "g1", goals: Int = 0, phase: Phase = .live, on system: Supervisor) async throws {
        var patch = ScorePatch(game: game, at: clock.now)
        patch.phase = .value(phase)
        patch.home = .value(goals)
        patch.away = .value(0)
        patch.period = .value(1)
        patch.clock = .value("10:00")
        try await system.tick([line(game, startsAt: Rig.evening), .score(patch)])
    }

    /// A phone with a card and its token, a while after its start.
    func confirm(_ device: DeviceID = "phone", on system: Supervisor) async throws {
        #expect(await register(device, on: system) == .done)
        try await play(on: system)
        await system.settle()
        #expect(await system.answer(to: Rig.cardToken(), for: device) == .done)
        await system.settle()
        clock.advance(bySeconds: 60)
    }

    /// Waits for what other threads do. Gives up after five minutes, and says so.
    func until(_ what: String, source: SourceLocation = #_sourceLocation, _ isTrue: () async -> Bool) async {
        let patience = ContinuousClock.now.advanced(by: .seconds(300))
        while ContinuousClock.now < patience {
            if await isTrue() { return }
            await Task.yield()
        }
        Issue.record("never came: \(what)", sourceLocation: source)
    }

    /// A call whose answer is looked at later.
    func submit(_ event: LaneEvent, for device: DeviceID, on system: Supervisor) -> Reply {
        let reply = Reply()
        system.submit(DeviceCall(device: device, app: Rig.app, event: event) { reply.give($0) })
        return reply
    }

    func cardState(_ device: DeviceID, _ system: Supervisor) async -> Card.State? {
        await system.state(of: device)?.card(.slate)?.state
    }
}

/// An answer that may not have come yet; more than one is seen.
final class Reply: Sendable {
    private let answers = Mutex<[DeviceAnswer]>([])
    func give(_ answer: DeviceAnswer) { answers.withLock { $0.append(answer) } }
    var all: [DeviceAnswer] { answers.withLock { $0 } }
    var isThere: Bool { !all.isEmpty }
}

/// Remembers what was traced.
final class Witness: Trace {
    private let events = Mutex<[TraceEvent]>([])
    func record(_ event: TraceEvent) { events.withLock { $0.append(event) } }
    var all: [TraceEvent] { events.withLock { $0 } }

    var storeFailures: Int { all.count { if case .storeFailed = $0 { true } else { false } } }
    var fenced: [DeviceID] { all.compactMap { if case .fenced(let device) = $0 { device } else { nil } } }
    var answered: Int { all.count { if case .answered = $0 { true } else { false } } }
}

extension DeviceID: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}
extension GameID: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}
extension ActivityID: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}
