public import CardRules

/// What sessions look like on the wire, rendered once for each distinct content (P9). Bounded, and emptied when full.
struct SessionPayloads: Sendable {
    private var contents: [ContentName: [UInt8]] = [:]

    static let contentsKept = 1024

    /// By the content, not the version: one that could not be kept gives its version to the next.
    private struct ContentName: Hashable {
        let id: CardKey
        let fingerprint: UInt64
    }

    /// The content state as bytes.
    mutating func content(of session: Session, using writer: inout JSONWriter) -> [UInt8] {
        let name = ContentName(id: session.id, fingerprint: session.fingerprint)
        if let bytes = contents[name] { return bytes }
        writer.reset()
        writer.value(session.terms.content)
        if contents.count >= Self.contentsKept { contents.removeAll(keepingCapacity: true) }
        contents[name] = writer.bytes
        return writer.bytes
    }
}

/// How large the pushes of a session are, in bytes (P8).
public struct SessionSizes: Hashable, Sendable {
    public let start: Int
    public let update: Int
    public let end: Int

    public var limit: Int { PayloadRenderer.maxPayloadBytes }
    public var largest: Int { max(start, update, end) }
    public var fits: Bool { largest <= limit }
}

extension PayloadRenderer {
    /// P8: what the largest pushes of a session come to, rendered as they would be sent.
    public mutating func sizes(of session: Session) -> SessionSizes {
        // Ten digits for each time; the alert of the first start or that of a successor, whichever is longer.
        let show = SessionShow(session: session, since: "00:00")
        let later = SessionShow(session: session, since: "00:00", isSuccessor: true)
        let start = max(
            sessionBytes(.start(withSound: true), show).count, sessionBytes(.start(withSound: false), later).count)
        return SessionSizes(
            start: start, update: sessionBytes(.update(staleDate: nil), show).count,
            end: sessionBytes(.end(dismissalDate: 9_999_999_999), show).count)
    }

    /// `nil` where it would pass 4,096 bytes, which the edge has refused; an end then goes without its content.
    mutating func payload(for order: PushOrder, _ show: SessionShow) -> [UInt8]? {
        let bytes = sessionBytes(order.kind, show, timestamp: order.timestamp)
        return bytes.count <= Self.maxPayloadBytes ? bytes : bare(order)
    }

    /// An end of a card of which nothing is known; the phone keeps what it shows (ref L18). No other push is without
    /// content.
    func bare(_ order: PushOrder) -> [UInt8]? {
        guard order.event == .end else { return nil }
        var writer = JSONWriter()
        writer.raw("{\"aps\":{")
        writer.tail(PayloadFrame(order))
        return writer.bytes
    }

    private mutating func sessionBytes(
        _ kind: PushOrder.Kind, _ show: SessionShow, timestamp: Int64 = 9_999_999_999
    ) -> [UInt8] {
        var writer = JSONWriter()
        let content = sessions.content(of: show.session, using: &writer)
        writer.reset()
        if case .start(let withSound) = kind {
            writer.startHead(profile: profile, show: show, withSound: withSound)
        } else {
            writer.raw("{\"aps\":{")
        }
        writer.raw("\"content-state\":")
        writer.raw(content)
        writer.raw(",")
        writer.tail(PayloadFrame(kind: kind, timestamp: timestamp))
        return writer.bytes
    }
}
