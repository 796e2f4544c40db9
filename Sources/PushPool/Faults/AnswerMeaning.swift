internal import CardRules

/// What an answer asks of the pool, besides its verdict. Source: ref section 3 row by row, rules G2 to G5.
enum AnswerMeaning: Equatable, Sendable {
    case accepted
    /// G2: the token is bad here. The lane tries the other gateway; the pool keeps the token apart (G8).
    case badToken
    /// The token is dead (410). No error (ref T16).
    case deadToken
    /// G5: too many requests for this token.
    case slowToken
    /// G5: the gateway's trouble.
    case serverError
    /// G4, ref T23: the connection is of no more use. The push was certainly refused, and goes again, once, elsewhere.
    case changeConnection(Cause)
    /// G3: the operator's fault.
    case fault(FaultScope)

    enum Cause: Equatable, Sendable {
        /// The provider token is too old, or the clock is off.
        case tokenExpired
        /// Too many fresh provider tokens on this connection.
        case tokenUpdates
        /// The connection is bound to another key (ref K8).
        case boundToOtherKey
        case idle
        /// Their server is leaving.
        case serverLeaves
    }

    init(_ verdict: Verdict) {
        guard case .refused(let refusal) = verdict else {
            self = .accepted
            return
        }
        self =
            switch refusal.nextStep {
            case .tryOtherGateway: .badToken
            case .forgetAddress: .deadToken
            case .holdToken: .slowToken
            case .holdGateway: .serverError
            case .reconnect: .changeConnection(Cause(refusal.reason))
            case .reportToOperator(let scope): .fault(scope)
            }
    }
}

extension AnswerMeaning.Cause {
    fileprivate init(_ reason: RefusalReason) {
        self =
            switch reason {
            case .known(.tooManyProviderTokenUpdates): .tokenUpdates
            case .known(.unrelatedKeyIDInToken): .boundToOtherKey
            case .known(.idleTimeout): .idle
            case .known(.shutdown): .serverLeaves
            default: .tokenExpired
            }
    }

    /// Whether it speaks against the provider key, and counts towards `misconfigured` (G3).
    var isKeyFault: Bool {
        switch self {
        case .tokenExpired, .tokenUpdates, .boundToOtherKey: true
        case .idle, .serverLeaves: false
        }
    }
}
