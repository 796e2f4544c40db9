internal import TLS

/// A key that was looked at and found good.
struct ReadyKey: Sendable {
    let key: SigningKey
    let keyID: String
    let teamID: String

    /// - Throws: `ProviderKeyFault`, naming what is wrong with which key.
    init(_ key: PushPool.Configuration.Key) throws(ProviderKeyFault) {
        for (name, id) in [("keyID", key.keyID), ("teamID", key.teamID)] where !isAppleID(id) {
            throw .badID(name: name, value: id)
        }
        if let named = key.idInFileName, named != key.keyID {
            throw .otherKey(path: key.path ?? "", keyID: key.keyID, named: named)
        }
        let signing: SigningKey
        do throws(KeyError) {
            signing = try SigningKey(pem: key.pem)
            let message = Array("a test signature".utf8)
            let signature = try signing.signature(of: message)
            guard VerifyingKey(of: signing).isValid(signature, of: message) else {
                throw .failed(operation: "verify a test signature", text: "it is not valid")
            }
        } catch {
            throw .unusable(keyID: key.keyID, path: key.path, text: error.description)
        }
        (self.key, keyID, teamID) = (signing, key.keyID, key.teamID)
    }
}

/// Why a provider key cannot be used; found when the pool is made (G4). Never holds a part of the key.
public enum ProviderKeyFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Apple's ids have 10 characters, A-Z and 0-9 (ref K1).
    case badID(name: String, value: String)
    /// Apple names the file after the key: this one is another's.
    case otherKey(path: String, keyID: String, named: String)
    /// Not readable, no PEM, or no EC key on P-256.
    case unusable(keyID: String, path: String?, text: String)

    public var description: String {
        switch self {
        case .badID(let name, let value): "\(name) is \"\(value)\", but Apple's have 10 characters of A-Z and 0-9"
        case .otherKey(let path, let keyID, let named):
            "\(path) is by its name the key \(named), but keyID says \(keyID)"
        case .unusable(let keyID, let path, let text):
            "the key \(keyID)\(path.map { " in \($0)" } ?? "") cannot be used: \(text)"
        }
    }
}

private func isAppleID(_ text: String) -> Bool {
    text.utf8.count == 10
        && text.utf8.allSatisfy {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
}
