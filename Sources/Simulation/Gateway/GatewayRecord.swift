public import CardRules

/// How many requests were accepted and refused.
public struct GatewayCounters: Hashable, Sendable {
    public internal(set) var accepted = 0
    /// By Apple's word for the reason.
    public internal(set) var refused: [String: Int] = [:]
    /// Requests that got no answer.
    public internal(set) var unanswered = 0
    /// G22: requests by a field that Apple wants never indexed and that came otherwise.
    public internal(set) var indexed: [String: Int] = [:]
    /// G23: connections turned away.
    public internal(set) var turnedAway = 0
    /// G27: faults that happened.
    public internal(set) var faults = 0

    public init() {}

}

/// One request as it was recorded (ref G31); the provider token is not in it.
public struct RecordedRequest: Hashable, Sendable {
    public let at: WallTime
    public let connection: UInt64
    public let request: GatewayRequest
    /// `nil` where no answer was given.
    public let status: Int?
    public let reason: String?
}

/// The newest requests, bounded: at the bound the oldest goes.
struct RequestRecord: Sendable {
    private var ring: [RecordedRequest] = []
    private var next = 0
    private let kept: Int

    init(kept: Int) { self.kept = kept }

    var isOff: Bool { kept <= 0 }

    /// Oldest first.
    var all: [RecordedRequest] { Array(ring[next...] + ring[..<next]) }

    mutating func append(_ entry: RecordedRequest) {
        guard kept > 0 else { return }
        if ring.count < kept {
            ring.append(entry)
        } else {
            ring[next] = entry
            next = (next + 1) % kept
        }
    }
}

extension GatewayRequest {
    /// The same request with the value of `authorization` taken out.
    var redacted: GatewayRequest {
        var copy = GatewayRequest(
            method: method, path: path,
            headers: headers.map { $0.name == "authorization" ? GatewayHeader($0.name, "(redacted)") : $0 }, body: body)
        (copy.stream, copy.indexedFields) = (stream, indexedFields)
        return copy
    }
}
