import CardRules
import PushWire
import Testing

@Suite struct RequestHeadersTests {
    private let token = ProviderToken(
        claims: ProviderTokenClaims(keyID: "KEY1234567", teamID: "TEAM123456", issuedAt: 1), jwt: Array("a.b.c".utf8))

    private func lines(_ request: PushRequest) -> [String] {
        headers(of: request, providerToken: token, authority: Array("api.push.apple.com".utf8))
            .map { "\($0.name) \(String(decoding: $0.value, as: UTF8.self)) \($0.indexing)" }
    }

    @Test func `ref 1.2, T24: a start's header, each field with its indexing, pseudo-header fields first`() {
        let request = PushRequest(
            id: someID, address: PushAddress(token: Array(repeating: 0xaf, count: 80), gateway: .production),
            topic: "com.example.lineup.push-type.liveactivity", event: .start, priority: .immediate,
            expiration: 1_795_039_801, collapseID: "slate", payload: [])
        #expect(
            lines(request) == [
                ":method POST always", ":scheme https always",
                ":path /3/device/\(String(repeating: "af", count: 80)) never", ":authority api.push.apple.com always",
                "authorization bearer a.b.c never", "apns-push-type liveactivity always",
                "apns-topic com.example.lineup.push-type.liveactivity always", "apns-priority 10 always",
                "apns-id 01234567-89ab-4def-bedc-ba9876543210 firstTime", "apns-expiration 1795039801 firstTime",
                "apns-collapse-id slate firstTime",
            ])
    }

    @Test func `P6: an update of priority 5 says so and has no collapse id`() {
        let request = PushRequest(
            id: someID, address: PushAddress(token: [1], gateway: .sandbox), topic: "t", event: .update,
            priority: .conserving, expiration: 0, collapseID: nil, payload: [])
        #expect(lines(request).contains("apns-priority 5 always"))
        #expect(lines(request).contains(":path /3/device/01 never"))
        #expect(!lines(request).contains { $0.hasPrefix("apns-collapse-id") })
    }

    @Test(arguments: seeds)
    func `RFC 9562, 5.4: whatever the random bits, an apns-id is a canonical UUID of version 4`(seed: UInt64) throws {
        var random = Seeded(seed)
        let high = seed == 0 ? .max : seed == 1 ? 0 : random.next()
        let low = seed == 0 ? .max : seed == 1 ? 0 : random.next()
        let id = ApnsID(randomHigh: high, randomLow: low)
        #expect(id.text.count == 36)
        #expect(
            id.description.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(id.high ^ high & ~0xf000 == 0x4000 && id.low << 2 == low << 2, "seed \(seed)")
    }
}
