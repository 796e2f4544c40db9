/// A name given by others for one of their things: `[A-Za-z0-9._:-]{1,128}` (api.md).
/// Parsed once at the edge; inside, an identifier is always well formed.
public protocol TextIdentifier: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    var text: String { get }
    /// The caller has checked `text`.
    init(unchecked text: String)
}

extension TextIdentifier {
    /// `nil` for anything but 1 to 128 characters of `A-Z a-z 0-9 . _ : -`.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard (1...128).contains(bytes.count), bytes.allSatisfy(isIdentifierByte) else { return nil }
        self.init(unchecked: text)
    }

    public var description: String { text }

    public static func < (left: Self, right: Self) -> Bool { left.text < right.text }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let identifier = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "an identifier is 1 to 128 of A-Z a-z 0-9 . _ : -")
        }
        self = identifier
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

private func isIdentifierByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"),
        UInt8(ascii: "-"):
        true
    default: false
    }
}

/// One record that an app install reports under (section 0: device).
public struct DeviceID: TextIdentifier {
    public let text: String
    public init(unchecked text: String) { self.text = text }
}

/// One contest.
public struct GameID: TextIdentifier {
    public let text: String
    public init(unchecked text: String) { self.text = text }
}

/// One iOS app served.
public struct AppID: TextIdentifier {
    public let text: String
    public init(unchecked text: String) { self.text = text }
}

/// iOS's own id of one Live Activity.
public struct ActivityID: TextIdentifier {
    public let text: String
    public init(unchecked text: String) { self.text = text }
}

/// Under what a card stands on a phone: `slate`, or the id of the session it shows.
public struct CardKey: TextIdentifier {
    public let text: String
    public init(unchecked text: String) { self.text = text }

    /// The key of the one slate card of a phone.
    public static let slate = CardKey(unchecked: "slate")
    /// The key of what a probe starts; no session is called so.
    public static let probe = CardKey(unchecked: "probe")
}
