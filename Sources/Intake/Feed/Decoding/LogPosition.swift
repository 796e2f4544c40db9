/// A place in the server's write-ahead log. Only grows.
public struct LogPosition: Hashable, Comparable, Sendable {
    public let rawValue: UInt64

    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Where a slot is asked to go on from where it stands.
    public static let unset = LogPosition(0)

    /// The server's own text, `16/B374D848`; `nil` for any other.
    public init?(_ text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let high = UInt32(halves[0], radix: 16), let low = UInt32(halves[1], radix: 16) else {
            return nil
        }
        rawValue = UInt64(high) << 32 | UInt64(low)
    }

    public static func < (left: LogPosition, right: LogPosition) -> Bool { left.rawValue < right.rawValue }
}

extension LogPosition: CustomStringConvertible {
    public var description: String {
        let high = String(rawValue >> 32, radix: 16, uppercase: true)
        return "\(high)/\(String(rawValue & 0xFFFF_FFFF, radix: 16, uppercase: true))"
    }
}
