/// One event of an event stream.
struct ServerSentEvent: Hashable, Sendable {
    /// `message` where the server names none.
    var name: String
    /// The lines of its data, with line feeds between them.
    var data: String
    /// The newest id that the stream has told, this event's or an earlier one's; to be sent as `Last-Event-ID`.
    var id: String
}

/// Reads `text/event-stream` (WHATWG HTML, 9.2.6) from bytes as they come, cut anywhere. Comments are skipped; an event
/// that the stream's end cuts off is dropped.
struct ServerSentEventReader {
    /// A line or an event's data grew beyond the limit.
    struct TooLong: Error, Equatable {}

    /// The pause before a new attempt that the server asks for.
    private(set) var retryMilliseconds: Int?
    private let limitBytes: Int
    private var line: [UInt8] = []
    private var endedWithReturn = false
    private var isFirstLine = true
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var id = ""

    init(limitBytes: Int) { self.limitBytes = limitBytes }

    /// - Returns: the events that these bytes complete.
    mutating func read(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            let followsReturn = endedWithReturn
            endedWithReturn = byte == 0x0d
            if byte == 0x0a && followsReturn { continue }
            if byte == 0x0a || byte == 0x0d {
                if let event = take(line) { events.append(event) }
                line.removeAll(keepingCapacity: true)
            } else {
                line.append(byte)
            }
            guard line.count + data.count <= limitBytes else { throw TooLong() }
        }
        return events
    }

    /// - Returns: the event that an empty line ends.
    private mutating func take(_ raw: [UInt8]) -> ServerSentEvent? {
        var raw = raw[...]
        if isFirstLine && raw.starts(with: [0xef, 0xbb, 0xbf]) { raw = raw.dropFirst(3) }
        isFirstLine = false
        guard !raw.isEmpty else { return finish() }
        let field = raw.prefix { $0 != UInt8(ascii: ":") }
        var value = raw.dropFirst(field.count + 1)
        if value.first == 0x20 { value = value.dropFirst() }
        switch String(decoding: field, as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { data.append(0x0a) }
            data += value
            hasData = true
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            if let number = Int(String(decoding: value, as: UTF8.self)), number >= 0 { retryMilliseconds = number }
        default: break
        }
        return nil
    }

    private mutating func finish() -> ServerSentEvent? {
        defer { (name, data, hasData) = ("", [], false) }
        guard hasData else { return nil }
        return ServerSentEvent(
            name: name.isEmpty ? "message" : name, data: String(decoding: data, as: UTF8.self), id: id)
    }
}
