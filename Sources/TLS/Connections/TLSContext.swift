internal import COpenSSL
internal import CShims
internal import Glibc

/// Settings and keys that many connections share: one SSL_CTX, freed with the last reference. TLS 1.2 or later (T1).
///
/// Making the first one sets SIGPIPE to "ignored" for the whole process: OpenSSL writes to its sockets with `write`,
/// and a peer that has gone away would otherwise end the program.
public final class TLSContext: @unchecked Sendable {  // not changed after init, and OpenSSL locks its reference counts
    /// Whose certificates a client believes.
    public enum Trust: Sendable {
        /// The system's roots (or those that SSL_CERT_FILE and SSL_CERT_DIR name).
        case system
        /// Only these, in PEM: one or more.
        case pem(String)
        case file(String)
    }

    let raw: OpaquePointer
    let isServer: Bool
    /// What we offer in ALPN (RFC 7301), best first; empty: ALPN is left out.
    public let protocols: [String]
    let requiresProtocol: Bool
    // The list in wire form. OpenSSL's callback borrows it, so it lives as long as we do, and each connection holds us.
    private let wire: UnsafeMutableBufferPointer<UInt8>

    /// For connections that we open. The peer's certificate and host name are always checked; if `protocols` is not
    /// empty, a peer that chooses none of them is refused.
    public static func client(trusting trust: Trust, protocols: [String] = ["h2"]) throws(TLSError) -> TLSContext {
        let context = try TLSContext(isServer: false, protocols: protocols, requiresProtocol: true)
        ERR_clear_error()
        SSL_CTX_set_verify(context.raw, SSL_VERIFY_PEER, nil)
        switch trust {
        case .system:
            guard SSL_CTX_set_default_verify_paths(context.raw) == 1 else {
                throw .unusable(subject: "the system's certificates", text: OpenSSLErrors().text)
            }
        case .pem(let text): try context.trust(text, subject: "the trusted certificates")
        case .file(let path): try context.trust(try PEM.file(path), subject: path)
        }
        return context
    }

    /// For connections that we accept. If `protocols` is not empty, a client that offers ALPN, but none of them, is
    /// refused with the alert that RFC 7301 wants, and one that offers no ALPN at all is refused after the handshake,
    /// unless `requiresProtocol` is false (HTTP/1.1 is what a client without ALPN speaks).
    public static func server(
        _ identity: ServerIdentity, protocols: [String] = ["h2"], requiresProtocol: Bool = true
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(isServer: true, protocols: protocols, requiresProtocol: requiresProtocol)
        try context.show(identity)
        return context
    }

    private init(isServer: Bool, protocols: [String], requiresProtocol: Bool) throws(TLSError) {
        _ = Self.ignoreBrokenPipes
        ERR_clear_error()
        guard let raw = SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
            throw .unusable(subject: "a TLS context", text: OpenSSLErrors().text)
        }
        let listed = protocols.flatMap { [UInt8(clamping: $0.utf8.count)] + $0.utf8.prefix(255) }
        wire = .allocate(capacity: listed.count)
        _ = wire.initialize(from: listed)
        self.raw = raw
        self.isServer = isServer
        self.protocols = protocols
        self.requiresProtocol = requiresProtocol

        lk_ssl_ctx_allow_partial_writes(raw)
        lk_ssl_ctx_set_options(raw)
        // One read of the socket for many records; the price: one must read until `wantsRead` (see TLSConnection.read).
        lk_ssl_ctx_read_ahead(raw)
        if isServer { lk_ssl_ctx_release_idle_buffers(raw) }
        guard lk_ssl_ctx_require_tls12(raw) == 1 else {
            throw .unusable(subject: "a TLS context", text: OpenSSLErrors().text)
        }
        guard !protocols.isEmpty else { return }
        if isServer {
            SSL_CTX_set_alpn_select_cb(
                raw, chooseProtocol, UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque()))
        } else if SSL_CTX_set_alpn_protos(raw, wire.baseAddress, UInt32(wire.count)) != 0 {  // here 0 is success
            throw .unusable(subject: "the list of protocols", text: OpenSSLErrors().text)
        }
    }

    deinit {
        SSL_CTX_free(raw)
        wire.deallocate()
    }

    private func trust(_ pem: String, subject: String) throws(TLSError) {
        let certificates = PEM.certificates(pem)
        defer { for certificate in certificates { X509_free(certificate) } }
        guard !certificates.isEmpty else { throw .unusable(subject: subject, text: "no certificate in PEM form in it") }
        ERR_clear_error()
        let store = SSL_CTX_get_cert_store(raw)
        for certificate in certificates where X509_STORE_add_cert(store, certificate) != 1 {
            throw .unusable(subject: subject, text: OpenSSLErrors().text)
        }
    }

    private func show(_ identity: ServerIdentity) throws(TLSError) {
        let chain = PEM.certificates(identity.certificatePEM)
        defer { for certificate in chain { X509_free(certificate) } }
        guard let own = chain.first else {
            throw .unusable(subject: "the server's certificate", text: "no certificate in PEM form in it")
        }
        guard let key = PEM.privateKey(identity.keyPEM) else {
            throw .unusable(subject: "the server's key", text: OpenSSLErrors().text)
        }
        defer { EVP_PKEY_free(key) }
        ERR_clear_error()
        guard SSL_CTX_use_certificate(raw, own) == 1 else {
            throw .unusable(subject: "the server's certificate", text: OpenSSLErrors().text)
        }
        for link in chain.dropFirst() {
            X509_up_ref(link)  // add0 takes this reference; the list above keeps its own
            guard lk_ssl_ctx_add0_chain_cert(raw, link) == 1 else {
                X509_free(link)
                throw .unusable(subject: "the server's certificate chain", text: OpenSSLErrors().text)
            }
        }
        guard SSL_CTX_use_PrivateKey(raw, key) == 1, SSL_CTX_check_private_key(raw) == 1 else {
            throw .unusable(subject: "the server's key", text: OpenSSLErrors().text)
        }
    }

    fileprivate func choose(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ length: UnsafeMutablePointer<UInt8>,
        offered: UnsafePointer<UInt8>, count: UInt32
    ) -> Int32 {
        var found: UnsafeMutablePointer<UInt8>?
        let result = SSL_select_next_proto(&found, length, wire.baseAddress, UInt32(wire.count), offered, count)
        guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        chosen.pointee = UnsafePointer(found)
        return SSL_TLSEXT_ERR_OK
    }

    private static let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
}

private let chooseProtocol: SSL_CTX_alpn_select_cb_func = { _, chosen, length, offered, count, argument in
    guard let chosen, let length, let offered, let argument else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    return Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue()
        .choose(chosen, length, offered: offered, count: count)
}
