internal import WebServer

/// What the head of a request comes to: all that can be judged without its body.
struct AdmittedRequest: Sendable {
    let match: RouteMatch
    let query: QueryValues
}

extension APIHandler {
    /// Path, method, key, scope, media type, length and query, in this order.
    func judge(_ head: WebRequestHead) throws(Problem) -> AdmittedRequest {
        let match: RouteMatch
        switch table.find(head) {
        case .found(let found): match = found
        case .unknownPath: throw Problem(404, "there is no such path")
        case .wrongMethod(let allowed):
            var problem = Problem(405, "this path takes \(allowed.joined(separator: ", "))")
            problem.headers = [("Allow", allowed.joined(separator: ", "))]
            throw problem
        }
        if let scope = match.route.scope {
            let key = try authenticate(head)
            guard key.scopes.contains(scope) else {
                var problem = Problem(403, "this call needs a key with the scope \(scope.rawValue)")
                problem.headers = [
                    (
                        "WWW-Authenticate",
                        "\(APIHandler.challenge), error=\"insufficient_scope\", scope=\"\(scope.rawValue)\""
                    )
                ]
                throw problem
            }
            try mustBeOpen()
        }
        try judgeBody(head, match.route)
        return AdmittedRequest(match: match, query: try QueryValues(head, for: match.route))
    }

    private static let challenge = "Bearer realm=\"lanekeeper\""

    /// RFC 6750, 2.1 and 3.
    private func authenticate(_ head: WebRequestHead) throws(Problem) -> APIKey {
        var problem = Problem(401, "this call needs a key: Authorization: Bearer KEY")
        problem.headers = [("WWW-Authenticate", APIHandler.challenge)]
        guard let shown = head.headers["Authorization"] else { throw problem }
        let parts = shown.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw problem }
        guard let key = keys.key(String(parts[1])) else {
            problem.detail = "the key is not known"
            problem.headers = [("WWW-Authenticate", "\(APIHandler.challenge), error=\"invalid_token\"")]
            throw problem
        }
        return key
    }

    private func judgeBody(_ head: WebRequestHead, _ route: Route) throws(Problem) {
        guard let body = route.body else {
            if let length = head.bodyLength, length > 0 { throw Problem(413, "this call takes no body") }
            return
        }
        if head.bodyLength != 0 || body.isRequired {
            try judgeMediaType(head, body.mediaType)
        }
        if let length = head.bodyLength, length > configuration.maximumBodyBytes {
            throw Problem(413, "a body may have \(configuration.maximumBodyBytes) bytes, and this one has \(length)")
        }
    }

    /// RFC 9110, 15.5.16: also for a content coding.
    private func judgeMediaType(_ head: WebRequestHead, _ wanted: MediaType) throws(Problem) {
        var problem = Problem(415, "the body must be \(wanted.rawValue)")
        problem.headers = [("Accept", wanted.rawValue)]
        let given = head.headers["Content-Type"] ?? ""
        let type = given.prefix { $0 != ";" }
        guard type.trimmed.lowercased() == wanted.rawValue else { throw problem }
        if let coding = head.headers["Content-Encoding"], coding.lowercased() != "identity" {
            problem.detail = "the body must not be compressed"
            problem.headers = [("Accept-Encoding", "identity")]
            throw problem
        }
    }
}

extension Substring {
    /// Without blanks around it.
    fileprivate var trimmed: Substring {
        var rest = drop { $0 == " " || $0 == "\t" }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}
