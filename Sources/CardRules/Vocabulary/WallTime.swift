/// A point of wall time: Unix milliseconds. Stored, compared across restarts, stepped by whoever sets the clock.
/// For waits inside one process a monotonic instant is the right thing, not this.
public struct WallTime: Hashable, Comparable, Sendable, Codable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// - Parameter seconds: Unix seconds; fractions are kept to the millisecond. Values outside ±9.2e15 are clamped.
    public init(fractionalSeconds seconds: Double) {
        self.milliseconds = WallTime.clampedMilliseconds(seconds)
    }

    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    public static let distantPast = WallTime(milliseconds: .min)
    public static let distantFuture = WallTime(milliseconds: .max)

    /// Whole Unix seconds, rounded down: what pushes carry.
    public var unixSeconds: Int64 {
        milliseconds >= 0 ? milliseconds / 1000 : (milliseconds.clampedForSum - 999) / 1000
    }

    /// - Parameter seconds: may be negative or fractional; the sum saturates instead of overflowing.
    public func advanced(bySeconds seconds: Double) -> WallTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(WallTime.clampedMilliseconds(seconds))
        return WallTime(milliseconds: overflow ? (seconds < 0 ? .min : .max) : sum)
    }

    /// Seconds from `earlier` to `self`; negative when `earlier` is later.
    public func seconds(since earlier: WallTime) -> Double {
        Double(milliseconds) / 1000 - Double(earlier.milliseconds) / 1000
    }

    public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

    private static func clampedMilliseconds(_ seconds: Double) -> Int64 {
        let value = (seconds * 1000).rounded()
        guard value == value else { return 0 }
        return value >= 9.2e18 ? .max : value <= -9.2e18 ? .min : Int64(value)
    }
}

extension Int64 {
    /// `self`, kept far enough from the edge to subtract 999.
    fileprivate var clampedForSum: Int64 { Swift.max(self, .min + 999) }
}
