/// Local wall times between which no card may start or light up a phone (S5). May span midnight.
public struct QuietHours: Hashable, Sendable {
    /// Minutes after local midnight, 0...1439.
    public let fromMinute: Int
    public let toMinute: Int

    /// `nil` when a minute is out of range or both are equal.
    public init?(fromMinute: Int, toMinute: Int) {
        guard (0..<1440).contains(fromMinute), (0..<1440).contains(toMinute), fromMinute != toMinute else { return nil }
        self.fromMinute = fromMinute
        self.toMinute = toMinute
    }
}
