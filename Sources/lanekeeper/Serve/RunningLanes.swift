import Lanes
import Operations

/// The supervisor at work, until it is told to stop.
final class RunningLanes: Sendable {
    let supervisor: Supervisor
    private let begun = Latch()
    private let asked = Latch()
    private let ended = Latch()

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    /// Runs the lanes, and lets time pass for them, until `stop` or until the task is cancelled.
    func run(by clock: any WallClock) async {
        begun.open()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.supervisor.run() }
            group.addTask { await self.supervisor.run(by: clock) }
            await asked.wait()
            group.cancelAll()
        }
        ended.open()
    }

    /// Lets `finish` bring everything to an end while the lanes still run, then stops them. Lanes that never ran have
    /// nothing to finish.
    func stop(_ finish: (Supervisor) async -> Void) async {
        guard begun.isOpen else { return }
        await finish(supervisor)
        asked.open()
        await ended.wait()
    }
}
