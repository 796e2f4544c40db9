import TLS

/// An HTTP/1.1 client on libcurl, for the commands that talk to a daemon and for simulated phones: one thread, kept
/// connections, no more calls at a time than it may have connections. Redirects are answers like others; environment
/// proxies are not asked for this machine's own addresses. Safe from any thread; ends with `stop` or `stopped`.
final class HTTPClient: Sendable {
    let configuration: ClientConfiguration
    private let mailbox = ClientMailbox()
    private let multi: CurlMulti
    private let thread: LoopThread

    /// Reads no file and opens no connection yet; a CA file that is not there is told by the calls.
    /// - Throws: `SocketError` when there is no thread to be had, `ClientError` when libcurl cannot begin.
    init(_ configuration: ClientConfiguration) throws {
        self.configuration = configuration
        let multi = try CurlMulti(keptConnections: configuration.maximumConnections + configuration.maximumStreams)
        self.multi = multi
        thread = try LoopThread(name: "http-client") { [mailbox] in
            ClientLoop(configuration, multi, mailbox).run()
        }
    }

    deinit { tellToStop() }

    /// Sends a request and awaits its answer, of whatever status. Cancelling the task cancels the call.
    func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
        let number = mailbox.takeNumber()
        let result: Result<ClientResponse, ClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(ClientJob(number: number, request: request, way: .whole { continuation.resume(returning: $0) }))
                // Cancelled before: then `onCancel` came too early to meet the call.
                if Task.isCancelled { post(.cancel(number)) }
            }
        } onCancel: {
            post(.cancel(number))
        }
        return try result.get()
    }

    /// The same for those who send thousands.
    /// - Parameter done: called once, on the client's thread (or on this one, when the client was stopped already). Must
    ///   not block.
    @discardableResult
    func send(
        _ request: ClientRequest, done: @escaping @Sendable (Result<ClientResponse, ClientError>) -> Void
    ) -> ClientCall {
        let number = mailbox.takeNumber()
        begin(ClientJob(number: number, request: request, way: .whole(done)))
        return ClientCall { [weak self] in self?.post(.cancel(number)) }
    }

    /// Reads server-sent events until the server ends them, the connection breaks, or the call is cancelled. It does not
    /// connect anew: whoever follows sends `Last-Event-ID`.
    /// - Parameters:
    ///   - onEvent: once an event, on the client's thread. Must not block.
    ///   - done: once, after the last event, with why it is over.
    @discardableResult
    func events(
        _ request: ClientRequest, onEvent: @escaping @Sendable (ServerSentEvent) -> Void,
        done: @escaping @Sendable (ClientStreamEnd) -> Void
    ) -> ClientCall {
        let number = mailbox.takeNumber()
        begin(ClientJob(number: number, request: request, way: .events(onEvent, done: done)))
        return ClientCall { [weak self] in self?.post(.cancel(number)) }
    }

    /// Ends what is under way with `ClientError.stopped` and waits for the thread: for threads and `main`, not for
    /// tasks, and not from a callback.
    func stop() {
        tellToStop()
        thread.join()
    }

    /// The same for tasks.
    func stopped() async {
        tellToStop()
        await thread.finished()
    }

    private func begin(_ job: ClientJob) {
        if mailbox.post(.begin(job)) { multi.wake() } else { job.fail(.stopped) }
    }

    private func post(_ message: ClientMessage) {
        if mailbox.post(message) { multi.wake() }
    }

    private func tellToStop() { post(.stop) }
}

/// A call under way.
struct ClientCall: Sendable {
    private let stop: @Sendable () -> Void

    init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }

    /// Its `done` is told `ClientError.cancelled`, unless it has an answer already. Any number of times.
    func cancel() { stop() }
}
