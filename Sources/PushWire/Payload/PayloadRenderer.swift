public import CardRules

/// Turns what lanes order into requests. One for each shard and app, kept, so that content is rendered once for each
/// distinct content of a snapshot, and payloads that say the same share one array (P9).
///
/// A new snapshot version empties its tables; within one they are bounded, and emptied when full.
public struct PayloadRenderer: Sendable {
    public let profile: AppProfile
    private let topic: String
    private var version: UInt64?
    private var places: [SlateArrangement: Int] = [:]
    private var contents: [Rendered?] = []
    private var payloads: [PayloadKey: [UInt8]] = [:]
    var sessions = SessionPayloads()
    private var head = JSONWriter()
    private var tail = JSONWriter()

    /// P8, in bytes: APNs refuses more (ref R8).
    public static let maxPayloadBytes = 4096
    /// Distinct contents kept of one snapshot.
    static let contentsKept = 4096
    /// Distinct payloads kept of one snapshot: 16 MiB at most.
    static let payloadsKept = 4096

    public init(profile: AppProfile) {
        self.profile = profile
        self.topic = profile.topic
    }

    /// The request for an order, its content as the snapshot has it.
    ///
    /// - Returns: `nil` when there is nothing to show, so that the order must end as not sent: the snapshot holds none
    ///   of its games, or the front alone passes 4,096 bytes. An end is never refused for that: it goes without a
    ///   content state, and the phone keeps the last one (ref L18).
    public mutating func request(for order: PushOrder, snapshot: SlateSnapshot, id: ApnsID) -> PushRequest? {
        let made =
            switch order.content {
            case .slate(let arrangement):
                if let probe = order.probe {
                    probePayload(for: order, probe, arrangement, snapshot: snapshot)
                } else {
                    payload(for: order, arrangement, snapshot: snapshot)
                }
            case .session(let show): payload(for: order, show)
            case .nothing: bare(order)
            }
        guard let payload = made else { return nil }
        return PushRequest(
            id: id, address: order.address, topic: topic, event: order.event, priority: order.priority,
            expiration: order.expiration, collapseID: order.event == .start ? collapseID(of: order.key) : nil,
            payload: payload)
    }

    mutating func payload(
        for order: PushOrder, _ arrangement: SlateArrangement, snapshot: SlateSnapshot
    ) -> [UInt8]? {
        if version != snapshot.version || contents.count >= Self.contentsKept || payloads.count >= Self.payloadsKept {
            version = snapshot.version
            places.removeAll(keepingCapacity: true)
            contents.removeAll(keepingCapacity: true)
            payloads.removeAll(keepingCapacity: true)
        }
        let place = place(of: arrangement, in: snapshot)
        let key = PayloadKey(content: place, frame: PayloadFrame(order))
        if let payload = payloads[key] { return payload }
        guard let payload = render(key.frame, contents[place], arrangement, snapshot) else { return nil }
        payloads[key] = payload
        return payload
    }

    private mutating func place(of arrangement: SlateArrangement, in snapshot: SlateSnapshot) -> Int {
        if let place = places[arrangement] { return place }
        contents.append(
            SlateContent(arrangement: arrangement, snapshot: snapshot).map { content in
                Rendered(
                    bytes: ContentBytes(content, using: &head),
                    names: AlertNames(front: content.front, home: content.games[0].home, away: content.games[0].away))
            })
        places[arrangement] = contents.count - 1
        return contents.count - 1
    }

    private mutating func render(
        _ frame: PayloadFrame, _ content: Rendered?, _ arrangement: SlateArrangement, _ snapshot: SlateSnapshot
    ) -> [UInt8]? {
        head.reset()
        tail.reset()
        tail.tail(frame)
        guard let content else {
            guard case .end = frame.kind else { return nil }
            head.raw("{\"aps\":{")
            return head.bytes + tail.bytes
        }
        if case .start(let withSound) = frame.kind {
            head.startHead(profile: profile, names: content.names, withSound: withSound)
        } else {
            head.raw("{\"aps\":{")
        }
        head.raw("\"content-state\":")
        return fitted(content.bytes) ?? withoutDetail(frame, arrangement, snapshot)
    }

    /// P8: as many games as fit, from the front on. `nil` when the front alone does not.
    private func fitted(_ content: ContentBytes) -> [UInt8]? {
        let room = Self.maxPayloadBytes - head.bytes.count - tail.bytes.count - 1
        var games = content.games
        while games > 1, content.count(games: games) > room { games -= 1 }
        guard content.count(games: games) <= room else { return nil }
        var payload: [UInt8] = []
        payload.reserveCapacity(head.bytes.count + content.count(games: games) + 1 + tail.bytes.count)
        payload.append(contentsOf: head.bytes)
        content.append(games: games, to: &payload)
        payload.append(UInt8(ascii: ","))
        payload.append(contentsOf: tail.bytes)
        return payload
    }

    /// A front that passes the limit by itself stands without its detail; without a push it would not stand at all.
    private func withoutDetail(
        _ frame: PayloadFrame, _ arrangement: SlateArrangement, _ snapshot: SlateSnapshot
    ) -> [UInt8]? {
        guard var content = SlateContent(arrangement: arrangement, snapshot: snapshot) else { return nil }
        content.games = Array(content.games.prefix(1))
        content.games[0].detail = nil
        if let payload = fitted(ContentBytes(content)) { return payload }
        guard case .end = frame.kind else { return nil }
        return Array("{\"aps\":{".utf8) + tail.bytes
    }
}

private struct Rendered: Sendable {
    let bytes: ContentBytes
    let names: AlertNames
}

private struct PayloadKey: Hashable, Sendable {
    let content: Int
    let frame: PayloadFrame
}

/// `apns-collapse-id` of a start (P10): the card key; of one longer than 64 bytes its beginning and a hash.
func collapseID(of key: CardKey) -> String {
    let bytes = key.text.utf8
    guard bytes.count > 64 else { return key.text }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let digits = (0..<8).map { UInt8(truncatingIfNeeded: hash >> (56 - 8 * UInt64($0))) }
    return String(decoding: bytes.prefix(47), as: UTF8.self) + ":" + hexText(digits)
}
