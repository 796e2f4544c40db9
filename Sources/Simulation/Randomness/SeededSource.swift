public import Lanes
internal import Synchronization

/// The random port from a seed: the same numbers each time, whichever thread draws them.
public final class SeededSource: RandomSource {
    private let generator: Mutex<SeededGenerator>

    public init(_ generator: SeededGenerator) { self.generator = Mutex(generator) }

    public convenience init(seed: UInt64) { self.init(SeededGenerator(seed: seed)) }

    public func next() -> UInt64 { generator.withLock { $0.next() } }
}
