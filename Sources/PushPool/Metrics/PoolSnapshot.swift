public import CardRules

/// What the pool has done since it was made, and how it stands; values only (api.md, Metrics).
public struct PoolSnapshot: Equatable, Sendable {
    /// What became of pushes of one kind (`pushes_total`). Bounded: reasons are APNs' known words, `other` for the rest.
    public struct Outcome: Hashable, Sendable {
        public let event: PushEvent
        public let gateway: Gateway
        /// HTTP status; `nil` where there was no answer.
        public let status: Int?
        /// APNs' word; `not sent`, `unknown` where there was no answer; `nil` with 200.
        public let reason: String?
    }

    public struct ConnectionKind: Hashable, Sendable {
        public let gateway: Gateway
        public let state: ConnectionPhase
    }

    /// `apns_connections{gateway,state}`.
    public enum ConnectionPhase: String, Hashable, Sendable, CaseIterable {
        case opening, idle, busy, draining
    }

    /// Verdicts given.
    public internal(set) var outcomes: [Outcome: Int] = [:]
    /// `push_seconds`: from being taken in to the answer; counts of answers up to each of `bounds`, and beyond.
    public internal(set) var seconds = Histogram()
    /// Requests handed to a connection, repeats included.
    public internal(set) var sent = 0
    /// Verdicts `accepted` and `refused`.
    public internal(set) var answered = 0
    /// Verdicts `unknown`.
    public internal(set) var unknown = 0
    /// Provider tokens signed (G4).
    public internal(set) var tokensSigned = 0
    /// Connections begun (ref T21).
    public internal(set) var connectionsOpened = 0
    /// Now: pushes that wait, and those written and not answered.
    public internal(set) var waiting = 0
    public internal(set) var inFlight = 0
    public internal(set) var connections: [ConnectionKind: Int] = [:]
    /// `apns_rate_limit`, pushes a second.
    public internal(set) var ratePerSecond: [Gateway: Double] = [:]
    public internal(set) var paused: Set<Gateway> = []
    /// Scopes that wait for a probe (G3, G5).
    public internal(set) var held: Set<PoolScope> = []
    /// Seconds by which this machine's clock is ahead, where a gateway has said its own.
    public internal(set) var clockSkewSeconds: [Gateway: Int] = [:]

    public init() {}

    /// Counts by upper bound, in seconds.
    public struct Histogram: Equatable, Sendable {
        public static let bounds: [Double] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
        /// One for each bound, and one for what is beyond.
        public internal(set) var counts = [Int](repeating: 0, count: Histogram.bounds.count + 1)
        public internal(set) var sum = 0.0

        public init() {}

        mutating func add(_ seconds: Double) {
            counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
            sum += seconds
        }
    }

    mutating func count(_ verdict: Verdict, _ event: PushEvent, _ gateway: Gateway, times: Int = 1) {
        let status: Int?
        let reason: String?
        switch verdict {
        case .accepted:
            (status, reason) = (200, nil)
            answered += times
        case .refused(let refusal):
            answered += times
            status = (100..<600).contains(refusal.status) ? refusal.status : 0
            if case .known(let word) = refusal.reason { reason = word.rawValue } else { reason = "other" }
        case .notSent: (status, reason) = (nil, "not sent")
        case .unknown:
            (status, reason) = (nil, "unknown")
            unknown += times
        }
        outcomes[Outcome(event: event, gateway: gateway, status: status, reason: reason), default: 0] += times
    }
}
