import CardRules
import Lanes
import Operations
import Testing

@Suite struct MachineClockTests {
    @Test func `R7: the clocks go forward, and a sleep ends at its deadline or with its task`() async throws {
        let clock = MachineClock()
        let (began, up) = (clock.now, clock.uptime)
        #expect(began > WallTime(seconds: 1_700_000_000))
        let deadline = began.advanced(bySeconds: 0.02)
        try await clock.sleep(until: deadline)
        #expect(clock.now >= deadline && clock.uptime > up)
        try await clock.sleep(until: began)
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do {
                    try await clock.sleep(until: .distantFuture)
                    return false
                } catch { return error is CancellationError }
            }
            group.cancelAll()
            for await wasCancelled in group { #expect(wasCancelled) }
        }
    }

    @Test func `ids are drawn anew by each process, and by a seed the same`() throws {
        #expect(MachineRandom(seed: 1).next() == MachineRandom(seed: 1).next())
        #expect(try MachineRandom.fresh().next() != MachineRandom.fresh().next())
        let random = MachineRandom(seed: 9)
        #expect(Set((0..<1000).map { _ in random.next() }).count == 1000)
    }
}
