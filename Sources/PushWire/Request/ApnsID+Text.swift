internal import CardRules

extension ApnsID: CustomStringConvertible {
    /// 36 bytes: 8-4-4-4-12 lower-case hex digits, as `apns-id` wants it (ref 1.2).
    public var text: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }

    /// Replaces `bytes` with the same.
    func write(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        bytes.reserveCapacity(36)
        for nibble in 0..<32 {
            if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 { bytes.append(UInt8(ascii: "-")) }
            let half = nibble < 16 ? high : low
            bytes.append(hexDigit(UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (nibble & 15))) & 15))
        }
    }

    public var description: String { String(decoding: text, as: UTF8.self) }
}
