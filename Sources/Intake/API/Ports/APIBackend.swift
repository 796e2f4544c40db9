/// What the API needs besides the system itself. From any thread; nothing here blocks.
public protocol APIBackend: Sendable {
    /// Asked at each `GET /readyz`.
    var readiness: APIReadiness { get }

    /// Prometheus text (0.0.4).
    func metrics() async -> [UInt8]
}

/// Whether the daemon can do its work.
public struct APIReadiness: Hashable, Sendable {
    /// Why not, a short sentence each; empty: it can.
    public var reasons: [String]

    public init(reasons: [String] = []) { self.reasons = reasons }
}
