/// What a server does with requests. Called from the server's own threads: must not block.
public protocol WebHandler: Sendable {
    /// Judges a request by its head, before any of its body is read.
    /// - Returns: the most bytes its body may have, or the answer that refuses it at once.
    func admit(_ head: WebRequestHead) -> WebAdmission

    /// Takes a whole request. The answer is given through `exchange`, now or later (the request is *parked* meanwhile).
    func take(_ request: WebRequest, _ exchange: any WebExchange)

    /// The answer to what the server itself refuses: bytes that are no request, a limit, a deadline.
    func refusal(status: Int, detail: String) -> WebAnswer
}

public enum WebAdmission: Sendable {
    case bodyOf(maximumBytes: Int)
    case refused(WebAnswer)
}

/// One request that awaits its answer. From any thread; exactly one of `answer` and `stream` counts, the first. An
/// exchange that is dropped without either is answered 500.
public protocol WebExchange: AnyObject, Sendable {
    func answer(_ answer: WebAnswer)

    /// Answers 200 with a body without end, such as server-sent events.
    /// - Parameters:
    ///   - headers: of the answer; its content type among them.
    ///   - closed: called once, from one of the server's threads, with why the stream is over. Must not block.
    /// - Returns: `nil` where the peer has gone already, or the exchange was answered; then `closed` is not called.
    func stream(_ headers: WebHeaders, closed: @escaping @Sendable (WebStreamEnd) -> Void) -> (any WebStream)?
}

/// Why a stream is over.
public enum WebStreamEnd: String, Hashable, Sendable {
    /// The handler closed it, or let go of it.
    case finished
    /// The peer has closed the connection, or its half of it, or the connection broke.
    case peerGone
    /// The peer left more unread than the limit allows.
    case tooSlow
    /// The server stops.
    case stopping
}

/// A body without end. From any thread; never blocks. One that is dropped is closed.
public protocol WebStream: AnyObject, Sendable {
    /// Queues bytes. What the peer does not read piles up to the server's limit; then it is cut.
    /// - Returns: `false` once the stream is closed.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool

    /// Ends the body in order, after what is queued.
    func close()
}
