internal import Synchronization

/// Work that lasts until it is told to stop, and can be waited for: what a part runs, and its `stop` ends.
public final class StoppableRun: Sendable {
    private let asked = Latch()
    /// Of the run that goes on.
    private let end = Mutex<Latch?>(nil)

    public init() {}

    /// Whether it is being run, and not told to stop.
    public var isRunning: Bool { !asked.isOpen && end.withLock { $0?.isOpen == false } }

    /// Runs `body` until it returns by itself, until `stop`, or until the task is cancelled; in the last two it is
    /// cancelled and waited for.
    /// - Throws: what `body` throws, unless it was told to stop.
    public func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let ended = Latch()
        end.withLock { $0 = ended }
        defer { ended.open() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask { await self.asked.wait() }
            do {
                try await group.next()
            } catch {
                group.cancelAll()
                if !asked.isOpen { throw error }
            }
            group.cancelAll()
            while let outcome = await group.nextResult() {
                if case .failure(let error) = outcome, !asked.isOpen, !(error is CancellationError) { throw error }
            }
        }
    }

    /// Returns when what runs has ended. What is run afterwards ends at once.
    public func stop() async {
        asked.open()
        await end.withLock { $0 }?.wait()
    }
}
