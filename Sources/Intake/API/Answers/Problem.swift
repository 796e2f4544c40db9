internal import CardRules
internal import WebServer

/// Why a request was not answered with a 2xx: problem details (RFC 9457), as `application/problem+json`.
struct Problem: Error, Sendable {
    var status: Int
    var detail: String
    /// The member of the body that is to blame, a JSON pointer (RFC 6901).
    var field: String?
    /// Where in the body the text is no JSON, both from 1.
    var place: (line: Int, column: Int)?
    var headers: [(name: String, value: String)] = []
    /// Further members: numbers and such, for programs.
    var extra: [(name: String, value: JSONValue)] = []

    init(_ status: Int, _ detail: String, field: String? = nil) {
        self.status = status
        self.detail = detail
        self.field = field
    }

    /// - Parameter document: what `fault` was found in.
    init(_ fault: JSONFault, in body: [UInt8]) {
        let place = fault.place(in: body.span)
        self.init(400, "no JSON at line \(place.line), column \(place.column): \(fault)")
        self.place = place
    }

    init(_ fault: FieldFault) {
        self.init(422, fault.detail, field: "\(fault.pointer)")
    }

    /// Nothing was done, or nothing that counts: try again.
    static func tryAgain(_ detail: String, status: Int = 503, afterSeconds seconds: Int = 1) -> Problem {
        var problem = Problem(status, detail)
        problem.headers = [("Retry-After", "\(seconds)")]
        return problem
    }

    var answer: WebAnswer {
        let body = JSONBuilder.object { json in
            json.member("title", Problem.title(of: status))
            json.member("status", status)
            json.member("detail", detail)
            if let field { json.member("field", field) }
            if let place {
                json.member("line", place.line)
                json.member("column", place.column)
            }
            for member in extra { json.member(member.name, member.value) }
        }
        var answer = WebAnswer(
            status: status, headers: WebHeaders([(name: "Content-Type", value: MediaType.problem.rawValue)]), body: body
        )
        for header in headers { answer.headers.add(header.name, header.value) }
        return answer
    }

    /// The status in words (RFC 9110, 15).
    static func title(of status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "HTTP \(status)"
        }
    }
}
