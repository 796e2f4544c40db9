/// Random numbers that a seed repeats: the same seed, the same night. SplitMix64 (Steele, Lea, Flood 2014).
public struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// A generator of its own for a part of the simulation, so that parts do not disturb one another's draws.
    public mutating func split() -> SeededGenerator { SeededGenerator(seed: next()) }

    /// - Parameter share: 0 never, 1 always.
    public mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }

    public mutating func bytes(_ count: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count + 7)
        while result.count < count {
            let word = next()
            for shift in stride(from: 0, to: 64, by: 8) { result.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        result.removeLast(result.count - count)
        return result
    }

    /// A random UUID of version 4 in canonical text, upper case as iOS writes them or lower case as APNs does.
    public mutating func uuidText(upperCase: Bool = false) -> String {
        var bits = bytes(16)
        bits[6] = bits[6] & 0x0f | 0x40
        bits[8] = bits[8] & 0x3f | 0x80
        let digits = Array((upperCase ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (place, byte) in bits.enumerated() {
            if place == 4 || place == 6 || place == 8 || place == 10 { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
