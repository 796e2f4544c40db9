import CardRules
import Foundation
import Lanes
import Operations
import Simulation
import Synchronization

/// The daemon of a demo: the one of `serve`, in the demo's world, with the way to its API.
struct DemoEngine: Sendable {
    let daemon: Daemon
    let api: DemoAPI
    let supervisor: Supervisor
    private let life: DemoLife

    /// Starts it, and returns when it is ready.
    /// - Parameters:
    ///   - passesTime: whether it lets the world's time pass for itself; else the caller does.
    ///   - incarnation: counts the daemons built over one store: each draws other ids for its pushes.
    ///   - complain: is given whole lines of its log, from errors up; may block.
    ///   - group: where it lives: the task ends with it.
    /// - Throws: `DemoFault` when a part of it cannot start; what a key, a socket or a thread may throw.
    init(
        in world: DemoWorld, speed: Double, tuning: Tuning, trace: any Trace, passesTime: Bool, incarnation: UInt64 = 0,
        log output: @escaping @Sendable ([UInt8]) -> Void = { _ in },
        group: inout ThrowingTaskGroup<Void, any Error>
    ) async throws {
        let keys = try DemoKeys()
        var surroundings = DaemonSurroundings()
        surroundings.clock = world.clock
        surroundings.passesTime = passesTime
        let seed = world.seed &+ incarnation << 32
        surroundings.random = { part in
            switch part {
            case .lanes: MachineRandom(seed: seed)
            case .pushPool: MachineRandom(seed: ~seed)
            case .feed: MachineRandom(seed: seed &* 3)
            case .store: MachineRandom(seed: seed &* 5)
            }
        }
        surroundings.trace = trace
        // A clock that stands still, because the night is over, ends no wait.
        surroundings.drainSeconds = nil
        let life = DemoLife()
        surroundings.listens = { life.address = $0 }
        let log = try Log(
            level: .error, format: .text, isTerminal: false, clock: surroundings.machine, output: output)
        let daemon = Daemon(
            configuration: world.configuration(speed: speed, tuning: tuning, keys: keys.configured), log: log,
            surroundings: surroundings)
        group.addTask { await life.run(daemon) }
        if let failure = await life.ready() { throw failure }
        guard let supervisor = daemon.status.supervisor, let address = life.address.flatMap({ ClientAddress($0) })
        else {
            throw DemoFault(description: "the daemon has no address")
        }
        api = try DemoAPI(DemoAccess(address: address, keys: keys))
        (self.daemon, self.life, self.supervisor) = (daemon, life, supervisor)
    }

    /// Returns when nothing is under way but what waits for time to pass: no call, no commit, no push without a verdict.
    func settle() async {
        repeat {
            await api.settled()
            await supervisor.settle()
        } while api.isBusy
    }

    /// The end of it, in order: as SIGTERM would end it.
    func stop() async {
        await life.end()
        await api.close()
    }

    /// The end of it without warning: its lanes are cut where they are.
    func crash() async {
        await daemon.cutLanes()
        await life.end()
        await api.close()
    }
}

/// Why the daemon of a demo is not there.
struct DemoFault: Error, Sendable, CustomStringConvertible { let description: String }

/// The life of one daemon, with whoever waits for its stages.
private final class DemoLife: Sendable {
    private let held = Mutex<(address: String?, fault: DemoFault?)>((nil, nil))
    private let isUp = Latch()
    private let isOver = Latch()
    private let signals: AsyncStream<LifeCycle.Signal>
    private let tell: AsyncStream<LifeCycle.Signal>.Continuation

    init() { (signals, tell) = AsyncStream.makeStream() }

    var address: String? {
        get { held.withLock { $0.address } }
        set { held.withLock { $0.address = newValue } }
    }

    func run(_ daemon: Daemon) async {
        let end = await LifeCycle(
            parts: daemon.parts(of: await daemon.configuration), clock: DaemonSurroundings().machine, log: daemon.log,
            service: ServiceNotifier(),
            stageChanged: { [self] stage in
                daemon.status.change(to: stage)
                if stage == .ready { isUp.open() }
            }
        ).run(signals: signals)
        if case .failed(let part, let reason) = end {
            held.withLock { $0.fault = DemoFault(description: "\(part): \(reason)") }
        }
        isUp.open()
        await daemon.log.close()
        isOver.open()
    }

    /// - Returns: why it did not become ready; `nil`: it did.
    func ready() async -> DemoFault? {
        await isUp.wait()
        return held.withLock { $0.fault }
    }

    func end() async {
        tell.yield(.stop)
        await isOver.wait()
    }
}
