/// One call of the API (api.md): all that is said of it, in one place. The dispatcher and `/openapi.json` are both made
/// of these.
struct Route: Sendable {
    let call: APICall
    let method: Method
    let path: [PathPart]
    /// What the key must allow; `nil`: no key is asked for.
    let scope: APIScope?
    var query: [QueryParameter] = []
    var body: RequestBody?
    let answers: [PossibleAnswer]
    let summary: String
    var description = ""

    enum Method: String, Sendable {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
        case delete = "DELETE"
    }
}

/// Which call it is.
enum APICall: String, Sendable, CaseIterable {
    case putDevice, deleteDevice, getDevice, putSelection, putCard, postReport, getTimeline
    case putSession, deleteSession
    case postTicks, getSlate
    case getEvents
    case postMoment, postProbe, pauseGateway, resumeGateway
    case getHealth, getReadiness, getMetrics, getOpenAPI
}

/// One segment of a path.
enum PathPart: Hashable, Sendable {
    case literal(String)
    case parameter(PathParameter)
}

/// A segment that varies. One that is not of its form is no path of this API: 404.
enum PathParameter: String, Sendable, CaseIterable {
    case device, key, session, gateway
}

struct QueryParameter: Sendable {
    let name: String
    let schema: JSONSchema
    let description: String
}

struct RequestBody: Sendable {
    let mediaType: MediaType
    let schema: JSONSchema
    let example: JSONSchema.Example
    var isRequired = true
}

enum MediaType: String, Sendable {
    case json = "application/json"
    case ndjson = "application/x-ndjson"
    case problem = "application/problem+json"
    case events = "text/event-stream"
    case prometheus = "text/plain; version=0.0.4; charset=utf-8"
}

/// An answer that a call has of its own. Those that any call may have are added where the description is made.
struct PossibleAnswer: Sendable {
    let status: Int
    let description: String
    var content: (type: MediaType, schema: JSONSchema)?
}

extension Route {
    /// `/v1/devices/{device}`: what metrics and logs call it.
    var template: String {
        path.map { part in
            switch part {
            case .literal(let text): "/\(text)"
            case .parameter(let name): "/{\(name.rawValue)}"
            }
        }.joined()
    }
}
