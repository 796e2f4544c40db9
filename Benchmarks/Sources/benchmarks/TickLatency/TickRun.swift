import CardRules
import Intake
import Lanes
import Measuring
import Synchronization

/// One number of lanes, ticked again and again: the system and its floor by turns.
struct TickRun: Sendable {
    struct Sample: Sendable {
        /// From the tick's arrival.
        let decidedSeconds: Double
        let decidedCPUSeconds: Double
        let handedSeconds: Double
        let handedCPUSeconds: Double
        let floorSeconds: Double
        let floorCPUSeconds: Double
        let pushes: Int
    }

    struct Outcome: Sendable {
        let lanes: Int
        var samples: [TickScenario: [Sample]] = [:]
        /// Of all lanes.
        var shares: [TickScenario: Double] = [:]
        var allocations: [TickScenario: Int] = [:]
        var floorAllocations: [TickScenario: Int] = [:]
        var index: [IndexSample] = []
    }

    /// One kind of tick over the floor's lanes, once by looking at all and once by an index.
    struct IndexSample: Sendable {
        let what: String
        let share: Double
        let scanSeconds: Double
        let indexSeconds: Double
    }

    let lanes: Int
    let rounds: Int
    let seed: UInt64
    let comparesIndex: Bool

    func run() async throws -> Outcome {
        let zones = ZoneDirectory()
        var slate = MadeUpSlate()
        let phones = MadeUpPhones(seed: seed, games: slate.ids, zone: { zones.zone(named: $0) ?? .utc })
        let opening = slate.opening()
        let store = MadeUpStore(phones: phones, count: lanes, opening: opening)
        let system = try await LaneSystem(store: store, zones: zones)
        let floor = Floor(phones: phones, count: lanes, opening: opening)
        var outcome = Outcome(lanes: lanes)
        for scenario in TickScenario.allCases { outcome.shares[scenario] = floor.share(following: scenario.games) }
        // The first round warms up, the last counts allocations.
        for round in 0..<rounds + 2 {
            for scenario in TickScenario.allCases {
                await system.pass(seconds: 61)
                floor.pass(to: system.clock.now)
                let now = system.clock.now
                let lines = scenario.lines(of: &slate, at: now)
                if round == rounds + 1 {
                    let counted = try await count(lines, system, floor, at: now)
                    outcome.allocations[scenario] = counted.system
                    outcome.floorAllocations[scenario] = counted.floor
                } else {
                    let sample = try await measure(lines, system, floor, at: now)
                    if round > 0 { outcome.samples[scenario, default: []].append(sample) }
                }
            }
        }
        await system.stop()
        guard comparesIndex else { return outcome }
        outcome.index = compareIndex(floor, &slate, from: system.clock.now)
        return outcome
    }

    private func measure(
        _ lines: [SlateLine], _ system: LaneSystem, _ floor: Floor, at now: WallTime
    ) async throws -> Sample {
        floor.merge(lines, at: now)
        let floorBefore = Usage.now
        let pushes = floor.sweep(.tick, at: now)
        let floorTook = Usage.now - floorBefore
        floor.accept(at: now)
        let marks = Marks()
        system.watch.next { marks.decided($0) }
        system.pusher.hold(expecting: pushes) { marks.handed($0) }
        let before = Usage.now
        try await system.supervisor.tick(lines)
        let (decided, handed) = await marks.both()
        let late = system.pusher.release()
        await system.supervisor.flush()
        guard late == pushes else { throw Failure("the lanes ordered \(late) pushes, the floor \(pushes)") }
        return Sample(
            decidedSeconds: (decided - before).wallSeconds, decidedCPUSeconds: (decided - before).cpuSeconds,
            handedSeconds: max((handed - before).wallSeconds, 0),
            handedCPUSeconds: max((handed - before).cpuSeconds, 0), floorSeconds: floorTook.wallSeconds,
            floorCPUSeconds: floorTook.cpuSeconds, pushes: pushes)
    }

    /// What the tick asks of the allocator, until the last push is handed over.
    private func count(
        _ lines: [SlateLine], _ system: LaneSystem, _ floor: Floor, at now: WallTime
    ) async throws -> (system: Int, floor: Int) {
        floor.merge(lines, at: now)
        Allocations.begin()
        let pushes = floor.sweep(.tick, at: now)
        let ofFloor = Allocations.end().count
        floor.accept(at: now)
        let marks = Marks()
        system.watch.next { marks.decided($0) }
        system.pusher.hold(expecting: pushes) { marks.handed($0) }
        Allocations.begin()
        try await system.supervisor.tick(lines)
        _ = await marks.both()
        let ofSystem = Allocations.end().count
        system.pusher.release()
        await system.supervisor.flush()
        return (ofSystem, ofFloor)
    }

    /// Whether an index from game to lanes would pay, on the floor's lanes: what a lane costs besides is the same for both.
    private func compareIndex(_ floor: Floor, _ slate: inout MadeUpSlate, from start: WallTime) -> [IndexSample] {
        var now = start
        let kinds: [(String, [Int])] = [
            ("the least followed game", [MadeUpSlate.count - 1]),
            ("a game in the middle", [MadeUpSlate.count / 2]),
            ("the most followed game", [0]),
            ("two games in the middle", [14, 16]),
            ("five games", [4, 9, 14, 19, 24]),
            ("all games", Array(0..<MadeUpSlate.count)),
        ]
        return kinds.map { what, games in
            var seconds: (scan: [Double], index: [Double]) = ([], [])
            for round in 0..<2 * max(3, min(rounds, 7)) {
                now = now.advanced(bySeconds: 61)
                floor.pass(to: now)
                floor.merge(slate.play(games, at: now), at: now)
                let took = Usage.of {
                    if round % 2 == 0 { floor.sweep(.tick, at: now) } else { floor.sweepByIndex(games, at: now) }
                }
                if round % 2 == 0 {
                    seconds.scan.append(took.cpuSeconds)
                } else {
                    seconds.index.append(took.cpuSeconds)
                }
                floor.accept(at: now)
            }
            return IndexSample(
                what: what, share: floor.share(following: games), scanSeconds: median(seconds.scan),
                indexSeconds: median(seconds.index))
        }
    }
}

/// When a tick's lanes had decided and when its last push was handed over: each comes from a thread of its own.
private final class Marks: Sendable {
    private struct State {
        var decided: Usage?
        var handed: Usage?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func decided(_ usage: Usage) { set { $0.decided = usage } }
    func handed(_ usage: Usage) { set { $0.handed = usage } }

    /// Gives up after two minutes: then less has come than must.
    func both() async -> (decided: Usage, handed: Usage) {
        let patience = Task {
            try await Task.sleep(for: .seconds(120))
            set { state in
                state.decided = state.decided ?? .now
                state.handed = state.handed ?? .now
            }
        }
        defer { patience.cancel() }
        await withCheckedContinuation { waiter in
            let isThere = state.withLock { state in
                if state.decided != nil, state.handed != nil { return true }
                state.waiter = waiter
                return false
            }
            if isThere { waiter.resume() }
        }
        return state.withLock { state in
            let none = Usage.now
            return (state.decided ?? none, state.handed ?? none)
        }
    }

    private func set(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            change(&state)
            guard state.decided != nil, state.handed != nil else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
