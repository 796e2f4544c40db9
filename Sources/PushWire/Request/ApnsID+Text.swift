internal import CardRules

extension ApnsID: CustomStringConvertible {
    /// 36 bytes: 8-4-4-4-12 lower-case hex digits, as `apns-id` wants it (ref 1.2).
    public var text: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 36) { room, count in
            var place = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    room[place] = UInt8(ascii: "-")
                    place += 1
                }
                let half = nibble < 16 ? high : low
                room[place] = hexDigit(UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (nibble & 15))) & 15)
                place += 1
            }
            count = 36
        }
    }

    public var description: String { String(decoding: text, as: UTF8.self) }
}
