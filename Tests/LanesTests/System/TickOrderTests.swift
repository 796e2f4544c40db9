import CardRules
import Simulation
import Synchronization
import Testing

@testable import Lanes

@Suite(.timeLimit(.minutes(1))) struct TickOrderTests {
    /// What was offered to the shard by the time that the store was given lines of the slate.
    private final class Offers: Sendable {
        private let seen = Mutex<[UInt64]>([])
        func note(_ offers: UInt64) { seen.withLock { $0.append(offers) } }
        var all: [UInt64] { seen.withLock { $0 } }
    }

    @Test func `L1: a tick's lines are in the store's hands before a lane hears of them: no start outlives its line`()
        async throws
    {
        let rig = Rig()
        let system = try await rig.system()
        try await rig.running(system) {
            #expect(await rig.register("phone", on: system) == .done)
            let inbox = await system.shards[0].inbox
            let (before, offers) = (inbox.offers, Offers())
            rig.store.fence { batch in
                if !batch.slateLines.isEmpty { offers.note(inbox.offers) }
                return true
            }
            try await rig.play(on: system)
            #expect(offers.all == [before])
            await system.settle()
            #expect(rig.pusher.starts == 1 && inbox.offers > before)
        }
    }
}
