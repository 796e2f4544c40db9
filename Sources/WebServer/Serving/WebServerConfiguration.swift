/// How a server is set up.
public struct WebServerConfiguration: Sendable {
    /// A certificate chain (the server's own first) and its key, both in PEM.
    public struct TLSFiles: Hashable, Sendable {
        public var certificateFile: String
        public var keyFile: String

        public init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// 1 serves more than a store can commit; 1...16.
    public var threads = 1
    /// Open at a time, of all threads. One beyond is answered 503 and closed (with TLS: closed).
    public var maximumConnections = 10_000
    /// `nil`: plain text.
    public var tls: TLSFiles?
    public var limits = WebLimits()
    /// For the requests that are being read or answered when the server is told to stop. Then they are cut.
    public var stopSeconds = 10

    public init() {}
}

/// The server's times, injected.
public struct WebServerClock: Sendable {
    /// Goes only forward; means nothing but its distance to another reading: for deadlines.
    public var nanoseconds: @Sendable () -> Int64
    /// For the field `Date`.
    public var unixSeconds: @Sendable () -> Int64

    public init(nanoseconds: @escaping @Sendable () -> Int64, unixSeconds: @escaping @Sendable () -> Int64) {
        self.nanoseconds = nanoseconds
        self.unixSeconds = unixSeconds
    }
}

/// One answered request, for metrics and logs.
public struct WebServed: Sendable {
    /// What was asked; `nil` for bytes that were no request. Which route that is, the handler knows.
    public let head: WebRequestHead?
    public let status: Int
    /// From the request's first byte to the answer (of a stream: to its head).
    public let seconds: Double
}

/// What a server holds now, and what it has done since it began.
public struct WebServerCounts: Hashable, Sendable {
    public var connections = 0
    public var streams = 0
    /// Requests that await their handler's answer.
    public var parked = 0
    public var accepted = 0
    /// Connections beyond the limit.
    public var turnedAway = 0
    public var answered = 0
    /// Streams cut because their peer did not read.
    public var cutStreams = 0
}
