import Lanes
import Operations

/// The supervisor at work, until it is told to stop.
final class RunningLanes: Sendable {
    let supervisor: Supervisor
    private let begun = Latch()
    private let asked = Latch()
    private let ended = Latch()

    init(_ supervisor: Supervisor) { self.supervisor = supervisor }

    /// Runs the lanes until `stop`, `cut`, or until the task is cancelled.
    /// - Parameter clock: lets time pass for them; `nil`: somebody else does.
    func run(by clock: (any WallClock)?) async {
        begun.open()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.supervisor.run() }
            if let clock { group.addTask { await self.supervisor.run(by: clock) } }
            await asked.wait()
            group.cancelAll()
        }
        ended.open()
    }

    /// Stops them as they are.
    func cut() { asked.open() }

    /// Lets `finish` bring everything to an end while the lanes still run, then stops them. Lanes that never ran, or run no
    /// more, can finish nothing.
    func stop(_ finish: (Supervisor) async -> Void) async {
        guard begun.isOpen, !asked.isOpen, !ended.isOpen else { return }
        await finish(supervisor)
        asked.open()
        await ended.wait()
    }
}
