public import Lanes
internal import Synchronization
public import TLS

/// Random bits for jitter and ids: SplitMix64 from a seed. Never used for keys.
public final class MachineRandom: RandomSource {
    private let state: Atomic<UInt64>

    /// A seed fixes all that comes.
    public init(seed: UInt64) { state = Atomic(seed) }

    /// From the system's own randomness: no two processes draw the same.
    public static func fresh() throws(KeyError) -> MachineRandom {
        MachineRandom(seed: try SecureRandom.bytes(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    public func next() -> UInt64 {
        var mixed = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
