internal import CardRules
internal import Lanes
internal import PushWire

/// What the world asked a process to do, as it comes back.
enum Errand: Sendable {
    case ready
    /// It could not start: the store was away.
    case notReady
    case looked(next: WallTime?)
    /// A tick of the feed.
    case ticked(Int, StoreError?)
    /// A session of the plan was opened or stopped.
    case opened(Int, SessionFault?)
    case stopped(Int, SessionFault?)
    /// Everything that was under way is done, and what could have waited is written.
    case flushed
}

/// One process of the server: the production actors, from their start to their end.
final class ServerProcess {
    typealias Order = @Sendable (Supervisor) async -> Void

    let ports: ServerPorts
    let supervisor: Supervisor
    private let orders: AsyncStream<Order>.Continuation
    private let life: Task<Void, Never>
    var stage = Stage.starting
    /// When it wants to be woken; `nil` until it was asked.
    var wakes: WallTime??

    enum Stage {
        case starting
        case up
        /// Told to stop: it takes no calls any more.
        case stopping
    }

    init(
        options: WorldOptions, tuning: Tuning, disk: MemoryStore, clock: ManualClock, executor: SeededExecutor,
        zone: @escaping @Sendable (String) -> Zone?, random: inout SeededGenerator
    ) {
        let ports = ServerPorts(disk: disk, tracesDecisions: options.storyLines > 0)
        let (stream, orders) = AsyncStream<Order>.makeStream()
        let profile = AppProfile(
            id: World.app, bundleID: World.bundleID, slateAttributesType: JudgeOptions().slateAttributesType)
        let supervisor = Supervisor(
            configuration: Supervisor.Configuration(
                tuning: tuning, apps: [profile], shards: Int.random(in: 1...4, using: &random),
                keepsTimeline: random.chance(0.5)),
            store: ports, pusher: ports, clock: clock, random: SeededSource(random.split()), trace: ports, zone: zone)
        (self.ports, self.supervisor, self.orders) = (ports, supervisor, orders)
        life = Task(executorPreference: executor) {
            do { try await supervisor.restore() } catch {
                ports.add(.done(.notReady))
                return
            }
            ports.add(.done(.ready))
            await withDiscardingTaskGroup { group in
                group.addTask { await supervisor.run() }
                for await order in stream { group.addTask { await order(supervisor) } }
                group.cancelAll()
            }
        }
    }

    func order(_ order: @escaping Order) { orders.yield(order) }

    /// The end, without warning. The executor has to run for its tasks to unwind.
    func die() {
        ports.die()
        orders.finish()
        life.cancel()
    }
}
