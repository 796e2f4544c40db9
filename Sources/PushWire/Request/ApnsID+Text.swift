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
        if bytes.count != 36 { bytes = [UInt8](repeating: UInt8(ascii: "-"), count: 36) }
        let first = hexText(UInt32(truncatingIfNeeded: high >> 32))
        let second = hexText(UInt32(truncatingIfNeeded: high))
        let third = hexText(UInt32(truncatingIfNeeded: low >> 32))
        let fourth = hexText(UInt32(truncatingIfNeeded: low))
        bytes.withUnsafeMutableBytes { digits in
            func put(_ half: UInt64, at place: Int) {
                digits.storeBytes(of: UInt32(truncatingIfNeeded: half).bigEndian, toByteOffset: place, as: UInt32.self)
            }
            digits.storeBytes(of: first.bigEndian, toByteOffset: 0, as: UInt64.self)
            put(second >> 32, at: 9)
            put(second, at: 14)
            put(third >> 32, at: 19)
            put(third, at: 24)
            digits.storeBytes(of: fourth.bigEndian, toByteOffset: 28, as: UInt64.self)
        }
    }

    public var description: String { String(decoding: text, as: UTF8.self) }
}
