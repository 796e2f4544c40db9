internal import COpenSSL
internal import CShims

/// Why a key cannot be used. The texts never hold a part of the key.
public enum KeyError: Error, Equatable, Sendable, CustomStringConvertible {
    /// No key in PEM form was found, or it is damaged. `text` is OpenSSL's.
    case unreadable(text: String)
    /// ES256 wants EC P-256. `found` names what came instead, as OpenSSL does (`RSA`, `EC secp384r1`).
    case notP256(found: String)
    case failed(operation: String, text: String)

    public var description: String {
        switch self {
        case .unreadable(let text): "no usable key in PEM form (an unencrypted one is wanted): \(text)"
        case .notP256(let found): "the key is \(found), but ES256 wants an EC key on P-256 (prime256v1)"
        case .failed(let operation, let text): "\(operation): \(text)"
        }
    }
}

/// An EC P-256 private key that signs ES256 (RFC 7518, 3.4), such as Apple's `.p8` (K1). Freed with the last reference.
public final class SigningKey: @unchecked Sendable {  // the EVP_PKEY is never changed, and each signature has its own context
    let raw: OpaquePointer

    /// - Parameter pem: PKCS#8 (`PRIVATE KEY`) or SEC 1 (`EC PRIVATE KEY`), unencrypted.
    public init(pem: String) throws(KeyError) {
        guard let key = PEM.privateKey(pem) else { throw .unreadable(text: OpenSSLErrors().text) }
        if let other = nameUnlessP256(key) {
            EVP_PKEY_free(key)
            throw .notP256(found: other)
        }
        raw = key
    }

    deinit { EVP_PKEY_free(raw) }

    /// A fresh key in PKCS#8, in the shape of a `.p8`: for tests and the demonstration. Randomness is OpenSSL's.
    public static func freshPEM() throws(KeyError) -> String {
        ERR_clear_error()
        guard let key = lk_generate_p256() else { throw .failed(operation: "make a key", text: OpenSSLErrors().text) }
        defer { EVP_PKEY_free(key) }
        guard let text = PEM.text({ PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }) else {
            throw .failed(operation: "print a key", text: OpenSSLErrors().text)
        }
        return text
    }

    /// Reads a key's file, at most 1 MB; what is in it is not looked at.
    public static func pem(file path: String) throws(TLSError) -> String { try PEM.file(path) }

    /// The public half in PEM (`PUBLIC KEY`), for whoever verifies.
    public func publicPEM() throws(KeyError) -> String {
        ERR_clear_error()
        guard let text = PEM.text({ PEM_write_bio_PUBKEY($0, raw) }) else {
            throw .failed(operation: "print a public key", text: OpenSSLErrors().text)
        }
        return text
    }

    /// SHA-256 of `message`, signed: r and s, 32 bytes each with leading zeros kept, as JWS wants it (not DER).
    /// Randomised: signing the same twice gives two signatures. About 25 µs.
    public func signature(of message: [UInt8]) throws(KeyError) -> [UInt8] {
        ERR_clear_error()
        guard let context = EVP_MD_CTX_new() else { throw .failed(operation: "sign", text: OpenSSLErrors().text) }
        defer { EVP_MD_CTX_free(context) }
        var der = [UInt8](repeating: 0, count: 128)  // a P-256 signature in DER has at most 72
        var length = der.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, raw) == 1,
            EVP_DigestSign(context, &der, &length, message, message.count) == 1
        else { throw .failed(operation: "sign", text: OpenSSLErrors().text) }
        let parsed = der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &start, length)
        }
        guard let parsed else { throw .failed(operation: "sign", text: OpenSSLErrors().text) }
        defer { ECDSA_SIG_free(parsed) }
        var both = [UInt8](repeating: 0, count: 64)
        let isComplete = both.withUnsafeMutableBufferPointer { bytes in
            // BN_bn2binpad keeps leading zeros; BN_bn2bin would make one signature in 128 too short.
            BN_bn2binpad(ECDSA_SIG_get0_r(parsed), bytes.baseAddress, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), bytes.baseAddress?.advanced(by: 32), 32) == 32
        }
        guard isComplete else { throw .failed(operation: "sign", text: OpenSSLErrors().text) }
        return both
    }
}

/// The public half of a P-256 key; verifies ES256. Freed with the last reference.
public final class VerifyingKey: @unchecked Sendable {  // the EVP_PKEY is never changed, and each check has its own context
    private let raw: OpaquePointer

    /// - Parameter pem: `PUBLIC KEY`, or a private key, of which only the public half is used.
    public init(pem: String) throws(KeyError) {
        ERR_clear_error()
        let read = PEM.withBIO(reading: pem) { PEM_read_bio_PUBKEY($0, nil, noPassphrase, nil) } ?? nil
        guard let key = read ?? PEM.privateKey(pem) else { throw .unreadable(text: OpenSSLErrors().text) }
        if let other = nameUnlessP256(key) {
            EVP_PKEY_free(key)
            throw .notP256(found: other)
        }
        raw = key
    }

    public init(of key: SigningKey) {
        EVP_PKEY_up_ref(key.raw)
        raw = key.raw
    }

    deinit { EVP_PKEY_free(raw) }

    /// - Parameter signature: r and s, 64 bytes; any other length is not valid.
    public func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == 64, let parsed = ECDSA_SIG_new() else { return false }
        defer { ECDSA_SIG_free(parsed) }
        let halves = signature.withUnsafeBufferPointer { bytes in
            (BN_bin2bn(bytes.baseAddress, 32, nil), BN_bin2bn(bytes.baseAddress?.advanced(by: 32), 32, nil))
        }
        guard let r = halves.0, let s = halves.1, ECDSA_SIG_set0(parsed, r, s) == 1 else {  // set0 takes both over
            BN_free(halves.0)
            BN_free(halves.1)
            return false
        }
        var der: UnsafeMutablePointer<UInt8>?
        let length = i2d_ECDSA_SIG(parsed, &der)
        defer { CRYPTO_free(der, nil, 0) }
        guard length > 0, let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()  // a wrong signature is an answer, and must not lie in wait for the next call
        }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, raw) == 1 else { return false }
        return EVP_DigestVerify(context, der, Int(length), message, message.count) == 1
    }
}

private func nameUnlessP256(_ key: OpaquePointer) -> String? {
    let kind = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "of an unknown kind"
    guard kind == "EC" else { return kind }
    var name = [CChar](repeating: 0, count: 80)
    var length = 0
    guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return "EC on an unknown curve" }
    let curve = String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return curve == "prime256v1" ? nil : "EC \(curve)"
}
