/// What one connection may cost, in bytes and in seconds. At each limit stands what happens there.
public struct WebLimits: Hashable, Sendable {
    /// Request line and fields with their line ends. Beyond: 431.
    public var headBytes = 16_384
    /// The request target. Beyond: 414. (RFC 9112, 3 asks for 8,000 bytes of request line at least.)
    public var targetBytes = 8_192
    /// Field lines of a head, or of a trailer. Beyond: 431.
    public var fields = 100
    /// The line before a chunk, its end included. Beyond: 400.
    public var chunkLineBytes = 256
    /// The fields after the last chunk, which are checked and dropped. Beyond: 431.
    public var trailerBytes = 4_096
    /// What is taken in while an earlier request of the connection awaits its answer. Beyond, nothing more is read until
    /// then (at most one read, 64 KB, lies above it); behind a stream, where no answer will come: cut.
    public var parkedInputBytes = 65_536
    /// What a peer may leave unread. A stream beyond it is cut; for answers, no further request is taken until the peer
    /// has read.
    public var unreadBytes = 65_536

    /// From the first byte of a request, or from the connection's begin, to the end of the head. Then: 408.
    public var headSeconds = 10
    /// A body has `headSeconds` and a second for each so many bytes, also counted from the request's first byte; where
    /// it comes in chunks, those that have come count. Then: 408. An answer that nobody reads has as long and is cut.
    public var bytesPerSecond = 10_240
    /// For the handler's answer. Then: 503, and what the handler says later is dropped.
    public var parkedSeconds = 60
    /// Between two requests. Then the connection is closed without a word.
    public var idleSeconds = 75
    /// For the peer's end after ours, while its input is read and dropped: a close with unread input is a RST, and a RST
    /// takes the answer away from a peer that is still sending (RFC 9112, 9.6).
    public var lingerSeconds = 2

    public init() {}

    var lineBytes: Int { targetBytes + 64 }  // with the longest method and version that we take

    func nanoseconds(forBytes count: Int) -> Int64 {
        // Whole seconds are rounded up, so that a small body has one.
        let seconds = Int64(headSeconds) + Int64((count + bytesPerSecond - 1) / max(1, bytesPerSecond))
        return seconds * 1_000_000_000
    }
}
