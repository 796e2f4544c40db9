import CardRules
import Foundation
import Testing

@testable import Simulation

@Suite struct GatewayModelTests {
    static let now = WallTime(milliseconds: 1_795_000_000_000)
    static let token = [UInt8](repeating: 0xa1, count: 80)
    static let topic = "com.example.lineup.push-type.liveactivity"

    /// A provider token whose signature the test's keys take for good when its bytes are all `mark`.
    static func providerToken(
        kid: String = "KEY1234567", iss: String = "TEAM123456", iat: Int64 = 1_795_000_000, mark: UInt8 = 7
    ) -> String {
        func part(_ data: Data) -> String {
            data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "=", with: "")
        }
        return [
            part(Data(#"{"alg":"ES256","kid":"\#(kid)"}"#.utf8)), part(Data(#"{"iss":"\#(iss)","iat":\#(iat)}"#.utf8)),
            part(Data(repeating: mark, count: 64)),
        ].joined(separator: ".")
    }

    static func options(_ change: (inout GatewayOptions) -> Void = { _ in }) -> GatewayOptions {
        var options = GatewayOptions()
        options.keys = [
            ProviderKey(keyID: "KEY1234567", teamID: "TEAM123456") { _, signature in signature.allSatisfy { $0 == 7 } },
            ProviderKey(keyID: "OTHERKEY99", teamID: "TEAM123456", gateways: [.sandbox]) { _, signature in
                signature.allSatisfy { $0 == 7 }
            },
        ]
        change(&options)
        return options
    }

    static func request(
        method: String = "POST", path: String? = nil, without: Set<String> = [], with changed: [String: String] = [:],
        extra: [GatewayHeader] = [], body: [UInt8] = Array(#"{"aps":{}}"#.utf8)
    ) -> GatewayRequest {
        let standard = [
            GatewayHeader("authorization", "bearer " + providerToken()),
            GatewayHeader("apns-id", "0f8e4c1a-0000-4000-8000-00000000000a"), GatewayHeader("apns-topic", topic),
            GatewayHeader("apns-push-type", "liveactivity"), GatewayHeader("apns-priority", "10"),
            GatewayHeader("apns-expiration", "1795000600"), GatewayHeader("apns-collapse-id", "slate"),
        ]
        let headers = standard.filter { !without.contains($0.name) }
            .map { field in changed[field.name].map { GatewayHeader(field.name, $0) } ?? field }
        return GatewayRequest(
            method: method, path: path ?? "/3/device/" + hexText(token), headers: headers + extra, body: body)
    }

    static func answer(
        to request: GatewayRequest, gateway: Gateway = .production, options: GatewayOptions = options(),
        standing: TokenStanding = .live(bundleID: "com.example.lineup"), at now: WallTime = now
    ) -> GatewayAnswer {
        var model = GatewayModel(gateway: gateway, options: options, seed: 1)
        var connection = model.openConnection()
        return model.answer(request, on: &connection, at: now) { $0 == token ? standing : .unknown }
    }

    @Test func `G11: a good push is accepted, its id echoed, and handed to the phone`() {
        let answer = Self.answer(to: Self.request())
        #expect(answer.status == 200 && answer.reason == nil && answer.body.isEmpty)
        #expect(answer.apnsID == "0f8e4c1a-0000-4000-8000-00000000000a")
        #expect(answer.uniqueID == nil)
        #expect(answer.delivery?.token == Self.token && answer.delivery?.gateway == .production)
        #expect(answer.delivery?.push.priority == 10 && answer.delivery?.push.expiration == 1_795_000_600)
        #expect(answer.delivery?.push.bundleID == "com.example.lineup")
    }

    @Test func `G11: only the sandbox gives a unique id`() {
        let answer = Self.answer(to: Self.request(), gateway: .sandbox)
        #expect(answer.uniqueID.map(isCanonicalUUID) == true)
        #expect(answer.headers.map(\.name) == ["apns-id", "apns-unique-id"])
    }

    static let refused: [(GatewayRequest, Int, String)] = [
        (request(method: "GET"), 405, "MethodNotAllowed"),
        (request(path: "/3/devices/a1"), 404, "BadPath"), (request(path: "/4/device/a1"), 404, "BadPath"),
        (request(path: "/3/device/"), 400, "MissingDeviceToken"),
        (request(path: "/3/device/a1a1"), 400, "BadDeviceToken"),
        (request(path: "/3/device/xyz"), 400, "BadDeviceToken"),
        (request(without: ["apns-topic"]), 400, "MissingTopic"),
        (request(with: ["apns-topic": "com.example.lineup"]), 400, "BadTopic"),
        (request(with: ["apns-push-type": "alert"]), 400, "BadTopic"),
        (request(with: ["apns-topic": "com.example.other.push-type.liveactivity"]), 400, "DeviceTokenNotForTopic"),
        (request(with: ["apns-push-type": "livectivity"]), 400, "InvalidPushType"),
        (request(without: ["apns-push-type"]), 400, "InvalidPushType"),
        (request(with: ["apns-priority": "7"]), 400, "BadPriority"),
        (request(with: ["apns-priority": "1"]), 400, "BadPriority"),
        (request(with: ["apns-id": "not-a-uuid"]), 400, "BadMessageId"),
        (request(with: ["apns-expiration": "-1"]), 400, "BadExpirationDate"),
        (request(with: ["apns-expiration": "1.5"]), 400, "BadExpirationDate"),
        (request(with: ["apns-collapse-id": ""]), 400, "BadCollapseId"),
        (request(with: ["apns-collapse-id": String(repeating: "é", count: 33)]), 400, "BadCollapseId"),
        (request(extra: [GatewayHeader("apns-priority", "5")]), 400, "DuplicateHeaders"),
        (request(body: []), 400, "PayloadEmpty"),
        (request(body: [UInt8](repeating: 0x20, count: 4097)), 413, "PayloadTooLarge"),
        (request(without: ["authorization"]), 403, "MissingProviderToken"),
        (request(with: ["authorization": "basic abc"]), 403, "MissingProviderToken"),
        (request(with: ["authorization": "bearer abc"]), 403, "InvalidProviderToken"),
        (request(with: ["authorization": "bearer " + providerToken(mark: 8)]), 403, "InvalidProviderToken"),
        (request(with: ["authorization": "bearer " + providerToken(kid: "NOSUCHKEY0")]), 403, "InvalidProviderToken"),
        (request(with: ["authorization": "bearer " + providerToken(iss: "TEAM000000")]), 403, "InvalidProviderToken"),
        (
            request(with: ["authorization": "bearer " + providerToken(iat: 1_795_000_000 - 3601)]), 403,
            "ExpiredProviderToken"
        ),
        (
            request(with: ["authorization": "bearer " + providerToken(iat: 1_795_000_000 + 3601)]), 403,
            "ExpiredProviderToken"
        ),
        (
            request(with: ["authorization": "bearer " + providerToken(kid: "OTHERKEY99")]), 403,
            "BadEnvironmentKeyIdInToken"
        ),
    ]

    @Test(arguments: refused)
    func `G2 to G15: each fault is refused with Apple's word`(request: GatewayRequest, status: Int, reason: String) {
        let answer = Self.answer(to: request)
        #expect(answer.status == status)
        #expect(answer.reason == reason)
        #expect(answer.delivery == nil)
        #expect(answer.body == Array("{\"reason\":\"\(reason)\"}".utf8))
    }

    @Test func `G9: a body of exactly 4096 bytes passes`() {
        #expect(Self.answer(to: Self.request(body: [UInt8](repeating: 0x20, count: 4096))).status == 200)
    }

    @Test func `G7: an id is made where there is none, and the same id twice is no duplicate`() {
        #expect(isCanonicalUUID(Self.answer(to: Self.request(without: ["apns-id"])).apnsID))
        var model = GatewayModel(gateway: .production, options: Self.options(), seed: 1)
        var connection = model.openConnection()
        for _ in 0..<2 {
            let answer = model.answer(Self.request(), on: &connection, at: Self.now) { _ in
                .live(bundleID: "com.example.lineup")
            }
            #expect(answer.delivery != nil)
        }
        #expect(model.counters.accepted == 2)
    }

    @Test func `G13: a dead update token is 200 for half an hour, then 410 with milliseconds`() {
        let dead = TokenStanding.dead(bundleID: "com.example.lineup", since: Self.now, kind: .update)
        let early = Self.answer(
            to: Self.request(), standing: dead, at: Self.now.advanced(bySeconds: 1799))
        #expect(early.status == 200)
        let late = Self.answer(to: Self.request(), standing: dead, at: Self.now.advanced(bySeconds: 1800))
        #expect(late.status == 410 && late.reason == "ExpiredToken" && late.timestamp == Self.now.milliseconds)
        #expect(
            String(decoding: late.body, as: UTF8.self) == #"{"reason":"ExpiredToken","timestamp":1795000000000}"#)
    }

    @Test func `G13: a dead push-to-start token is 200 for ever unless told otherwise`() {
        let dead = TokenStanding.dead(
            bundleID: "com.example.lineup", since: Self.now.advanced(bySeconds: -9e6), kind: .pushToStart)
        #expect(Self.answer(to: Self.request(), standing: dead).status == 200)
        let prompt = Self.answer(
            to: Self.request(), options: Self.options { $0.deadPushToStart = .never }, standing: dead)
        #expect(prompt.status == 410 && prompt.reason == "Unregistered")
    }

    @Test func `G16: a second new provider token within 20 min on one connection is too many, on another it is fine`() {
        var model = GatewayModel(gateway: .production, options: Self.options(), seed: 1)
        var first = model.openConnection()
        var second = model.openConnection()
        func push(_ iat: Int64, on connection: inout GatewayConnection, after seconds: Double) -> String? {
            model.answer(
                Self.request(with: ["authorization": "bearer " + Self.providerToken(iat: iat)]), on: &connection,
                at: Self.now.advanced(bySeconds: seconds)
            ) { _ in .live(bundleID: "com.example.lineup") }.reason
        }
        #expect(push(1_795_000_000, on: &first, after: 0) == nil)
        #expect(push(1_795_000_000, on: &first, after: 600) == nil)
        #expect(push(1_795_000_001, on: &first, after: 1199) == "TooManyProviderTokenUpdates")
        #expect(push(1_795_000_001, on: &second, after: 1199) == nil)
        #expect(push(1_795_000_001, on: &first, after: 1200) == nil)
        #expect(push(1_795_000_000, on: &first, after: 1300) == "TooManyProviderTokenUpdates")
    }

    @Test(arguments: [GatewayOptions.Wedge.never, GatewayOptions.Wedge.refuse, GatewayOptions.Wedge.silence])
    func `G17: a connection may stay wedged after an expired provider token`(wedge: GatewayOptions.Wedge) {
        var model = GatewayModel(gateway: .production, options: Self.options { $0.wedge = wedge }, seed: 1)
        var connection = model.openConnection()
        let old = Self.request(with: ["authorization": "bearer " + Self.providerToken(iat: 1_794_990_000)])
        for request in [old, Self.request()] {
            let answer = model.answer(request, on: &connection, at: Self.now) { _ in
                .live(bundleID: "com.example.lineup")
            }
            if request == old {
                #expect(answer.reason == "ExpiredProviderToken")
            } else {
                #expect(answer.status == (wedge == .never ? 200 : 403))
                #expect(answer.effect == (wedge == .silence ? .silence : .none))
            }
        }
    }

    @Test func `G19: one stream until the first request with a valid provider token, then a thousand`() {
        var model = GatewayModel(gateway: .production, options: Self.options(), seed: 1)
        var connection = model.openConnection()
        #expect(connection.streamLimit == 1)
        _ = model.answer(Self.request(without: ["authorization"]), on: &connection, at: Self.now) { _ in
            .live(bundleID: "com.example.lineup")
        }
        #expect(connection.streamLimit == 1)
        _ = model.answer(Self.request(), on: &connection, at: Self.now) { _ in .live(bundleID: "com.example.lineup") }
        #expect(connection.streamLimit == 1000)
    }

    @Test func `G20: under throttling a refusal takes the connection to one stream, and a 200 brings it back`() {
        var model = GatewayModel(
            gateway: .production,
            options: Self.options {
                $0.throttlesOnErrors = true
                $0.errorsUntilGoAway = 10
            }, seed: 1)
        var connection = model.openConnection()
        var known = true
        func push() -> GatewayAnswer {
            model.answer(Self.request(), on: &connection, at: Self.now) { _ in
                known ? .live(bundleID: "com.example.lineup") : .unknown
            }
        }
        _ = push()
        known = false
        #expect(push().effect == .none)
        #expect(connection.streamLimit == 1)
        known = true
        _ = push()
        #expect(connection.streamLimit == 1000)
        known = false
        #expect(push().effect == .goAway(reason: "BadDeviceToken"))
    }

    @Test func `G31: the newest requests are kept, and no provider token with them`() {
        var model = GatewayModel(gateway: .production, options: Self.options { $0.requestsKept = 2 }, seed: 1)
        var connection = model.openConnection()
        for path in ["/1", "/2", "/3"] {
            _ = model.answer(Self.request(path: path), on: &connection, at: Self.now) { _ in .unknown }
        }
        #expect(model.requests.map(\.request.path) == ["/2", "/3"])
        #expect(model.requests.allSatisfy { $0.request.headers.contains(GatewayHeader("authorization", "(redacted)")) })
        #expect(model.counters.refused == ["BadPath": 3])
    }
}
