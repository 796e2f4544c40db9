/// What the gateway's operator tells all its open connections, while they are in use (ref G20, G21).
public enum ConnectionOrder: Hashable, Sendable {
    /// SETTINGS with this limit on streams; the next accepted request raises it to the options' again.
    case announce(streams: Int)
    /// GOAWAY with a JSON `reason`; its last stream leaves out the newest `unprocessed` requests, which are dropped.
    case goAway(reason: String, unprocessed: Int)
    /// GOAWAY with plain words (ref T17).
    case goAwayText(String)
    /// FIN.
    case close
    /// RST.
    case reset
}
