import Testing

@testable import Operations

@Suite struct StoppableRunTests {
    private struct Fault: Error {}

    @Test func `work that is told to stop is cancelled and waited for`() async throws {
        let run = StoppableRun()
        let begun = Latch()
        let over = Box(false)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await run.run {
                    begun.open()
                    await Latch().wait()
                    over.change { $0 = true }
                }
            }
            await begun.wait()
            #expect(run.isRunning)
            await run.stop()
            #expect(over.value)
        }
        #expect(!run.isRunning)
    }

    @Test func `work that fails says so, and may be run again until it is stopped`() async throws {
        let run = StoppableRun()
        for _ in 0..<2 {
            await #expect(throws: Fault.self) { try await run.run { throw Fault() } }
            #expect(!run.isRunning)
        }
        try await run.run {}
        await run.stop()
        // What it throws now is its way to end.
        try await run.run {
            await Latch().wait()
            throw Fault()
        }
    }
}
