internal import CardRules
internal import PushWire
internal import TLS

/// The keys themselves, and what they signed: the hands of `TokenSchedule`. Used on the pool's thread.
struct ProviderTokens {
    private let keys: [ReadyKey]
    /// The newest few of each key: connections go on with an older one for a while (ref K3).
    private var signed: [TokenRef: ProviderToken] = [:]

    init(keys: [ReadyKey]) { self.keys = keys }

    subscript(token: TokenRef) -> ProviderToken? { signed[token] }

    /// - Throws: what the key throws when it cannot sign.
    mutating func sign(_ token: TokenRef, at now: WallTime) throws {
        let key = keys[token.key]
        signed[token] = try ProviderTokenClaims(keyID: key.keyID, teamID: key.teamID, issuedAt: now.unixSeconds)
            .signed { try key.key.signature(of: $0) }
        signed = signed.filter { $0.key.key != token.key || $0.key.generation > token.generation - Self.kept }
    }

    /// A token is an hour old at most, and two are 20 min apart at least.
    private static let kept = 5
}
