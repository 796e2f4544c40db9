import CardRules
import Intake
import Operations

/// Why the daemon did not do what it was asked: what, where, and what to do. One line once it is tamed.
struct DaemonFault: Error, Equatable, CustomStringConvertible {
    let description: String
    /// The same call may well succeed a little later.
    let isPassing: Bool

    init(_ description: String, isPassing: Bool = false) {
        self.description = description
        self.isPassing = isPassing
    }
}

/// The daemon's API as commands call it.
struct DaemonCalls: Sendable {
    let client: HTTPClient

    init(_ configuration: ClientConfiguration) throws { client = try HTTPClient(configuration) }

    func get(_ path: String) async throws(DaemonFault) -> JSONValue {
        try await answer(ClientRequest("GET", path))
    }

    func post(_ path: String, _ body: JSONValue) async throws(DaemonFault) -> JSONValue {
        try await answer(.json("POST", path, Array(jsonText(body).utf8)))
    }

    /// - Returns: null for an answer without a body.
    private func answer(_ request: ClientRequest) async throws(DaemonFault) -> JSONValue {
        let place = "\(request.method) \(client.configuration.address)\(request.path)"
        let response: ClientResponse
        do throws(ClientError) { response = try await client.send(request) } catch {
            throw Self.fault(error, at: place)
        }
        guard (200..<300).contains(response.status) else { throw Self.fault(response, at: place) }
        if response.body.isEmpty { return .null }
        guard let document = try? JSONDocument(response.body) else {
            throw DaemonFault("\(place): the answer is no JSON; is this a lanekeeper's address?")
        }
        return document.root
    }

    static func fault(_ error: ClientError, at place: String) -> DaemonFault {
        switch error {
        case .unreachable:
            DaemonFault(
                "\(place): \(error); is lanekeeper serve running there? --url names another address", isPassing: true)
        case .untrusted:
            DaemonFault(
                "\(place): \(error); --ca-file names the certificate to trust, --url the name it is made out to")
        case .timedOut, .broken: DaemonFault("\(place): \(error); try again", isPassing: true)
        default: DaemonFault("\(place): \(error)")
        }
    }

    /// Problem details (RFC 9457) as a sentence.
    static func fault(_ response: ClientResponse, at place: String) -> DaemonFault {
        let problem = try? JSONDocument(response.body).root
        var text = "\(place): \(response.status)"
        if let title = problem?["title"]?.text { text += " \(title)" }
        if let detail = problem?["detail"]?.text { text += ": \(detail)" }
        if let field = problem?["field"]?.text { text += " (\(field))" }
        switch response.status {
        case 401: text += "; give a key of the daemon's http.keys: --key-file FILE or LANEKEEPER_KEY"
        case 403: text += "; lanekeeper key new --scope makes a key that may"
        case 429, 503: text += "; try again\(response.header("retry-after").map { " in \($0) s" } ?? "")"
        case _ where problem?["detail"] == nil: text += "; is this a lanekeeper's address?"
        default: break
        }
        return DaemonFault(text, isPassing: response.status == 429 || response.status == 503)
    }
}

extension DaemonOptions {
    /// Runs a command against the daemon, and lets go of the connection whatever comes of it.
    func withDaemon<Result>(
        _ configuration: Configuration?, _ body: (DaemonCalls) async throws -> Result
    ) async throws -> Result {
        let settings = try client(configuration)
        if !settings.address.isEncrypted && !settings.address.isLoopback {
            complain("the key goes to \(settings.address) unencrypted")
        }
        let calls = try DaemonCalls(settings)
        do {
            let result = try await body(calls)
            await calls.client.stopped()
            return result
        } catch {
            await calls.client.stopped()
            throw error
        }
    }
}

extension JSONValue {
    /// Unix seconds, and other numbers.
    var seconds: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The elements of a list; none of anything else.
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

    /// The members of an object; none of anything else.
    var members: [Member] { if case .object(let members) = self { members } else { [] } }
}
