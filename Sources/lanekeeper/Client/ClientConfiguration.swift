/// How a client is set up.
struct ClientConfiguration: Sendable {
    var address: ClientAddress
    /// Sent as `Authorization: Bearer`.
    var key: String?
    /// Certificates in PEM that the server's must come from; `nil`: those that the system trusts.
    var caFile: String?
    var connectSeconds = 5.0
    /// Of a call that names none.
    var timeoutSeconds = 30.0
    /// Calls at a time, each on a connection of its own that is kept for the next; 1...1,000.
    var maximumConnections = 16
    /// Event streams at a time, beside the calls. One more is refused.
    var maximumStreams = 64
    /// Calls that wait for a connection, first come, first served. One more is refused.
    var maximumWaiting = 100_000
    var maximumAnswerBytes = 16 << 20
    /// Of one line or one event's data in an event stream.
    var maximumEventBytes = 1 << 20
    /// A stream that brings not a byte for this long is taken for broken. `nil`: it may be silent for ever.
    var silentStreamSeconds: Int? = 60

    init(_ address: ClientAddress, key: String? = nil, caFile: String? = nil) {
        self.address = address
        self.key = key
        self.caFile = caFile
    }
}
