/// One call of the HTTP API.
struct ClientRequest: Hashable, Sendable {
    /// A token (RFC 9110, 9.1), such as `PUT`.
    var method: String
    /// Begins with a slash and may carry a query; percent-encoded already (`path(_:query:)`).
    var path: String
    var headers: [ClientHeader]
    /// Sent with its length for `PUT` and `POST` also when empty; `nil`: no body.
    var body: [UInt8]?
    /// From handing it over to libcurl to the last byte of the answer; the wait for a free connection is not in it.
    /// `nil`: the client's own.
    var timeoutSeconds: Double?

    init(
        _ method: String, _ path: String, headers: [ClientHeader] = [], body: [UInt8]? = nil,
        timeoutSeconds: Double? = nil
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.timeoutSeconds = timeoutSeconds
    }

    /// A call with a body in JSON.
    static func json(_ method: String, _ path: String, _ body: [UInt8]) -> ClientRequest {
        ClientRequest(method, path, headers: [ClientHeader("Content-Type", "application/json")], body: body)
    }

    /// Segments and query members, each percent-encoded by itself: only what RFC 3986, 2.3, calls unreserved, and the
    /// colon (which ids may hold), stays as it is.
    static func path(_ segments: [String], query: [(name: String, value: String)] = []) -> String {
        let path = segments.map { "/" + encoded($0) }.joined()
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        // A segment of dots alone would be taken for a step through the path.
        if text == "." || text == ".." { return text.utf8.map { _ in "%2E" }.joined() }
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: ":"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }
}

struct ClientHeader: Hashable, Sendable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A whole answer, of any status.
struct ClientResponse: Hashable, Sendable {
    let status: Int
    let headers: [ClientHeader]
    let body: [UInt8]

    /// The first of that name, in any case.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
