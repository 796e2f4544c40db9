import CardRules
import Lanes
import Simulation
import Synchronization
import Testing

@Suite struct PauseTests {
    @Test func `a pause is durable before it holds, and survives a restart`() async throws {
        let rig = Rig()
        let pusher = SwitchedPusher()
        let first = try await rig.system(pusher: pusher)
        try await rig.running(first) {
            try await first.pause(.production)
            #expect(try await first.pausedGateways() == [.production])
        }
        #expect(pusher.paused == [.production])

        let afterwards = SwitchedPusher()
        let second = try await rig.system(pusher: afterwards)
        #expect(afterwards.paused == [.production])
        try await rig.running(second) {
            try await second.resume(.production)
            try await second.resume(.sandbox)
        }
        #expect(afterwards.paused.isEmpty)
        _ = try await rig.system(pusher: pusher)
        #expect(try await rig.store.pausedGateways().isEmpty)
    }

    @Test func `a pause that cannot be kept does not hold`() async throws {
        let rig = Rig()
        let pusher = SwitchedPusher()
        let system = try await rig.system(pusher: pusher)
        rig.store.fail(with: .unavailable(detail: "gone"))
        await #expect(throws: StoreError.unavailable(detail: "gone")) { try await system.pause(.sandbox) }
        #expect(pusher.paused.isEmpty)
    }

    @Test func `a pause is not undone by what was read of the store before it`() async throws {
        let rig = Rig()
        let pusher = SwitchedPusher()
        let cluster = FakeCluster(over: rig.store)
        let system = try await rig.system(pusher: pusher, cluster: cluster)
        try await rig.running(system) {
            let (ends, end) = AsyncStream<Void>.makeStream()
            await system.settle()  // what it reads as it begins is read
            let reads = Count()
            rig.store.delayReads {
                reads.rise()
                for await _ in ends {}
            }
            cluster.tell(.news(.pauses))
            await rig.until("it is being read") { reads.now >= 1 }
            try await system.pause(.production)
            end.finish()
            for number in 2...3 {
                cluster.tell(.news(.pauses))
                await rig.until("read \(number)") { reads.now >= number }
            }
            #expect(pusher.paused == [.production] && pusher.resumptions == 0)
        }
    }
}

private final class Count: Sendable {
    private let count = Mutex(0)
    func rise() { count.withLock { $0 += 1 } }
    var now: Int { count.withLock { $0 } }
}

/// Sends nothing, and remembers what it is told to hold.
private final class SwitchedPusher: Pusher {
    private let state = Mutex<Set<Gateway>>([])
    private let resumed = Mutex(0)
    var paused: Set<Gateway> { state.withLock { $0 } }
    var resumptions: Int { resumed.withLock { $0 } }
    func send(_ pushes: [OutgoingPush]) -> [OutgoingPush] { [] }
    func pause(_ gateway: Gateway) { state.withLock { _ = $0.insert(gateway) } }
    func resume(_ gateway: Gateway) {
        state.withLock { _ = $0.remove(gateway) }
        resumed.withLock { $0 += 1 }
    }
}
