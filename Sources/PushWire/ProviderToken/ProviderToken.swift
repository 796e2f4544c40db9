/// What a provider token says (ref K1). Pure: whoever holds the key signs.
public struct ProviderTokenClaims: Hashable, Sendable {
    /// 10 characters: `kid`.
    public let keyID: String
    /// 10 characters: `iss`.
    public let teamID: String
    /// `iat`, Unix seconds.
    public let issuedAt: Int64

    public init(keyID: String, teamID: String, issuedAt: Int64) {
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
    }

    /// Header and claims of the JWT, each in base64url, with a dot between: what ES256 signs (RFC 7515, 5.1).
    /// There is no `typ`: Apple names none, and a checker has stumbled over it (ref K1).
    public var signingInput: [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"alg\":\"ES256\",\"kid\":")
        writer.string(keyID)
        writer.raw("}")
        var input = base64URL(writer.bytes)
        input.append(UInt8(ascii: "."))
        writer.reset()
        writer.raw("{\"iss\":")
        writer.string(teamID)
        writer.raw(",\"iat\":")
        writer.integer(issuedAt)
        writer.raw("}")
        input.append(contentsOf: base64URL(writer.bytes))
        return input
    }

    /// - Parameter sign: gives ES256's raw signature of the bytes, r and s, 64 bytes together; not DER (ref K1).
    /// - Throws: what `sign` throws; `ProviderTokenFault` when it gives anything but 64 bytes.
    public func signed(by sign: ([UInt8]) throws -> [UInt8]) throws -> ProviderToken {
        let input = signingInput
        let signature = try sign(input)
        guard signature.count == 64 else { throw ProviderTokenFault.signatureIsNotRaw(bytes: signature.count) }
        return ProviderToken(claims: self, jwt: input + [UInt8(ascii: ".")] + base64URL(signature))
    }
}

/// A signed provider token, good for an hour from `claims.issuedAt` (ref K2).
public struct ProviderToken: Hashable, Sendable {
    public let claims: ProviderTokenClaims
    /// The value of the `authorization` header: `bearer ` and the JWT. Never logged.
    public let authorization: [UInt8]

    /// - Parameter jwt: ASCII.
    public init(claims: ProviderTokenClaims, jwt: [UInt8]) {
        self.claims = claims
        self.authorization = Array("bearer ".utf8) + jwt
    }
}

public enum ProviderTokenFault: Error, Hashable, Sendable {
    /// The signer gave this many bytes where r and s have 64: probably DER.
    case signatureIsNotRaw(bytes: Int)
}

/// Base64 with `-` and `_`, without padding (RFC 4648, 5; RFC 7515, 2).
public func base64URL(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var held: UInt32 = 0
    var bits = 0
    for byte in bytes {
        held = held << 8 | UInt32(byte)
        bits += 8
        while bits >= 6 {
            bits -= 6
            text.append(base64Digit(UInt8(truncatingIfNeeded: held >> UInt32(bits)) & 63))
        }
    }
    if bits > 0 { text.append(base64Digit(UInt8(truncatingIfNeeded: held << UInt32(6 - bits)) & 63)) }
    return text
}

private func base64Digit(_ value: UInt8) -> UInt8 {
    switch value {
    case 0..<26: UInt8(ascii: "A") + value
    case 26..<52: UInt8(ascii: "a") + value - 26
    case 52..<62: UInt8(ascii: "0") + value - 52
    case 62: UInt8(ascii: "-")
    default: UInt8(ascii: "_")
    }
}
