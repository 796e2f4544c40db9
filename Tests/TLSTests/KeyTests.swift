import TLS
import Testing

@Suite struct KeyTests {
    @Test func `K1: ES256 signatures have 64 bytes, leading zeros included, and verify`() throws {
        let key = try SigningKey(pem: SigningKey.freshPEM())
        let fromPublic = try VerifyingKey(pem: key.publicPEM())
        let other = try VerifyingKey(pem: SigningKey.freshPEM())
        let message = Array("header.claims".utf8)
        var withLeadingZero = 0
        // One signature in 128 has an r or s that begins with a zero byte. Go on until both 200 and three of those were
        // seen.
        for round in 0..<20_000 where round < 200 || withLeadingZero < 3 {
            let signature = try key.signature(of: message)
            #expect(signature.count == 64)
            #expect(VerifyingKey(of: key).isValid(signature, of: message))
            #expect(fromPublic.isValid(signature, of: message))
            #expect(!other.isValid(signature, of: message))
            if signature[0] == 0 || signature[32] == 0 { withLeadingZero += 1 }
        }
        #expect(withLeadingZero >= 3)
    }

    @Test func `K9: a signature with one bit changed, cut or empty is not valid`() throws {
        let key = try SigningKey(pem: SigningKey.freshPEM())
        let verifying = VerifyingKey(of: key)
        let signature = try key.signature(of: [1, 2, 3])
        for position in signature.indices {
            var wrong = signature
            wrong[position] ^= 1
            #expect(!verifying.isValid(wrong, of: [1, 2, 3]))
        }
        #expect(!verifying.isValid(signature, of: [1, 2, 4]))
        #expect(!verifying.isValid(signature.dropLast(), of: [1, 2, 3]))
        #expect(!verifying.isValid([], of: [1, 2, 3]))
        #expect(!verifying.isValid([UInt8](repeating: 0, count: 64), of: [1, 2, 3]))
        #expect(verifying.isValid(signature, of: [1, 2, 3]))
    }

    @Test func `a fresh key has the shape of a p8`() throws {
        let pem = try SigningKey.freshPEM()
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(try pem != SigningKey.freshPEM())
    }

    @Test(arguments: [("EC secp384r1", TestKeys.p384), ("ED25519", TestKeys.ed25519)])
    func `given a key of another kind, then it is refused by name`(found: String, pem: String) {
        #expect(throws: KeyError.notP256(found: found)) { try SigningKey(pem: pem) }
        #expect(throws: KeyError.notP256(found: found)) { try VerifyingKey(pem: pem) }
    }

    @Test(arguments: ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", TestKeys.encrypted])
    func `given no key, a damaged or an encrypted one, then it is refused and nobody asks for a passphrase`(pem: String)
    {
        #expect {
            try SigningKey(pem: pem)
        } throws: {
            if case .unreadable? = $0 as? KeyError { true } else { false }
        }
    }

    @Test func `base64url has no padding and one spelling`() {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 251 &+ length) }
            let text = Base64URL.encode(bytes)
            #expect(Base64URL.decode(text) == bytes)
            #expect(!text.contains { "+/=".contains($0) })
        }
        #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
        #expect(Base64URL.encode(Array(#"{"alg":"ES256"}"#.utf8)) == "eyJhbGciOiJFUzI1NiJ9")
        for wrong in ["-_8=", "-_9", "+/8", "a", "abcde", "ab c", "é"] { #expect(Base64URL.decode(wrong) == nil) }
    }

    @Test func `SHA-256 gives the published digest of abc`() {
        let hex = sha256(Array("abc".utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(isEqualInConstantTime([1, 2], [1, 2]))
        #expect(!isEqualInConstantTime([1, 2], [1, 3]))
        #expect(!isEqualInConstantTime([1, 2], [1]))
    }
}
