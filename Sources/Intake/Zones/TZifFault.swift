/// Why a file is no zone that we can use (RFC 8536).
public enum TZifFault: Error, Hashable, Sendable {
    case notTZif
    /// Only the first version's 32-bit block, which ends in 2038.
    case versionOne
    case truncated
    /// Leap seconds: such a file counts other seconds than the rest of the world.
    case leapSeconds
    /// Counts, indexes or order that do not fit.
    case inconsistent
    /// A closing rule that is not of the form `EST5EDT,M3.2.0,M11.1.0`.
    case unknownRule(String)
}
