/// Reads the server's binary messages: network order, texts that end with a zero.
struct WireReader {
    private(set) var position: Int
    private let end: Int

    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position == end }

    /// Bytes left.
    var rest: Range<Int> { position..<end }

    mutating func byte(_ bytes: Span<UInt8>) throws(WireFault) -> UInt8 { bytes[try take(1).lowerBound] }

    mutating func uint16(_ bytes: Span<UInt8>) throws(WireFault) -> UInt16 {
        UInt16(truncatingIfNeeded: try number(2, bytes))
    }

    mutating func uint32(_ bytes: Span<UInt8>) throws(WireFault) -> UInt32 {
        UInt32(truncatingIfNeeded: try number(4, bytes))
    }

    mutating func uint64(_ bytes: Span<UInt8>) throws(WireFault) -> UInt64 { try number(8, bytes) }

    mutating func position(_ bytes: Span<UInt8>) throws(WireFault) -> LogPosition { LogPosition(try number(8, bytes)) }

    /// Up to a zero, which is read too.
    mutating func text(_ bytes: Span<UInt8>) throws(WireFault) -> String {
        let start = position
        while position < end {
            if bytes[position] == 0 {
                position += 1
                return bytes.extracting(start..<position - 1).withUnsafeBufferPointer {
                    String(decoding: $0, as: UTF8.self)
                }
            }
            position += 1
        }
        throw WireFault(.cutShort, at: end)
    }

    /// So many bytes, not looked at.
    mutating func take(_ count: Int) throws(WireFault) -> Range<Int> {
        guard count >= 0, end - position >= count else { throw WireFault(.cutShort, at: end) }
        defer { position += count }
        return position..<position + count
    }

    private mutating func number(_ count: Int, _ bytes: Span<UInt8>) throws(WireFault) -> UInt64 {
        var value: UInt64 = 0
        for place in try take(count) { value = value << 8 | UInt64(bytes[place]) }
        return value
    }
}

/// A message that is not what the protocol says: another version of it, or damage.
public struct WireFault: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        case cutShort
        /// Bytes behind the message's end.
        case tooLong
        case unknownMessage(UInt8)
        case unknownTuple(UInt8)
        case unknownValue(UInt8)
    }

    public let reason: Reason
    /// Offset into what was read.
    public let position: Int

    init(_ reason: Reason, at position: Int) {
        self.reason = reason
        self.position = position
    }
}

extension WireFault: CustomStringConvertible {
    public var description: String {
        switch reason {
        case .cutShort: "a message ends in the middle (byte \(position))"
        case .tooLong: "a message goes on behind its end (byte \(position))"
        case .unknownMessage(let byte): "an unknown message, type \(byte) (byte \(position))"
        case .unknownTuple(let byte): "an unknown kind of tuple, \(byte) (byte \(position))"
        case .unknownValue(let byte): "an unknown kind of value, \(byte) (byte \(position))"
        }
    }
}
