import CardRules
import Intake
import LaneStore
import Lanes
import Measuring
import Synchronization

/// Lanes of one kind, restored and at rest; then one push of each that has a card, handed over and not answered.
struct LaneMemory: Sendable {
    struct Outcome: Sendable {
        let lane: BytesEach
        /// `nil`: no lane has a card.
        let push: BytesEach?
    }

    private let lanes: Int
    private let withCard: Double
    private let longNames: Bool
    private let seed: UInt64

    init(_ lanes: Int, withCard: Double, longNames: Bool, _ options: Options) {
        (self.lanes, self.withCard, self.longNames, seed) = (lanes, withCard, longNames, options.seed)
    }

    func run() async throws -> Outcome {
        let zones = ZoneDirectory()
        var slate = MadeUpSlate(longNames: longNames)
        let phones = MadeUpPhones(
            seed: seed, withCard: withCard, games: slate.ids, zone: { zones.zone(named: $0) ?? .utc })
        // What a system needs without lanes is there before.
        let few = try await LaneSystem(
            store: MadeUpStore(phones: phones, count: 64, opening: slate.opening()), zones: zones)
        // Rows as they are read from a file: nothing in them is shared. It keeps few pages in memory.
        let folder = try StoreFolder()
        defer { folder.remove() }
        var settings = SQLiteStore.Settings()
        settings.cacheKiB = 256
        let store = try SQLiteStore.open(path: "\(folder.path)/lanes.db", settings: settings)
        try await fill(store, phones, lanes, opening: slate.opening())
        let before = Held()
        let system = try await LaneSystem(store: store, zones: zones)
        let rested = Held()
        let lane = rested.growth(since: before, over: lanes)
        guard withCard > 0 else {
            await system.stop()
            await store.close()
            await few.stop()
            return Outcome(lane: lane, push: nil)
        }
        await system.pass(seconds: 61)
        let quiet = Held()
        let (decided, decide) = AsyncStream<Void>.makeStream()
        system.pusher.hold(expecting: .max) { _ in }
        system.watch.next { _ in decide.finish() }
        try await system.supervisor.tick(slate.play(0..<MadeUpSlate.count, at: system.clock.now))
        for await _ in decided {}
        // Some wait for the store first (P5).
        var patience = 100
        while system.pusher.held < lanes * 9 / 10, patience > 0 {
            try await Task.sleep(for: .seconds(0.2))
            patience -= 1
        }
        try await Task.sleep(for: .seconds(0.2))
        let pushes = system.pusher.held
        let push = Held().growth(since: quiet, over: max(pushes, 1))
        guard pushes > lanes / 2 else { throw Failure("only \(pushes) pushes of \(lanes) lanes with a card") }
        system.pusher.release()
        await system.supervisor.flush()
        await system.stop()
        await store.close()
        await few.stop()
        return Outcome(lane: lane, push: push)
    }
}
