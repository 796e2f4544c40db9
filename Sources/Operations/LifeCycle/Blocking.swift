internal import Synchronization
internal import TLS

/// Carries out what blocks (files, name servers) on a thread of its own, and suspends meanwhile.
/// - Throws: what `body` throws; `SocketError` when the system gives no thread.
public func onOwnThread<Value: Sendable>(
    _ name: String, _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    let held = HeldResult<Value>()
    let thread = try LoopThread(name: name) { held.keep(Result { try body() }) }
    await thread.finished()
    return try held.taken()
}

private final class HeldResult<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func keep(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

    func taken() throws -> Value {
        // The thread has ended, so it is there.
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
