internal import COpenSSL

/// SHA-256, 32 bytes: fingerprints of tokens and keys, for what must be told apart but not shown.
public func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    SHA256(bytes, bytes.count, &digest)
    return digest
}

/// Compares secrets in a time that depends on their length only.
public func isEqualInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}
