internal import CardRules
internal import Foundation

/// A provider token taken apart: a JWT of three base64url parts (ref K1). The text is not kept.
struct ProviderToken: Sendable {
    let keyID: String
    let teamID: String
    /// `iat`, Unix seconds.
    let issuedAt: Double
    let message: [UInt8]
    /// r then s, 64 bytes.
    let signature: [UInt8]

    /// `nil` unless there are three parts, `alg` is ES256, `kid` and `iss` are strings, `iat` is a number and the
    /// signature has 64 bytes.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = bytesFrom(base64URL: parts[0]), let claims = bytesFrom(base64URL: parts[1]),
            let signature = bytesFrom(base64URL: parts[2]), signature.count == 64,
            let header = try? JSONDecoder().decode(Header.self, from: Data(head)), header.alg == "ES256",
            let body = try? JSONDecoder().decode(Claims.self, from: Data(claims))
        else { return nil }
        keyID = header.kid
        teamID = body.iss
        issuedAt = body.iat
        message = Array(bytes[..<parts[1].endIndex])
        self.signature = signature
    }

    private struct Header: Decodable {
        let alg: String
        let kid: String
    }

    private struct Claims: Decodable {
        let iss: String
        let iat: Double
    }
}

/// - Returns: `nil` for padding, an impossible length or a byte outside of the alphabet (RFC 4648, 5).
func bytesFrom(base64URL text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for character in text {
        let value: UInt8
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): value = 62
        case UInt8(ascii: "_"): value = 63
        default: return nil
        }
        bits = bits << 6 | UInt32(value)
        count += 6
        if count >= 8 {
            count -= 8
            result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
    }
    return result
}
