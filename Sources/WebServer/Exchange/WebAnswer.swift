/// A whole answer. The server adds `Date`, `Content-Length` and `Connection`; a body to 204 or 304 is dropped.
public struct WebAnswer: Sendable {
    public var status: Int
    public var headers: WebHeaders
    public var body: [UInt8]

    public init(status: Int, headers: WebHeaders = WebHeaders(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
