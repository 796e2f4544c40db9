/// The constants of T10: what a game is worth.
public struct WorthTuning: Hashable, Sendable {
    public init() {}
}
