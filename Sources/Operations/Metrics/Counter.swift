internal import Synchronization

/// A number that only rises. From any thread.
public final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    init() {}

    public func add(_ amount: Int = 1) { count.add(amount, ordering: .relaxed) }

    public var value: Int { count.load(ordering: .relaxed) }
}

/// A number that rises and falls. From any thread.
public final class Gauge: Sendable {
    private let bits = Atomic<UInt64>(0)

    init() {}

    public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
}
