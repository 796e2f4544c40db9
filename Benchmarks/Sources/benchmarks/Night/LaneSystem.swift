import CardRules
import Foundation
import Intake
import Lanes
import Measuring
import Operations
import PushWire
import Synchronization

/// The lanes of one node as the daemon wires them, with a store, a pusher and a clock of the benchmark's.
final class LaneSystem: Sendable {
    let supervisor: Supervisor
    let clock: SetClock
    let pusher = HoldingPusher()
    let watch = TickWatcher()
    private let run: Task<Void, Never>

    static let profile = AppProfile(
        id: MadeUpPhones.app, bundleID: "com.example.lineup", slateAttributesType: "LineupAttributes")
    /// As the daemon has it.
    static let shards = max(2, ProcessInfo.processInfo.activeProcessorCount)

    /// Restored and running, with nothing left to be done.
    init(store: any Store, zones: ZoneDirectory, keepsTimeline: Bool = true, change: (inout Tuning) -> Void = { _ in })
        async throws
    {
        clock = SetClock(MadeUpSlate.evening)
        var tuning = Tuning()
        change(&tuning)
        let supervisor = Supervisor(
            configuration: Supervisor.Configuration(
                tuning: tuning, apps: [LaneSystem.profile], shards: LaneSystem.shards, keepsTimeline: keepsTimeline),
            store: store, pusher: pusher, clock: clock, random: MachineRandom(seed: 7), trace: watch, steady: clock,
            zone: { zones.zone(named: $0) })
        self.supervisor = supervisor
        try await supervisor.restore()
        run = Task.detached { await supervisor.run() }
        await supervisor.settle()
        await supervisor.flush()
    }

    /// Time passes; whatever comes due is done.
    func pass(seconds: Double) async {
        clock.advance(bySeconds: seconds)
        await supervisor.passTime()
        await supervisor.flush()
    }

    func stop() async {
        run.cancel()
        await run.value
    }
}

/// Hears when a tick's lanes have all decided.
final class TickWatcher: Trace {
    private struct State {
        var whenDecided: (@Sendable (Usage) -> Void)?
        var restarted = 0
    }

    private let state = Mutex(State())

    /// For the next tick.
    func next(_ whenDecided: @escaping @Sendable (Usage) -> Void) {
        state.withLock { $0.whenDecided = whenDecided }
    }

    var restarted: Int { state.withLock { $0.restarted } }

    func record(_ event: TraceEvent) {
        switch event {
        case .tickDecided:
            let call = state.withLock { state in
                defer { state.whenDecided = nil }
                return state.whenDecided
            }
            call?(.now)
        case .restarted: state.withLock { $0.restarted += 1 }
        default: break
        }
    }
}
