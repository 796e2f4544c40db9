import CardRules
import PushWire
import TLS

/// The one provider token of a key (G4): signed when it has grown old, never twice within the shortest time.
struct ProviderTokens {
    private let key: SigningKey
    private let configuration: PushPool.Configuration
    private var current: ProviderToken?
    private var signedAt = WallTime.distantPast

    init(key: SigningKey, configuration: PushPool.Configuration) {
        self.key = key
        self.configuration = configuration
    }

    /// - Returns: `nil` when the key cannot sign.
    mutating func token(at now: WallTime) -> ProviderToken? {
        if let current, now.seconds(since: signedAt) < configuration.tokenMaxSeconds { return current }
        let claims = ProviderTokenClaims(
            keyID: configuration.keyID, teamID: configuration.teamID, issuedAt: now.unixSeconds)
        guard let fresh = try? claims.signed(by: { [key] in try key.signature(of: $0) }) else { return current }
        current = fresh
        signedAt = now
        return fresh
    }

    /// APNs calls the token expired: a fresh one, if the last is old enough (G4).
    mutating func expire(at now: WallTime) {
        if now.seconds(since: signedAt) >= configuration.tokenMinSeconds { current = nil }
    }
}
