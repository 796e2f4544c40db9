import CardRules
import Foundation
import PushWire
import Testing

/// P1, P3, P4, P8, P11: what the pushes of a session carry.
@Suite struct SessionPayloadTests {
    private static let attributes = JSONValue.object(["session": .string("nap-7"), "child": .string("Zoë 🐻")])
    private static let content = JSONValue.object([
        "startedAt": .integer(1_760_132_400), "paused": .bool(false), "note": .string("Schlaf, \"gut\""),
        "factor": .number(1.5), "laps": .array([.integer(3), .integer(4)]),
    ])

    private static func session(
        alert: SessionAlert? = nil, content: JSONValue = content, attributes: JSONValue = attributes, version: Int64 = 1
    ) -> Session {
        Session(
            id: CardKey(unchecked: "nap-7"), version: version,
            terms: SessionTerms(
                devices: [DeviceID(unchecked: "d1")], attributesType: "SleepAttributes", attributes: attributes,
                content: content, title: "Sleep", startedAt: WallTime(seconds: Int64(1_760_132_400)), alert: alert))
    }

    private static func order(
        _ session: Session, _ kind: PushOrder.Kind, isSuccessor: Bool = false, timestamp: Int64 = 1_795_039_201
    ) -> PushOrder {
        PushOrder(
            number: PushNumber(1), key: session.id, address: PushAddress(token: [0xa1], gateway: .production),
            priority: .immediate, timestamp: timestamp, expiration: timestamp + 600, relevance: nil,
            content: .session(SessionShow(session: session, since: "23:40", isSuccessor: isSuccessor)), kind: kind)
    }

    private static func payload(_ order: PushOrder, profile: AppProfile = lineup) throws -> [UInt8] {
        var renderer = PayloadRenderer(profile: profile)
        let request = renderer.request(for: order, snapshot: .empty, id: someID)
        return try #require(request).payload
    }

