internal import Dispatch
internal import Synchronization

/// Runs `body` on the pool and waits for it: a loop over many lanes must not run on the main actor, where every await
/// changes threads.
public func blocking<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let outcome = Mutex<Result<Value, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
        let made: Result<Value, any Error>
        do { made = .success(try await body()) } catch { made = .failure(error) }
        outcome.withLock { $0 = made }
        isDone.signal()
    }
    isDone.wait()
    guard let made = outcome.withLock({ $0 }) else { throw Failure("the task ended without an outcome") }
    return try made.get()
}

/// A benchmark that cannot go on, or whose result is not what it must be.
public struct Failure: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

/// It was called in a way that it does not know.
public struct WrongUse: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

/// What this machine lacks for a benchmark: said, and no failure.
public struct Skipped: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}
