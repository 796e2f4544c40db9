import Foundation
import PushWire
import Testing

@Suite struct ProviderTokenTests {
    private let claims = ProviderTokenClaims(keyID: "KEY1234567", teamID: "TEAM123456", issuedAt: 1_795_039_200)

    @Test func `ref K1: alg, kid, iss, iat and no typ; the signature is 64 raw bytes`() throws {
        var signed: [UInt8] = []
        let token = try claims.signed { input in
            signed = input
            return Array(repeating: 0xfb, count: 64)
        }
        let parts = String(decoding: token.authorization, as: UTF8.self).dropFirst("bearer ".count).split(
            separator: ".")
        #expect(parts.count == 3)
        #expect(String(decoding: signed, as: UTF8.self) == "\(parts[0]).\(parts[1])")
        #expect(text(parts[0]) == #"{"alg":"ES256","kid":"KEY1234567"}"#)
        #expect(text(parts[1]) == #"{"iss":"TEAM123456","iat":1795039200}"#)
        #expect(decoded(parts[2]) == Data(repeating: 0xfb, count: 64))
        #expect(token.claims.issuedAt == 1_795_039_200)
    }

    @Test func `ref K1: a signature that is not raw is refused`() {
        #expect(throws: ProviderTokenFault.signatureIsNotRaw(bytes: 71)) {
            try claims.signed { _ in Array(repeating: 0x30, count: 71) }
        }
    }

    @Test func `RFC 4648, 5: base64url of every length reads back, without padding`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 251) }
            let text = String(decoding: base64URL(bytes), as: UTF8.self)
            #expect(decoded(text[...]) == Data(bytes))
            #expect(!text.contains { "+/=".contains($0) })
        }
    }

    private func decoded(_ text: Substring) -> Data? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: String(plain) + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }

    private func text(_ part: Substring) -> String { decoded(part).map { String(decoding: $0, as: UTF8.self) } ?? "" }
}
