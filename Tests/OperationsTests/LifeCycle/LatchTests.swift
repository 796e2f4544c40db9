import Testing

@testable import Operations

@Suite struct LatchTests {
    @Test func `a latch lets everybody go when it opens, and nobody waits afterwards`() async {
        let latch = Latch()
        await withDiscardingTaskGroup { group in
            for _ in 0..<10 { group.addTask { await latch.wait() } }
            group.addTask { latch.open() }
        }
        await latch.wait()
        #expect(latch.isOpen)
    }

    @Test func `a latch lets go of a task that is cancelled, before or while it waits`() async {
        let latch = Latch()
        await withDiscardingTaskGroup { group in
            for _ in 0..<10 { group.addTask { await latch.wait() } }
            group.cancelAll()
            group.addTask { await latch.wait() }
        }
        #expect(!latch.isOpen)
    }

    @Test func `a stop's deadline comes when it is due, and not when it is called off`() async throws {
        let due = Latch()
        let first = try StopDeadline(seconds: 0.001) { due.open() }
        await due.wait()
        await first.callOff()
        let second = try StopDeadline(seconds: 3600) { Issue.record("called off, and came") }
        await second.callOff()
    }

    @Test func `what blocks is carried out on a thread of its own`() async throws {
        struct Fault: Error {}
        #expect(try await onOwnThread("test") { 7 } == 7)
        await #expect(throws: Fault.self) { try await onOwnThread("test") { throw Fault() } }
    }
}
