/// The APNs environment that a token belongs to (ref T3: exactly one).
public enum Gateway: String, Hashable, Sendable, Codable, CaseIterable {
    case production
    case sandbox

    public var other: Gateway { self == .production ? .sandbox : .production }
}

/// A device token and the gateway that issued it: stored, moved and replaced in one write (G1).
public struct PushAddress: Hashable, Sendable {
    /// Opaque; Apple promises no length (ref T20).
    public let token: [UInt8]
    public let gateway: Gateway

    public init(token: [UInt8], gateway: Gateway) {
        self.token = token
        self.gateway = gateway
    }

    /// - Parameter hex: an even number, 2 to 400, of 0-9, a-f, A-F. `nil` for anything else; the caller answers 422.
    public init?(hex: String, gateway: Gateway) {
        guard hex.utf8.count <= 400, let token = bytes(fromHex: hex), !token.isEmpty else { return nil }
        self.init(token: token, gateway: gateway)
    }

    /// The same token at the other gateway (G2).
    public var flipped: PushAddress { PushAddress(token: token, gateway: gateway.other) }

    /// Lower-case hex, as in the path of a push.
    public var hex: String { hexText(token) }
}

/// - Returns: `nil` for an odd count of characters or one that is no hex digit.
public func bytes(fromHex text: String) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    for character in text.utf8 {
        let digit: UInt8
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
        default: return nil
        }
        if let first = high {
            result.append(first << 4 | digit)
            high = nil
        } else {
            high = digit
        }
    }
    return high == nil ? result : nil
}

/// Lower-case hex, two characters a byte.
public func hexText(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: bytes.flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
}

/// - Parameter value: 0...15.
public func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
