/// - Returns: 0 for no values.
public func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.indices.last else { return 0 }
    return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2
}

/// The value that `share` of all do not exceed; of few values the largest stands for the last of them.
/// - Parameter share: 0...1.
/// - Returns: 0 for no values.
public func percentile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    let rank = Int((share * Double(sorted.count)).rounded(.up))
    return sorted[min(max(rank, 1), sorted.count) - 1]
}

/// Median, p99 and the largest of several runs.
public struct Spread: Codable, Sendable {
    public let p50: Double
    public let p99: Double
    public let max: Double
    public let runs: Int

    public init(_ values: [Double]) {
        p50 = median(values)
        p99 = percentile(values, 0.99)
        max = values.max() ?? 0
        runs = values.count
    }
}
