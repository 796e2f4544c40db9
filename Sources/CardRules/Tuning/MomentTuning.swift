/// The constants of T9: when a moment is on.
public struct MomentTuning: Hashable, Sendable {
    public init() {}
}
