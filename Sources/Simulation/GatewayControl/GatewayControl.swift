public import CardRules
internal import PushWire

/// What the control port does: one line in, one line of JSON out. Safe from any thread.
public struct GatewayControl: Sendable {
    private let server: GatewayServer
    private let backend: DeskBackend
    private let now: @Sendable () -> WallTime

    /// Of the commands, for `--help`.
    public static var usage: String { GatewayCommand.usage }

    public init(server: GatewayServer, backend: DeskBackend, now: @escaping @Sendable () -> WallTime) {
        self.server = server
        self.backend = backend
        self.now = now
    }

    /// Never fails: what is wrong with the line is in the answer, as `{"error":"..."}`.
    public func answer(_ line: String) -> String {
        do throws(GatewayCommand.Fault) {
            return try perform(GatewayCommand(line))
        } catch {
            return object { $0.field("error", error.text) }
        }
    }

    private func perform(_ command: GatewayCommand) throws(GatewayCommand.Fault) -> String {
        switch command {
        case .help: return object { $0.field("commands", GatewayCommand.usage) }
        case .counters: return counters()
        case .connections:
            return object { writer in
                for gateway in Gateway.allCases { writer.field(gateway.rawValue, server.connections(of: gateway)) }
            }
        case .requests(let count): return requests(count)
        case .deliveries(let count): return deliveries(count)
        case .streams(let gateway, let streams): each(gateway) { server.setStreams(streams, of: $0) }
        case .goAway(let gateway, let reason, let unprocessed):
            each(gateway) { server.order(.goAway(reason: reason, unprocessed: unprocessed), of: $0) }
        case .goAwayText(let gateway):
            each(gateway) {
                server.order(.goAwayText("Maximum active streams violated for this endpoint."), of: $0)
            }
        case .close(let gateway, let withReset):
            each(gateway) { server.order(withReset ? .reset : .close, of: $0) }
        case .fault(let gateway, let fault):
            each(gateway) { _ = server.withModel(of: $0) { $0.options.faults.append(fault) } }
        case .clearFaults(let gateway):
            each(gateway) { _ = server.withModel(of: $0) { $0.options.faults = [] } }
        case .set(let gateway, let name, let value):
            var fault: String?
            each(gateway) { side in
                fault = fault ?? (server.withModel(of: side) { $0.options.set(name, to: value) } ?? nil)
            }
            if let fault { throw GatewayCommand.Fault(text: fault) }
        case .token(let token, let standing): set(token, standing)
        }
        return #"{"done":true}"#
    }

    private func each(_ gateway: Gateway?, _ body: (Gateway) -> Void) {
        for side in Gateway.allCases where gateway == nil || gateway == side { body(side) }
    }

    private func set(_ token: [UInt8], _ standing: GatewayCommand.Standing) {
        let now = now()
        switch standing {
        case .live:
            backend.setUnknown(false, token)
            backend.setDead(since: nil, token)
        case .unknown: backend.setUnknown(true, token)
        case .dead: backend.setDead(since: now, token)
        case .reach(let reach): backend.withDesk { _ = $0.set(reach, of: token, at: now) }
        }
    }

    // MARK: - Reports

    private func counters() -> String {
        object { writer in
            for gateway in Gateway.allCases {
                guard let counters = server.withModel(of: gateway, { $0.counters }) else { continue }
                writer.object(gateway.rawValue) { writer in
                    writer.field("accepted", counters.accepted)
                    writer.object("refused") { writer in
                        for (reason, count) in counters.refused.sorted(by: { $0.key < $1.key }) {
                            writer.field(reason, count)
                        }
                    }
                    writer.field("unanswered", counters.unanswered)
                    writer.field("faults", counters.faults)
                    writer.field("turnedAway", counters.turnedAway)
                    writer.object("indexed") { writer in
                        for (field, count) in counters.indexed.sorted(by: { $0.key < $1.key }) {
                            writer.field(field, count)
                        }
                    }
                }
            }
            let counters = backend.withDesk { $0.counters }
            writer.object("deliveries") { writer in
                writer.field("delivered", counters.delivered)
                writer.field("stored", counters.stored)
                for (reason, count) in counters.discarded.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    writer.field(reason.rawValue, count)
                }
            }
        }
    }

    private func requests(_ count: Int) -> String {
        object { writer in
            for gateway in Gateway.allCases {
                let newest = server.withModel(of: gateway) { Array($0.requests.suffix(count)) } ?? []
                writer.list(gateway.rawValue, newest) { writer, entry in
                    writer.field("at", Int(entry.at.unixSeconds))
                    writer.field("connection", Int(entry.connection))
                    writer.field("stream", Int(entry.request.stream))
                    writer.field("method", entry.request.method)
                    writer.field("path", entry.request.path)
                    writer.object("headers") { writer in
                        for header in entry.request.headers { writer.field(header.name, header.value) }
                    }
                    writer.field("body", String(decoding: entry.request.body.prefix(5120), as: UTF8.self))
                    writer.field("status", entry.status ?? 0)
                    writer.field("reason", entry.reason ?? "")
                }
            }
        }
    }

    private func deliveries(_ count: Int) -> String {
        let now = now()
        let newest = backend.withDesk { desk -> [DeliveryDesk.Entry] in
            _ = desk.run(until: now)
            return Array(desk.log.suffix(count))
        }
        return object { writer in
            writer.list("deliveries", newest) { writer, entry in
                writer.field("apnsID", entry.apnsID)
                writer.field("uniqueID", entry.uniqueID ?? "")
                writer.field("token", hexText(entry.token))
                writer.field("at", Int(entry.at.unixSeconds))
                writer.field("fate", entry.fate.word)
            }
        }
    }

    private func object(_ body: (inout ReportWriter) -> Void) -> String {
        var writer = ReportWriter()
        body(&writer)
        return writer.text
    }
}

extension DeliveryDesk.Fate {
    fileprivate var word: String {
        switch self {
        case .delivered: "delivered"
        case .stored: "stored"
        case .discarded(let reason): "discarded: \(reason.rawValue)"
        }
    }
}

/// Writes the members of JSON objects, commas in between.
private struct ReportWriter {
    private var writer = JSONWriter()
    private var isFirst = true

    var text: String { "{" + String(decoding: writer.bytes, as: UTF8.self) + "}" }

    private mutating func name(_ name: String) {
        if !isFirst { writer.raw(",") }
        isFirst = false
        writer.string(name)
        writer.raw(":")
    }

    mutating func field(_ key: String, _ value: String) {
        name(key)
        writer.string(value)
    }

    mutating func field(_ key: String, _ value: Int) {
        name(key)
        writer.integer(Int64(value))
    }

    mutating func object(_ key: String, _ body: (inout ReportWriter) -> Void) {
        name(key)
        nested(body)
    }

    mutating func list<Element>(
        _ key: String, _ elements: [Element], _ body: (inout ReportWriter, Element) -> Void
    ) {
        name(key)
        writer.raw("[")
        for (place, element) in elements.enumerated() {
            if place > 0 { writer.raw(",") }
            nested { body(&$0, element) }
        }
        writer.raw("]")
        isFirst = false
    }

    private mutating func nested(_ body: (inout ReportWriter) -> Void) {
        writer.raw("{")
        isFirst = true
        body(&self)
        writer.raw("}")
        isFirst = false
    }
}
