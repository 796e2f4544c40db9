internal import Synchronization

/// Counts values by upper bound. From any thread, without a lock: a scrape may see a value in its bucket and not yet in
/// the sum.
public final class Histogram: Sendable {
    /// Upper bounds, rising; beyond the last there is one more bucket.
    public let bounds: [Double]
    private let buckets: [Counter]
    /// In parts of the unit, so that adding is one instruction.
    private let sum = Atomic<Int>(0)
    private let partsPerUnit: Double

    init(bounds: [Double], partsPerUnit: Double) {
        self.bounds = bounds
        self.partsPerUnit = partsPerUnit
        buckets = (0...bounds.count).map { _ in Counter() }
    }

    /// - Parameter value: in the histogram's unit; a negative one, or no number, counts as 0.
    public func observe(_ value: Double) {
        let value = value > 0 ? min(value, 1e9) : 0
        buckets[bounds.firstIndex { value <= $0 } ?? bounds.count].add()
        sum.wrappingAdd(Int(value * partsPerUnit), ordering: .relaxed)
    }

    struct Reading: Hashable, Sendable {
        let bounds: [Double]
        /// One for each bound, and one for what is beyond; not cumulative.
        let counts: [Int]
        let sum: Double
    }

    var reading: Reading {
        Reading(
            bounds: bounds, counts: buckets.map(\.value), sum: Double(sum.load(ordering: .relaxed)) / partsPerUnit)
    }

    /// From what a turn takes to what somebody waits for: 100 µs to 10 s.
    public static let shortSeconds: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// From a sweep to a fleet whose pushes wait for their rate: 1 ms to a minute.
    public static let longSeconds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ]
    /// Rows of one transaction.
    public static let rows: [Double] = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000]
}
