import HTTP2

/// A client and a server session with nothing between them but these arrays.
final class Wire {
    let client: ClientSession
    let server: ServerSession
    var clientEvents: [ClientEvent] = []
    var serverEvents: [ServerEvent] = []
    /// At most so many bytes are handed over at once.
    var pieceBytes = Int.max

    init(maxConcurrentStreams: UInt32 = 100) throws {
        client = try ClientSession()
        server = try ServerSession(maxConcurrentStreams: maxConcurrentStreams)
    }

    /// Carries bytes both ways until both sides are silent. Events pile up.
    func settle() throws {
        while true {
            let up = try bytesOfClient()
            try deliver(up, to: server.receive)
            let down = try bytesOfServer()
            try deliver(down, to: client.receive)
            collectEvents()
            if up.isEmpty && down.isEmpty { return }
        }
    }

    func bytesOfClient() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try client.collect(into: &bytes, upTo: .max)
        return bytes
    }

    func bytesOfServer() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try server.collect(into: &bytes, upTo: .max)
        return bytes
    }

    func collectEvents() {
        var fromClient: [ClientEvent] = []
        var fromServer: [ServerEvent] = []
        client.takeEvents(into: &fromClient)
        server.takeEvents(into: &fromServer)
        clientEvents += fromClient
        serverEvents += fromServer
    }

    func deliver(_ bytes: [UInt8], to receive: (Span<UInt8>) throws -> Void) throws {
        var at = 0
        while at < bytes.count {
            let end = at + min(pieceBytes, bytes.count - at)
            try receive(bytes.span.extracting(at..<end))
            at = end
        }
    }

    @discardableResult
    func submit(_ tag: UInt64, body: [UInt8] = Array("{}".utf8)) throws -> Int32 {
        try client.submit(Self.push(id: "id-\(tag)"), body: body, tag: tag)
    }

    func answerAll(status: Int = 200, body: [UInt8] = []) throws {
        for request in requests {
            var headers = HeaderBlock()
            headers.append("apns-id", request.headers.value(of: "apns-id") ?? [])
            try server.respond(to: request.stream, status: status, headers: headers, body: body)
        }
        serverEvents.removeAll { if case .request = $0 { true } else { false } }
    }

    var requests: [ServerRequest] {
        serverEvents.compactMap { if case .request(let request) = $0 { request } else { nil } }
    }

    var ends: [RequestEnd] { clientEvents.compactMap { if case .closed(let end) = $0 { end } else { nil } } }

    var outcomes: [UInt64: RequestOutcome] { Dictionary(uniqueKeysWithValues: ends.map { ($0.tag, $0.outcome) }) }

    static func push(id: String) -> HeaderBlock {
        var headers = HeaderBlock()
        headers.append(":method", "POST")
        headers.append(":scheme", "https")
        headers.append(":authority", "localhost")
        headers.append(":path", "/3/device/" + String(repeating: "ab", count: 32), .literal)
        headers.append("authorization", "bearer " + String(repeating: "q", count: 200), .literal)
        headers.append("apns-topic", "com.example.app.push-type.liveactivity")
        headers.append("apns-id", id, .firstTimeOnly)
        return headers
    }
}

extension RequestOutcome {
    var status: Int? { if case .answered(let response) = self { response.status } else { nil } }
}
