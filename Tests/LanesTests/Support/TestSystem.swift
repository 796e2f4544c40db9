import CardRules
import Lanes
import PushWire
import Simulation
import Synchronization
import Testing

/// The production actors over a store in memory, a scripted pusher and a clock that only the test moves.
final class TestSystem: Sendable {
    static let app = AppProfile(
        id: AppID(unchecked: "app"), bundleID: "com.example.app", slateAttributesType: "Attributes")
    /// Saturday 2026-01-10, 20:00 UTC.
    static let evening = WallTime(seconds: 1_768_075_200)

    let clock: ManualClock
    let store: MemoryStore
    let pusher: ScriptedPusher
    let trace = CountingTrace()
    let supervisor: Supervisor

    init(
        store: MemoryStore = MemoryStore(), pusher: ScriptedPusher = ScriptedPusher(),
        clock: ManualClock = ManualClock(now: evening), tuning: Tuning = Tuning(), seed: UInt64 = 1
    ) {
        self.store = store
        self.pusher = pusher
        self.clock = clock
        supervisor = Supervisor(
            configuration: Supervisor.Configuration(tuning: tuning, apps: [TestSystem.app], shards: 3),
            store: store, pusher: pusher, clock: clock, random: SeededBits(seed: seed), trace: trace,
            zone: { $0 == "UTC" ? .utc : nil })
    }

    /// Restores, runs while `body` does, and then is dropped without a word.
    func running<Result: Sendable>(_ body: @Sendable (TestSystem) async throws -> Result) async throws -> Result {
        try await supervisor.restore()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.supervisor.run() }
            defer { group.cancelAll() }
            return try await body(self)
        }
    }

    /// Moves the clock from deadline to deadline, settling at each.
    func pass(_ seconds: Double) async {
        let end = clock.now.advanced(bySeconds: seconds)
        await supervisor.settle()
        while let deadline = await supervisor.nextDeadline, deadline <= end {
            clock.set(max(deadline, clock.now))
            await supervisor.passTime()
            await supervisor.settle()
        }
        clock.set(end)
        await supervisor.passTime()
        await supervisor.settle()
    }

    /// A signed-in iPhone with a push-to-start token.
    func register(_ device: DeviceID, token: [UInt8]) async -> DeviceAnswer {
        var patch = DevicePatch()
        patch.user = .value("user")
        patch.osVersion = OSVersion(major: 18, minor: 0)
        patch.pushToStart = .value(PushAddress(token: token, gateway: .production))
        return await supervisor.answer(to: .registered(patch), for: device, app: TestSystem.app.id)
    }

    func select(_ device: DeviceID, _ games: [GameID]) async -> DeviceAnswer {
        await supervisor.answer(
            to: .selected(games: games, pinned: nil, muted: [], syncedAt: clock.now), for: device)
    }

    func cardToken(_ device: DeviceID, _ token: [UInt8], activity: String = "a1") async -> DeviceAnswer {
        await supervisor.answer(
            to: .cardToken(
                CardToken(
                    key: .slate, activity: ActivityID(unchecked: activity),
                    address: PushAddress(token: token, gateway: .production), startedBy: .push, began: nil)),
            for: device)
    }

    /// A game goes live, announced first if it is new.
    func live(_ game: GameID, home: Int = 0, period: Int = 1, clock text: String = "20:00") async throws {
        var announcement = GamePatch(game: game, at: clock.now)
        announcement.sport = .value(.hockey)
        announcement.home = .value("\(game) home")
        announcement.away = .value("\(game) away")
        announcement.startsAt = .value(clock.now)
        var score = ScorePatch(game: game, at: clock.now)
        score.home = .value(home)
        score.away = .value(0)
        score.period = .value(period)
        score.clock = .value(text)
        score.phase = .value(.live)
        try await supervisor.tick([.game(announcement), .score(score)])
    }
}

final class SeededBits: RandomSource {
    private let generator: Mutex<TestGenerator>
    init(seed: UInt64) { generator = Mutex(TestGenerator(seed: seed)) }
    func next() -> UInt64 { generator.withLock { $0.next() } }
}

final class CountingTrace: Trace {
    private let state = Mutex((fenced: 0, failed: 0))
    var fenced: Int { state.withLock { $0.fenced } }
    var storeFailures: Int { state.withLock { $0.failed } }

    func record(_ event: TraceEvent) {
        state.withLock { counts in
            switch event {
            case .fenced: counts.fenced += 1
            case .storeFailed: counts.failed += 1
            case .sent, .answered, .decided, .committed: break
            }
        }
    }
}

let phone = DeviceID(unchecked: "phone")
let token: [UInt8] = [1, 2, 3]
let g1 = GameID(unchecked: "g1")
let g2 = GameID(unchecked: "g2")
