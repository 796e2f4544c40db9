/// A key that was pressed.
enum Key: Hashable, Sendable {
    case character(Character)
    case up, down, left, right
    case enter, escape
    /// One that has no meaning here.
    case other
}

/// Reads keys out of the bytes that a terminal sends, however they are cut into portions (ECMA-48; xterm's SS3 keys).
struct KeyDecoder {
    private var pending: [UInt8] = []

    /// An escape sequence of more bytes than this is none.
    private static let longest = 32

    /// - Returns: the keys that are complete; the beginning of a sequence is kept for the next bytes.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending += bytes
        var keys: [Key] = []
        while let (key, length) = KeyDecoder.first(in: pending) {
            pending.removeFirst(length)
            keys.append(key)
        }
        if pending.count > KeyDecoder.longest { pending = [] }
        return keys
    }

    /// No byte has come for a while: an escape that began nothing was the key itself.
    mutating func pause() -> [Key] {
        defer { pending = [] }
        return pending == [0x1b] ? [.escape] : []
    }

    /// - Returns: `nil` when the bytes do not hold a whole key.
    private static func first(in bytes: [UInt8]) -> (Key, length: Int)? {
        guard let first = bytes.first else { return nil }
        switch first {
        case 0x1b: return escape(bytes)
        case 0x0a, 0x0d: return (.enter, 1)
        case 0x20..<0x7f: return (.character(Character(Unicode.Scalar(first))), 1)
        case 0xc2...0xf4:
            let length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
            return bytes.count < length ? nil : (.other, length)
        default: return (.other, 1)
        }
    }

    private static func escape(_ bytes: [UInt8]) -> (Key, length: Int)? {
        guard bytes.count > 1 else { return nil }
        switch bytes[1] {
        case UInt8(ascii: "O"):
            guard bytes.count > 2 else { return nil }
            return (arrow(bytes[2]), 3)
        case UInt8(ascii: "["):
            // Parameters and intermediates, then one final byte.
            guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7e).contains($0) }) else { return nil }
            return (end == 2 ? arrow(bytes[2]) : .other, end + 1)
        default: return (.escape, 1)
        }
    }

    private static func arrow(_ byte: UInt8) -> Key {
        switch byte {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "M"): .enter
        default: .other
        }
    }
}
