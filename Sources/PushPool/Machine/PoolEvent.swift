internal import CardRules

/// What the thread that holds the sockets tells the pool's decisions. A ticket names one sending of a push: what comes
/// after that was given up, or for a place that another push has by now, is recognised and changes nothing.
enum PoolEvent: Equatable, Sendable {
    /// TLS stands.
    case established(UInt64)
    /// The peer's SETTINGS, the first and each later one.
    case settings(UInt64, streams: Int)
    case answered(PushID, ticket: UInt32, PoolAnswer)
    /// It certainly did not count: REFUSED_STREAM, above GOAWAY's last stream, or its end never left (L2).
    case notSent(PushID, ticket: UInt32)
    /// Written, and no answer will come (L2).
    case unknown(PushID, ticket: UInt32)
    /// The connection did not take it; others may.
    case noRoom(PushID, ticket: UInt32)
    /// No connection would take it: its header is none, or its key cannot sign.
    case unsendable(PushID, ticket: UInt32)
    /// The provider token was not signed.
    case cannotSign(TokenRef, text: String)
    case goaway(UInt64, code: String, text: String)
    /// The peer broke the protocol.
    case failed(UInt64, text: String)
    case pong(UInt64)
    /// The connection is gone, or could not be made. Its requests were reported before. `text`: why, where it is news.
    case lost(UInt64, text: String?)
}

/// An answer of the gateway.
struct PoolAnswer: Equatable, Sendable {
    let verdict: Verdict
    /// The peer's clock as its `date` header has it, Unix seconds.
    var peerSeconds: Int64?
}

/// What the pool's decisions ask of the thread that holds the sockets, in this order.
enum PoolAction: Equatable, Sendable {
    /// Look the name up anew (ref T13), connect, and report. `attempt` picks among its addresses.
    case open(UInt64, group: Int, attempt: Int)
    /// Sign a provider token, `iat` now. Comes before its first use.
    case sign(TokenRef)
    case submit(PushID, ticket: UInt32, on: UInt64, token: TokenRef)
    /// Its time is over: if its end has not left yet it must never leave. Report `notSent` then, else `unknown`, at once.
    case giveUp(PushID, ticket: UInt32, on: UInt64)
    case ping(UInt64)
    /// Say goodbye as far as that goes, and close. Nothing is in flight on it any more that anybody waits for.
    case close(UInt64)
    /// The push is over; its place is free.
    case settle(PushID, Verdict)
    case notice(PoolNotice)
}
