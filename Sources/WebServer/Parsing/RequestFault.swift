/// Why what came is no request that is served, with the status that says so. The connection ends with that answer: after
/// a fault nobody knows where the next request would begin (RFC 9112, 6.3 and 9.6).
struct RequestFault: Error, Hashable, Sendable {
    let status: Int
    /// A constant sentence: nothing of the peer's bytes is in it.
    let detail: String

    init(_ status: Int, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    static func malformed(_ detail: String) -> RequestFault { RequestFault(400, detail) }
}
