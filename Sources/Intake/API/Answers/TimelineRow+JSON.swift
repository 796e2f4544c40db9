internal import CardRules
internal import Lanes

extension SequencedTimelineRow {
    /// The members of one entry (api.md).
    ///
    /// - Parameter withDevice: where entries of several devices stand beside each other.
    func write(_ json: inout JSONBuilder, withDevice: Bool) {
        json.member("seq", sequence)
        if withDevice { json.member("device", row.device.text) }
        json.member("at", row.entry.at)
        json.member("key", row.entry.key?.text)
        json.member("kind", row.entry.kind.rawValue)
        json.member("rule", row.entry.rule?.rawValue)
        json.member("detail", row.entry.detail)
        json.member("push", row.push) { json, push in
            json.member("id", row.apnsID)
            json.member("event", push.event.rawValue)
            json.member("gateway", push.gateway.rawValue)
            json.member("priority", push.priority)
            json.member("status", push.status)
            json.member("reason", push.reason)
        }
        json.member("probe", row.entry.probe) { json, step in
            json.member("variant", step.variant?.rawValue)
            json.member("event", step.event.rawValue)
        }
    }

    /// One server-sent event: a JSON text has no line feed.
    func event(withDevice: Bool) -> [UInt8] {
        var bytes = Array("id: \(sequence)\nevent: \(row.entry.kind.rawValue)\ndata: ".utf8)
        bytes += JSONBuilder.object { json in write(&json, withDevice: withDevice) }
        bytes += Array("\n\n".utf8)
        return bytes
    }
}
