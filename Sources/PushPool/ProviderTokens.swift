internal import CardRules
internal import PushWire
internal import TLS

/// The provider token of the process's one key (G4): signed at most once per `minSeconds` and at least every
/// `maxSeconds`, shared by all connections. Used on the pool's thread.
struct ProviderTokens {
    private let key: SigningKey
    private let keyID: String
    private let teamID: String
    private let maxSeconds: Int64
    private let minSeconds: Int64
    private var token: ProviderToken?
    private var isFreshWanted = false

    init(key: SigningKey, keyID: String, teamID: String, maxSeconds: Int64, minSeconds: Int64) {
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
        self.maxSeconds = maxSeconds
        self.minSeconds = minSeconds
    }

    /// - Throws: what the key throws when it cannot sign.
    mutating func current(at now: WallTime) throws -> ProviderToken {
        let seconds = now.unixSeconds
        if let token {
            let age = seconds - token.claims.issuedAt
            // A clock that was set back by more than the least interval leaves a token from the future: APNs refuses it.
            let isStale = age >= maxSeconds || age < -minSeconds || isFreshWanted && abs(age) >= minSeconds
            guard isStale else { return token }
        }
        let made = try ProviderTokenClaims(keyID: keyID, teamID: teamID, issuedAt: seconds)
            .signed { try key.signature(of: $0) }
        token = made
        isFreshWanted = false
        return made
    }

    /// APNs called a token expired: the next is signed as soon as the least interval allows. `issuedAt` is that token's;
    /// a later one may have been made meanwhile.
    mutating func wasRefused(issuedAt: Int64) {
        if token?.claims.issuedAt == issuedAt { isFreshWanted = true }
    }
}
