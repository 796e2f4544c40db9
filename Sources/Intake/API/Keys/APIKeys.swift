internal import CardRules
internal import Synchronization
internal import TLS

/// What a key may do (api.md).
public enum APIScope: String, Hashable, Sendable, CaseIterable {
    case feed, devices, admin
}

/// One key as the configuration holds it: never the key itself.
public struct APIKey: Hashable, Sendable {
    /// For logs: who called.
    public let name: String
    public let scopes: Set<APIScope>
    /// Of the key's bytes, 32 bytes.
    public let digest: [UInt8]

    /// - Returns: `nil` unless the digest has 32 bytes.
    public init?(name: String, scopes: Set<APIScope>, digest: [UInt8]) {
        guard digest.count == 32 else { return nil }
        self.name = name
        self.scopes = scopes
        self.digest = digest
    }

    /// - Parameter sha256: 64 hex digits.
    public init?(name: String, scopes: Set<APIScope>, sha256 hex: String) {
        guard let digest = bytes(fromHex: hex) else { return nil }
        self.init(name: name, scopes: scopes, digest: digest)
    }

    /// The digest of a key, for the configuration: 64 hex digits.
    public static func sha256(ofKey key: String) -> String { hexText(TLS.sha256(Array(key.utf8))) }
}

/// The keys that are valid now. May be replaced at any time, from any thread.
public final class APIKeys: Sendable {
    private let keys: Mutex<[APIKey]>

    public init(_ keys: [APIKey]) { self.keys = Mutex(keys) }

    /// From the next request on only these count.
    public func replace(with keys: [APIKey]) { self.keys.withLock { $0 = keys } }

    /// The key that a caller showed. Takes as long for one that is wrong as for one that is right, wherever it differs.
    ///
    /// - Returns: `nil` for one that is not known.
    func key(_ shown: String) -> APIKey? {
        let digest = sha256(Array(shown.utf8))
        var found: APIKey?
        for key in keys.withLock({ $0 }) where isEqualInConstantTime(key.digest, digest) { found = found ?? key }
        return found
    }
}
