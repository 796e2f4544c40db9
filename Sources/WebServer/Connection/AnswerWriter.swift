/// Writes the heads of answers. The fields that frame a message are the server's own: `Date`, `Content-Length`,
/// `Transfer-Encoding` and `Connection` of a handler are left out, and so is a field that would break the head apart
/// (a name that is no token, a value with a control character).
struct AnswerWriter {
    enum Framing: Hashable {
        case length(Int)
        case chunked
        /// The end of the connection ends the body.
        case untilClose
        /// 204 and 304: a length would be wrong (RFC 9110, 8.6).
        case none
    }

    static let continues = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    static let lastChunk = Array("0\r\n\r\n".utf8)

    static func appendHead(
        status: Int, headers: WebHeaders, framing: Framing, closes: Bool, date: [UInt8], to output: inout [UInt8]
    ) {
        output.append("HTTP/1.1 ")
        output.append(decimal: status)
        output.append(" ")
        output.append(reason(of: status))
        output.append("\r\nDate: ")
        output.append(contentsOf: date)
        for field in headers.fields where isAllowed(field.name, field.value) {
            output.append("\r\n")
            output.append(contentsOf: field.name.utf8)
            output.append(": ")
            output.append(contentsOf: field.value.utf8)
        }
        switch framing {
        case .length(let count):
            output.append("\r\nContent-Length: ")
            output.append(decimal: count)
        case .chunked: output.append("\r\nTransfer-Encoding: chunked")
        case .untilClose, .none: break
        }
        output.append(closes ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n")
    }

    /// - Parameter bytes: not empty: an empty chunk would be the last one.
    static func appendChunk(_ bytes: [UInt8], to output: inout [UInt8]) {
        output.append(contentsOf: String(bytes.count, radix: 16).utf8)
        output.append("\r\n")
        output.append(contentsOf: bytes)
        output.append("\r\n")
    }

    private static func isAllowed(_ name: String, _ value: String) -> Bool {
        guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenByte), value.utf8.allSatisfy(\.isValueByte) else {
            return false
        }
        switch name.utf8.count {
        case 4: return !isWord("date", name)
        case 10: return !isWord("connection", name)
        case 14: return !isWord("content-length", name)
        case 17: return !isWord("transfer-encoding", name)
        default: return true
        }
    }

    private static func isWord(_ word: StaticString, _ name: String) -> Bool {
        word.withUTF8Buffer { $0.elementsEqual(name.utf8) { $0 == $1.lowercased } }
    }

    private static func reason(of status: Int) -> StaticString {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: ""  // the reason may be empty (RFC 9112, 4)
        }
    }
}

extension [UInt8] {
    mutating func append(_ text: StaticString) { text.withUTF8Buffer { append(contentsOf: $0) } }

    mutating func append(decimal number: Int) { append(contentsOf: String(number).utf8) }
}
