internal import CardRules
internal import PushWire

/// `/openapi.json` (OpenAPI 3.1), made from the routes.
enum OpenAPIDocument {
    static func bytes(_ routes: [Route], version: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(document(routes, version: version))
        return writer.bytes
    }

    private static func document(_ routes: [Route], version: String) -> JSONValue {
        var paths: [String: [String: JSONValue]] = [:]
        for route in routes {
            paths[route.template, default: [:]][route.method.rawValue.lowercased()] = operation(route)
            if route.method == .get { paths[route.template, default: [:]]["head"] = headOperation(route) }
        }
        return .object([
            "openapi": .string("3.1.0"),
            "info": .object([
                "title": .string("Lanekeeper"), "version": .string(version),
                "description": .string(introduction),
            ]),
            "paths": .object(paths.mapValues { .object($0) }),
            "components": .object([
                "schemas": .object(Schemas.all.mapValues(\.json)),
                "securitySchemes": .object([
                    "key": .object([
                        "type": .string("http"), "scheme": .string("bearer"),
                        "description": .string("A key of the configuration. Scopes: feed, devices, admin."),
                    ])
                ]),
            ]),
        ])
    }

    private static let introduction = """
        The server half of iOS Live Activities. JSON in UTF-8; times in Unix seconds. A 2xx means: durable. Writes are \
        idempotent: a retry after a lost answer is harmless. Errors are problem details (RFC 9457). Every answer to an \
        app may carry `Lanekeeper-Needs: push-to-start-token`: the app is then to read and report its token anew.
        """

    private static func operation(_ route: Route) -> JSONValue {
        var members: [String: JSONValue] = [
            "operationId": .string(route.call.rawValue), "summary": .string(route.summary),
            "responses": responses(route, isHead: false),
        ]
        let scope = route.scope.map { "Scope: `\($0.rawValue)`." }
        let description = [route.description, scope ?? "No key."].filter { !$0.isEmpty }.joined(separator: " ")
        members["description"] = .string(description)
        if let scope = route.scope {
            members["security"] = .array([.object(["key": .array([])])])
            members["x-scope"] = .string(scope.rawValue)
        }
        let parameters = parameters(route)
        if !parameters.isEmpty { members["parameters"] = .array(parameters) }
        if let body = route.body {
            members["requestBody"] = .object([
                "required": .bool(body.isRequired),
                "content": .object([
                    body.mediaType.rawValue: .object(["schema": body.schema.json, "example": body.example])
                ]),
            ])
        }
        return .object(members)
    }

    private static func headOperation(_ route: Route) -> JSONValue {
        var members: [String: JSONValue] = [
            "operationId": .string("\(route.call.rawValue)Head"), "summary": .string("\(route.summary): headers only"),
            "responses": responses(route, isHead: true),
        ]
        if route.scope != nil { members["security"] = .array([.object(["key": .array([])])]) }
        let parameters = parameters(route)
        if !parameters.isEmpty { members["parameters"] = .array(parameters) }
        return .object(members)
    }

    // MARK: - Parameters

    private static func parameters(_ route: Route) -> [JSONValue] {
        var parameters: [JSONValue] = []
        for case .parameter(let parameter) in route.path {
            parameters.append(
                .object([
                    "name": .string(parameter.rawValue), "in": .string("path"), "required": .bool(true),
                    "schema": schema(of: parameter).json, "description": .string(words(of: parameter)),
                ]))
        }
        for query in route.query {
            parameters.append(
                .object([
                    "name": .string(query.name), "in": .string("query"), "required": .bool(false),
                    "schema": query.schema.json, "description": .string(query.description),
                ]))
        }
        if route.call == .getEvents {
            parameters.append(
                .object([
                    "name": .string("Last-Event-ID"), "in": .string("header"), "required": .bool(false),
                    "schema": JSONSchema.integer(from: 0, to: .max).json,
                    "description": .string("The `id` of the last event that was read."),
                ]))
        }
        return parameters
    }

    private static func schema(of parameter: PathParameter) -> JSONSchema {
        parameter == .gateway ? .named("Gateway") : .named("ID")
    }

    private static func words(of parameter: PathParameter) -> String {
        switch parameter {
        case .device: "One record that an app install reports under."
        case .key: "`slate`, or the id of a session."
        case .session: "The id of a session; not `slate`."
        case .gateway: "The APNs environment."
        }
    }

    // MARK: - Answers

    private static func responses(_ route: Route, isHead: Bool) -> JSONValue {
        var responses: [String: JSONValue] = [:]
        for answer in common(route) + route.answers {
            var members: [String: JSONValue] = ["description": .string(answer.description)]
            if let content = answer.content, !isHead {
                members["content"] = .object([content.type.rawValue: .object(["schema": content.schema.json])])
            }
            if let headers = headers(of: answer.status) { members["headers"] = headers }
            responses["\(answer.status)"] = .object(members)
        }
        return .object(responses)
    }

    /// What any call of its kind may be answered.
    private static func common(_ route: Route) -> [PossibleAnswer] {
        func problem(_ status: Int, _ description: String) -> PossibleAnswer {
            PossibleAnswer(status: status, description: description, content: (.problem, .named("Problem")))
        }
        // A body where none is taken is refused too.
        var answers = [problem(413, "The body is larger than allowed.")]
        if !route.query.isEmpty || route.body != nil || route.scope != nil || route.query.isEmpty {
            answers.append(problem(422, "Well-formed, but not valid."))
        }
        answers.append(problem(503, "Not now: try again after `Retry-After` seconds."))
        answers.append(problem(400, "Not HTTP, no JSON, or without one usable line."))
        if route.scope != nil {
            answers.append(problem(401, "No key, or one that is not known."))
            answers.append(problem(403, "The key has not the scope."))
        }
        if route.path.contains(where: { if case .parameter = $0 { true } else { false } }) || route.call == .getEvents {
            answers.append(problem(404, "There is no such thing."))
        }
        if route.body != nil { answers.append(problem(415, "Not the media type that the call takes.")) }
        if route.call == .postTicks { answers.append(problem(429, "As many batches wait as may.")) }
        return answers
    }

    private static func headers(of status: Int) -> JSONValue? {
        func header(_ name: String, _ description: String, _ schema: JSONSchema) -> JSONValue {
            .object([name: .object(["description": .string(description), "schema": schema.json])])
        }
        switch status {
        case 401, 403: return header("WWW-Authenticate", "RFC 6750.", .string())
        case 429, 503: return header("Retry-After", "Seconds.", .integer(from: 0))
        case 204: return header("Lanekeeper-Needs", "`push-to-start-token`: report it anew.", .string())
        default: return nil
        }
    }
}
