/// What has come of one answer so far. Pure but for the events that it passes on.
struct ClientIncoming {
    /// Why the transfer was given up from this side.
    private(set) var fault: ClientError?
    private let limitBytes: Int
    private let eventLimitBytes: Int
    private var headers: [ClientHeader] = []
    private var body: [UInt8] = []
    private var onEvent: (@Sendable (ServerSentEvent) -> Void)?
    private var reader: ServerSentEventReader
    private var isEventStream: Bool?

    /// Nothing is awaited.
    init() {
        (limitBytes, eventLimitBytes) = (0, 0)
        reader = ServerSentEventReader(limitBytes: 0)
    }

    init(_ job: ClientJob, _ configuration: ClientConfiguration) {
        limitBytes = configuration.maximumAnswerBytes
        eventLimitBytes = configuration.maximumEventBytes
        reader = ServerSentEventReader(limitBytes: eventLimitBytes)
        if case .events(let onEvent, _) = job.way { self.onEvent = onEvent }
    }

    /// One line of a head, with its line break; libcurl bounds its length and that of all of them.
    mutating func takeHeader(_ bytes: some Collection<UInt8>) {
        let line = String(decoding: bytes, as: UTF8.self)
        // A status line: of the answer, or of the one after an interim answer (RFC 9110, 15.2).
        if line.hasPrefix("HTTP/") { headers = [] }
        guard !line.hasPrefix("HTTP/"), let colon = line.firstIndex(of: ":") else { return }
        let value = line[line.index(after: colon)...]
        headers.append(ClientHeader(String(line[..<colon]), trimmed(value)))
    }

    /// - Returns: `false`: give up.
    mutating func takeBody(_ bytes: UnsafeRawBufferPointer, status: Int) -> Bool {
        if isEventStream == nil { isEventStream = onEvent != nil && isStream(status) }
        if isEventStream == true {
            do throws(ServerSentEventReader.TooLong) {
                for event in try reader.read(bytes) { onEvent?(event) }
                return true
            } catch {
                fault = .tooLong(limitBytes: eventLimitBytes)
                return false
            }
        }
        guard body.count + bytes.count <= limitBytes else {
            fault = .tooLong(limitBytes: limitBytes)
            return false
        }
        body += bytes
        return true
    }

    func outcome(status: Int, fault: ClientError?) -> ClientStreamEnd {
        if let fault { return .failed(fault) }
        if onEvent != nil && isStream(status) { return .ended }
        return .answered(ClientResponse(status: status, headers: headers, body: body))
    }

    private func isStream(_ status: Int) -> Bool {
        guard status == 200 else { return false }
        return headers.contains {
            $0.name.lowercased() == "content-type" && $0.value.lowercased().hasPrefix("text/event-stream")
        }
    }

    private func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.unicodeScalars.first, first == " " || first == "\t" { text.unicodeScalars.removeFirst() }
        while let last = text.unicodeScalars.last, " \t\r\n".unicodeScalars.contains(last) {
            text.unicodeScalars.removeLast()
        }
        return String(text)
    }
}
