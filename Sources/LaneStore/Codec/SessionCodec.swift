public import CardRules

/// A session as versioned bytes.
public enum SessionCodec {
    public static let version: UInt8 = 1

    public static func encode(_ session: Session) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(version)
        writer.id(session.id)
        writer.signed(session.version)
        writer.bool(session.isRunning)
        writer.time(session.stoppedAt)
        writer.signed(session.urgentVersion)
        writer.terms(session.terms)
        return writer.bytes
    }

    /// - Throws: `CodecFault`, naming the field.
    public static func decode(_ bytes: [UInt8]) throws(CodecFault) -> Session {
        var reader = ByteReader(bytes)
        let found = try reader.byte("version")
        guard found == version else { throw reader.fault("version", .version(Int(found))) }
        let id: CardKey = try reader.id("id")
        let version = try reader.signed("session version")
        let isRunning = try reader.bool("isRunning")
        let stopped = try reader.maybeTime("stoppedAt")
        let urgent = try reader.signed("urgentVersion")
        let terms = try reader.terms()
        try reader.finish("session")
        return Session(
            id: id, version: version, terms: terms, isRunning: isRunning, stoppedAt: stopped, urgentVersion: urgent)
    }
}

extension ByteWriter {
    fileprivate mutating func terms(_ terms: SessionTerms) {
        ids(terms.devices)
        text(terms.attributesType)
        json(terms.attributes)
        json(terms.content)
        text(terms.title)
        time(terms.startedAt)
        optional(terms.alert) {
            $0.text($1.title)
            $0.text($1.body)
        }
        bool(terms.isUrgent)
        ids(terms.startedOn)
    }
}

extension ByteReader {
    fileprivate mutating func terms() throws(CodecFault) -> SessionTerms {
        let devices: [DeviceID] = try ids("devices")
        let type = try text("attributesType")
        let attributes = try json("attributes", depth: 0)
        let content = try json("content", depth: 0)
        let title = try text("title")
        let started = try time("startedAt")
        let alert = try optional("alert") { reader throws(CodecFault) in
            let title = try reader.text("alert.title")
            return SessionAlert(title: title, body: try reader.text("alert.body"))
        }
        let isUrgent = try bool("isUrgent")
        return SessionTerms(
            devices: devices, attributesType: type, attributes: attributes, content: content, title: title,
            startedAt: started, alert: alert, isUrgent: isUrgent, startedOn: try ids("startedOn"))
    }
}
