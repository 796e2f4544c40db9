internal import CardRules
internal import Lanes

/// The timeline entries of one turn of one device as versioned bytes: one row of the store.
enum TimelineCodec {
    static let version: UInt8 = 3

    static func encode(_ rows: [TimelineRow]) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(version)
        writer.list(rows) { $0.row($1) }
        return writer.bytes
    }

    /// - Throws: `CodecFault`, naming the field.
    static func decode(_ bytes: [UInt8], of device: DeviceID) throws(CodecFault) -> [TimelineRow] {
        var reader = ByteReader(bytes)
        let found = try reader.byte("version")
        guard (1...version).contains(found) else { throw reader.fault("version", .version(Int(found))) }
        let rows = try reader.list("entries") { reader throws(CodecFault) in try reader.row(of: device, version: found)
        }
        try reader.finish("entries")
        return rows
    }
}

extension ByteWriter {
    fileprivate mutating func row(_ row: TimelineRow) {
        time(row.entry.at)
        optional(row.entry.key) { $0.id($1) }
        text(row.entry.kind.rawValue)
        text(row.entry.rule?.rawValue)
        text(row.entry.detail)
        text(row.entry.changesWhen)
        optional(row.entry.push) { $0.unsigned(UInt64($1.value)) }
        text(row.apnsID)
        optional(row.push) {
            $0.text($1.event.rawValue)
            $0.gateway($1.gateway)
            $0.int($1.priority)
            $0.optional($1.status) { $0.int($1) }
            $0.text($1.reason)
        }
        optional(row.entry.probe) {
            $0.text($1.variant?.rawValue)
            $0.text($1.event.rawValue)
        }
    }
}

extension ByteReader {
    fileprivate mutating func row(of device: DeviceID, version: UInt8) throws(CodecFault) -> TimelineRow {
        let at = try time("at")
        let key: CardKey? = try maybeID("key")
        let kind: TimelineEntry.Kind = try word("kind")
        let rule: Rule? = try optional("rule") { reader throws(CodecFault) in try reader.word("rule") }
        let detail = try text("detail")
        let changesWhen = version > 1 ? try maybeText("changesWhen") : nil
        let push = try optional("push") { reader throws(CodecFault) in
            guard let number = UInt32(exactly: try reader.unsigned("push")) else { throw reader.fault("push") }
            return PushNumber(number)
        }
        let apnsID = try maybeText("apnsID")
        let summary = try optional("summary") { reader throws(CodecFault) in try reader.summary() }
        let probe =
            version > 2
            ? try optional("probe") { reader throws(CodecFault) in try reader.probeStep() } : nil
        return TimelineRow(
            device: device,
            entry: TimelineEntry(
                at: at, key: key, kind: kind, rule: rule, detail: detail, changesWhen: changesWhen, push: push,
                probe: probe),
            apnsID: apnsID, push: summary)
    }

    private mutating func probeStep() throws(CodecFault) -> ProbeStep {
        let variant: ProbeVariant? = try optional("probe.variant") { reader throws(CodecFault) in
            try reader.word("probe.variant")
        }
        return ProbeStep(variant: variant, event: try word("probe.event"))
    }

    private mutating func summary() throws(CodecFault) -> PushSummary {
        let event: PushEvent = try word("summary.event")
        let gateway = try gateway("summary.gateway")
        let priority = try int("summary.priority")
        let status = try optional("summary.status") { reader throws(CodecFault) in try reader.int("summary.status") }
        return PushSummary(
            event: event, gateway: gateway, priority: priority, status: status, reason: try maybeText("summary.reason"))
    }
}
