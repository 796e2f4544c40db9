import Synchronization

/// The HTTP API of a running demo, as its feed, its phones and its keys call it. Counts what is under way, so that a clock
/// that somebody moves can wait for it. From any thread.
final class DemoAPI: Sendable {
    let access: DemoAccess
    private let client: HTTPClient
    private let state = Mutex(State())

    private struct State {
        var underWay = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// Connections of all callers together: as many as one server thread keeps busy.
    private static let connections = 8

    /// - Throws: `SocketError` when there is no thread to be had, `ClientError` when libcurl cannot begin.
    init(_ access: DemoAccess) throws {
        self.access = access
        var configuration = ClientConfiguration(access.address)
        configuration.maximumConnections = DemoAPI.connections
        client = try HTTPClient(configuration)
    }

    /// - Parameter done: called once, on the client's thread. What it sends in its turn is under way before this call has
    ///   ended.
    func send(
        _ request: ClientRequest, as caller: DemoAccess.Caller,
        done: @escaping @Sendable (Result<ClientResponse, ClientError>) -> Void
    ) {
        begin()
        client.send(request.with(key: access[caller])) { [self] answer in
            done(answer)
            end()
        }
    }

    /// The same for a task.
    func answer(
        to request: ClientRequest, as caller: DemoAccess.Caller
    ) async -> Result<ClientResponse, ClientError> {
        await withCheckedContinuation { done in send(request, as: caller) { done.resume(returning: $0) } }
    }

    var isBusy: Bool { state.withLock { $0.underWay > 0 } }

    /// Returns when nothing is under way.
    func settled() async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                guard state.underWay > 0 else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isSettled { continuation.resume() }
        }
    }

    /// What is under way is told that it failed.
    func close() async { await client.stopped() }

    private func begin() { state.withLock { $0.underWay += 1 } }

    private func end() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.underWay -= 1
            guard state.underWay == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
