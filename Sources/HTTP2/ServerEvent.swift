/// What a server session tells its owner.
public enum ServerEvent: Equatable, Sendable {
    /// A request came in whole.
    case request(ServerRequest)
    /// A request was over before our answer was sent whole: reset by the client, or by us.
    case cancelled(stream: Int32, code: ErrorCode)
    /// The client opened a stream beyond our limit; it is refused with REFUSED_STREAM.
    case beyondLimit(stream: Int32)
    /// The client has taken our newest SETTINGS.
    case settingsAcknowledged
    case goaway(lastStream: Int32, code: ErrorCode, debug: [UInt8])
    case pong(UInt64)
    /// The client broke the protocol. Our GOAWAY is among the bytes to send; close afterwards.
    case failed(HTTP2Error)
}

public struct ServerRequest: Equatable, Sendable {
    public let stream: Int32
    /// Pseudo-headers (`:method`, `:path`) included.
    public let headers: HeaderBlock
    /// At most `ServerSession.bodyBytesAtMost` of it.
    public let body: [UInt8]
    /// The whole length, beyond what was kept.
    public let bodyBytes: Int
}
