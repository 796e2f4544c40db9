public import CardRules

/// Something that goes wrong with requests on purpose (ref 8.2, G27).
public struct GatewayFault: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// 500 `InternalServerError`; nothing is done.
        case serverError
        /// 503 `ServiceUnavailable`; nothing is done.
        case unavailable
        /// 503 `Shutdown`; nothing is done.
        case shutdown
        /// RST_STREAM with this code; nothing is done.
        case reset(code: UInt32)
        /// The push arrives, and the stream is reset with this code.
        case resetAfter(code: UInt32)
        /// The push arrives, the answer takes so long, in seconds.
        case delay(seconds: Double)
        /// 200, and the push is lost.
        case lose
        /// The push arrives, and no answer comes.
        case silence
        /// The push arrives twice.
        case duplicate
        /// The push arrives, and the connection ends without an answer, with FIN or RST.
        case hangUp(withReset: Bool)
    }

    public var kind: Kind
    /// How many more times it happens; `nil`: without end.
    public var times: Int?
    /// Of the requests that match: 1 every one, 0.1 one in ten, by the gateway's seed.
    public var share: Double
    /// Requests to device tokens that begin so; empty: all.
    public var tokenPrefix: [UInt8]

    public init(_ kind: Kind, times: Int? = nil, share: Double = 1, tokenPrefix: [UInt8] = []) {
        self.kind = kind
        self.times = times
        self.share = share
        self.tokenPrefix = tokenPrefix
    }

    /// In place of a decision.
    var refusal: GatewayRefusal? {
        switch kind {
        case .serverError: GatewayRefusal(.internalServerError)
        case .unavailable: GatewayRefusal(.serviceUnavailable)
        case .shutdown: GatewayRefusal(.shutdown)
        case .reset, .resetAfter, .delay, .lose, .silence, .duplicate, .hangUp: nil
        }
    }

    var effectBefore: GatewayAnswer.Effect? {
        if case .reset(let code) = kind { .reset(code: code) } else { nil }
    }

    /// Only where the push was accepted.
    var effectAfter: GatewayAnswer.Effect? {
        switch kind {
        case .silence: .silence
        case .resetAfter(let code): .reset(code: code)
        case .hangUp(let withReset): .hangUp(withReset: withReset)
        case .serverError, .unavailable, .shutdown, .reset, .delay, .lose, .duplicate: nil
        }
    }

    var delaySeconds: Double { if case .delay(let seconds) = kind { seconds } else { 0 } }
}

extension GatewayModel {
    /// The first fault that this request meets; it is used up by it.
    mutating func takeFault(for request: GatewayRequest) -> GatewayFault? {
        guard !options.faults.isEmpty else { return nil }
        let token = request.path.split(separator: "/").last.flatMap { bytes(fromHex: String($0)) } ?? []
        for place in options.faults.indices {
            let fault = options.faults[place]
            guard fault.times != 0, token.starts(with: fault.tokenPrefix),
                fault.share >= 1 || faultDraws.chance(fault.share)
            else { continue }
            if let times = fault.times { options.faults[place].times = times - 1 }
            counters.faults += 1
            return fault
        }
        return nil
    }

    /// G24.
    mutating func checkRate(of token: [UInt8], at now: WallTime) throws(GatewayRefusal) {
        guard let limit = options.perTokenPerSecond else { return }
        if tokenSeconds.count > 100_000 {
            tokenSeconds = tokenSeconds.filter { now.seconds(since: $0.value.began) < 1 }
        }
        var second = tokenSeconds[token] ?? (now, 0)
        let age = now.seconds(since: second.began)
        if age >= 1 || age < 0 { second = (now, 0) }
        second.count += 1
        tokenSeconds[token] = second
        if second.count > limit { throw GatewayRefusal(.tooManyRequests) }
    }

    /// G23: whether a connection is taken now. One client is all that comes to this gateway.
    public mutating func mayOpen(at now: WallTime) -> Bool {
        guard let limit = options.opensPerMinute else { return true }
        opens.removeAll { now.seconds(since: $0) >= 60 }
        if now < turnsAwayUntil {
            counters.turnedAway += 1
            return false
        }
        opens.append(now)
        guard opens.count > limit else { return true }
        turnsAwayUntil = now.advanced(bySeconds: options.churnSeconds)
        counters.turnedAway += 1
        return false
    }
}
