/// What a client session tells its owner.
public enum ClientEvent: Equatable, Sendable {
    /// The peer's SETTINGS (the first one and each later one). Its limit on streams: `ClientSession.remoteMaxStreams`.
    case settings(maxConcurrentStreams: Int)
    /// A request is over. Exactly one for each request that was submitted.
    case closed(RequestEnd)
    /// The peer takes no new requests. Those above `lastStream` follow as `.closed` with `.notSent`. APNs puts JSON
    /// with a `reason` into `debug`, not always (ref T17, T18).
    case goaway(lastStream: Int32, code: ErrorCode, debug: [UInt8])
    /// The answer to `ping`, with its number.
    case pong(UInt64)
    /// The peer broke the protocol. Its GOAWAY from us is among the bytes to send; close afterwards.
    case failed(HTTP2Error)
}

/// How a request ended.
public struct RequestEnd: Equatable, Sendable {
    /// The caller's own number, as given to `submit`.
    public let tag: UInt64
    public let stream: Int32
    public let outcome: RequestOutcome
}

/// The distinction that decides whether a push may be repeated (rule L2; RFC 9113, 6.8 and 8.7).
public enum RequestOutcome: Equatable, Sendable {
    /// A final status arrived, whatever happened to the stream afterwards.
    case answered(Response)
    /// The peer cannot have acted on it: may be repeated.
    case notSent(NotSentCause)
    /// It left whole, and no answer came: the peer may have acted on it.
    case unknown(UnknownCause)
}

public enum NotSentCause: Equatable, Sendable {
    /// RST_STREAM with REFUSED_STREAM.
    case refusedStream
    /// Its number is above the last stream of the peer's GOAWAY.
    case beyondGoaway
    /// Its end never left: the peer holds at most a part.
    case incomplete
}

public enum UnknownCause: Equatable, Sendable {
    case reset(ErrorCode)
    case connectionLost
}

public struct Response: Equatable, Sendable {
    /// 200...599
    public let status: Int
    /// Without `:status`.
    public let headers: HeaderBlock
    /// At most `ClientSession.bodyBytesAtMost`; what is beyond is dropped, and `isComplete` is false.
    public let body: [UInt8]
    /// False if the stream ended before the answer did.
    public let isComplete: Bool
}
