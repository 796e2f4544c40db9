internal import COpenSSL
internal import CShims

/// A certificate chain and its private key, both in PEM: what a server shows.
public struct ServerIdentity: Sendable, CustomStringConvertible {
    /// The server's own certificate first, then those that lead to the root.
    public let certificatePEM: String
    public let keyPEM: String

    public init(certificatePEM: String, keyPEM: String) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
    }

    /// Reads both files (at most 1 MB each). Whether they fit together is found when a context is made.
    public init(certificateFile: String, keyFile: String) throws(TLSError) {
        self.init(certificatePEM: try PEM.file(certificateFile), keyPEM: try PEM.file(keyFile))
    }

    /// The key stays out of logs.
    public var description: String { "ServerIdentity(\(certificatePEM.utf8.count) bytes of certificates)" }

    /// A fresh P-256 key with a self-signed certificate, made in memory, for the simulated gateway and for tests: a
    /// client trusts it through `TLSContext.Trust.pem(identity.certificatePEM)`.
    ///
    /// Valid for ten years each way, so that a simulated clock may be far off: the certificate is always checked
    /// against the real one.
    /// - Parameters:
    ///   - names: DNS names it is good for. - addresses: numeric IP addresses it is good for.
    ///   - now: Unix seconds, the middle of its validity.
    public static func selfSigned(
        names: [String] = ["localhost"], addresses: [String] = ["127.0.0.1"], now: Int64
    ) throws(TLSError) -> ServerIdentity {
        ERR_clear_error()
        guard let key = lk_generate_p256() else { throw failure() }
        defer { EVP_PKEY_free(key) }
        guard let certificate = X509_new() else { throw failure() }
        defer { X509_free(certificate) }

        let tenYearsSeconds: Int64 = 10 * 365 * 86_400
        guard X509_set_version(certificate, 2) == 1,  // 2 means version 3
            ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate), max(1, now)) == 1,
            ASN1_TIME_set(X509_getm_notBefore(certificate), Int(now - tenYearsSeconds)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), Int(now + tenYearsSeconds)) != nil,
            X509_set_pubkey(certificate, key) == 1,
            let name = X509_get_subject_name(certificate),
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, names.first ?? addresses.first ?? "server", -1, -1, 0)
                == 1,
            X509_set_issuer_name(certificate, name) == 1
        else { throw failure() }

        let alternatives = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
        let extensions = [
            (NID_subject_alt_name, alternatives.joined(separator: ",")), (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_key_usage, "critical,digitalSignature"), (NID_ext_key_usage, "serverAuth"),
        ]
        for (kind, value) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, nil, kind, value) else { throw failure() }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(certificate, made, -1) == 1 else { throw failure() }
        }
        guard X509_sign(certificate, key, EVP_sha256()) > 0,
            let certificatePEM = PEM.text({ PEM_write_bio_X509($0, certificate) }),
            let keyPEM = PEM.text({ PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) })
        else { throw failure() }
        return ServerIdentity(certificatePEM: certificatePEM, keyPEM: keyPEM)
    }

    private static func failure() -> TLSError {
        .unusable(subject: "a self-signed certificate", text: OpenSSLErrors().text)
    }
}