    private static func alert(_ order: PushOrder, profile: AppProfile = lineup) throws -> [String: Any] {
        try #require(try aps(payload(order, profile: profile))["alert"] as? [String: Any])
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Golden")
    private static let own = SessionAlert(title: "Good night", body: "Sleep well")
    private static let localized = AppProfile(
        id: lineup.id, bundleID: lineup.bundleID, slateAttributesType: lineup.slateAttributesType,
        texts: AlertTexts(sessionBody: .localized(key: "SINCE", args: ["{since}"])))

    @Test(arguments: [
        ("session-start", lineup, order(session(), .start(withSound: true))),
        ("session-start-own-alert", lineup, order(session(alert: own), .start(withSound: false))),
        ("session-start-localized", localized, order(session(), .start(withSound: false))),
        ("session-successor", lineup, order(session(alert: own), .start(withSound: false), isSuccessor: true)),
        ("session-update", lineup, order(session(), .update(staleDate: nil))),
        ("session-end", lineup, order(session(), .end(dismissalDate: 1_795_039_201))),
    ])
    func `P1-P11: a session's payload is these bytes`(name: String, profile: AppProfile, order: PushOrder) throws {
        let payload = try Self.payload(order, profile: profile)
        let file = Self.folder.appending(path: "\(name).json")
        if ProcessInfo.processInfo.environment["LANEKEEPER_GOLDEN"] == "write" {
            try Data(payload + [UInt8(ascii: "\n")]).write(to: file)
        }
        let golden = try Data(contentsOf: file)
        #expect(String(decoding: golden, as: UTF8.self) == String(decoding: payload, as: UTF8.self) + "\n")
    }

    @Test func `P3: the alert says since when, never that something started`() throws {
        let alert = try Self.alert(Self.order(Self.session(), .start(withSound: false)))
        #expect(alert["title"] as? String == "Sleep" && alert["body"] as? String == "Since 23:40")
        #expect(alert["sound"] == nil)
    }

    @Test func `P3: the caller's alert serves the first start, and a reissue only if it tells since when`() throws {
        let plain = Self.session(alert: Self.own)
        #expect(try Self.alert(Self.order(plain, .start(withSound: false)))["body"] as? String == "Sleep well")
        let again = try Self.alert(Self.order(plain, .start(withSound: false), isSuccessor: true))
        #expect(again["title"] as? String == "Sleep" && again["body"] as? String == "Since 23:40")
        let since = Self.session(alert: SessionAlert(title: "Asleep", body: "from {since} on"))
        for isSuccessor in [false, true] {
            let alert = try Self.alert(Self.order(since, .start(withSound: false), isSuccessor: isSuccessor))
            #expect(alert["title"] as? String == "Asleep" && alert["body"] as? String == "from 23:40 on")
        }
    }

    @Test func `P4: no push of a session has a stale date, P7: nor a relevance score`() throws {
        for kind: PushOrder.Kind in [.start(withSound: true), .update(staleDate: nil), .end(dismissalDate: 5)] {
            let aps = try aps(Self.payload(Self.order(Self.session(), kind)))
            #expect(aps["stale-date"] == nil && aps["relevance-score"] == nil)
        }
    }

    @Test func `R2, P9: the successor carries the same bytes of content as the update before it`() throws {
        func content(_ payload: [UInt8]) -> String {
            let text = String(decoding: payload, as: UTF8.self)
            guard let from = text.firstRange(of: "\"content-state\":"), let to = text.firstRange(of: ",\"event\"")
            else {
                return "none"
            }
            return String(text[from.upperBound..<to.lowerBound])
        }
        let update = try Self.payload(Self.order(Self.session(), .update(staleDate: nil)))
        let successor = try Self.payload(Self.order(Self.session(), .start(withSound: false), isSuccessor: true))
        #expect(content(update) == content(successor) && content(update) != "none")
    }

    /// Symptom 1: dates decoded as counted from 2001.
    @Test func `Times show 31 years off: whole Unix seconds pass through as the caller wrote them`() throws {
        struct State: Decodable { let startedAt: Int }
        for kind: PushOrder.Kind in [.start(withSound: false), .update(staleDate: nil)] {
            let aps = try aps(Self.payload(Self.order(Self.session(), kind)))
            let state = try JSONSerialization.data(withJSONObject: try #require(aps["content-state"]))
            #expect(try JSONDecoder().decode(State.self, from: state).startedAt == 1_760_132_400)
        }
    }

    @Test func `a new version is rendered anew, also under the same id`() throws {
        let renderer = KeptRenderer(profile: lineup)
        func text(_ session: Session) -> String {
            let request = renderer.request(
                for: Self.order(session, .update(staleDate: nil)), snapshot: .empty, id: someID)
            return request.map { String(decoding: $0.payload, as: UTF8.self) } ?? ""
        }
        let first = text(Self.session())
        let second = text(Self.session(content: .object(["paused": .bool(true)]), version: 2))
        #expect(first.contains("\"paused\":false") && second.contains("{\"paused\":true}"))
        #expect(text(Self.session()) == first)
    }

    @Test func `P8: the sizes are those of the largest payloads that can leave`() throws {
        var renderer = PayloadRenderer(profile: lineup)
        let sizes = renderer.sizes(of: Self.session())
        let start = try Self.payload(Self.order(Self.session(), .start(withSound: true)))
        let update = try Self.payload(Self.order(Self.session(), .update(staleDate: nil)))
        let end = try Self.payload(Self.order(Self.session(), .end(dismissalDate: 1_795_039_201)))
        #expect(sizes.start == start.count && sizes.update == update.count && sizes.end == end.count)
        // A short alert of the caller's: the successor's own is longer.
        let short = Self.session(alert: SessionAlert(title: "a", body: "b"))
        let successor = try Self.payload(Self.order(short, .start(withSound: false), isSuccessor: true))
        #expect(renderer.sizes(of: short).start >= successor.count)
    }

    @Test func `P8: at the limit a start leaves, above it none does, and an end goes without its content`() throws {
        var renderer = PayloadRenderer(profile: lineup)
        func filled(_ count: Int) -> Session {
            Self.session(content: .object(["text": .string(String(repeating: "é", count: count))]))
        }
        let spare = 4096 - renderer.sizes(of: filled(0)).start
        let fits = filled(spare / 2)
        let excess = filled(spare / 2 + 1)
        #expect(renderer.sizes(of: fits).fits && !renderer.sizes(of: excess).fits)
        #expect(renderer.sizes(of: excess).limit == 4096)
        #expect(try Self.payload(Self.order(fits, .start(withSound: true))).count <= 4096)
        let start = renderer.request(for: Self.order(excess, .start(withSound: true)), snapshot: .empty, id: someID)
        #expect(start == nil)
        let huge = filled(3000)
        let end = try Self.payload(Self.order(huge, .end(dismissalDate: 7)))
        #expect(try aps(end)["content-state"] == nil && aps(end)["event"] as? String == "end")
    }

    @Test func `an end of a card of which nothing is known goes without content; nothing else does`() throws {
        var renderer = PayloadRenderer(profile: lineup)
        func order(_ kind: PushOrder.Kind) -> PushOrder {
            PushOrder(
                number: PushNumber(1), key: CardKey(unchecked: "nap"),
                address: PushAddress(token: [1], gateway: .production), priority: .immediate, timestamp: 9,
                expiration: 9,
                relevance: nil, content: CardContent.nothing, kind: kind)
        }
        let end = renderer.request(for: order(.end(dismissalDate: 5)), snapshot: .empty, id: someID)
        #expect(try aps(#require(end).payload)["content-state"] == nil)
        let start = renderer.request(for: order(.start(withSound: false)), snapshot: .empty, id: someID)
        let update = renderer.request(for: order(.update(staleDate: nil)), snapshot: .empty, id: someID)
        #expect(start == nil && update == nil)
    }

    @Test func `P1: a session's texts in the configuration know {since} and nothing else`() {
        #expect(AlertText.plain("Since {since}").sessionFault == nil)
        #expect(AlertText.plain("{home}").sessionFault != nil && AlertText.plain("  ").sessionFault != nil)
        #expect(AlertText.localized(key: "K", args: ["{since}"]).sessionFault == nil)
        #expect(AlertText.localized(key: "K", args: ["{away}"]).sessionFault != nil)
        #expect(AlertText.plain("{since}").fault != nil)
    }
}
