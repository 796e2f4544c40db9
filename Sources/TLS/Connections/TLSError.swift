internal import COpenSSL

/// What went wrong in TLS, with OpenSSL's own text. None is cured by repeating on the same connection.
public enum TLSError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A file, certificate or key cannot be used. `subject` says which: a path, or what it was for.
    case unusable(subject: String, text: String)
    /// We do not trust the peer's certificate: unknown authority, other host name, expired. `code` is X509_V_ERR_...
    case peerNotTrusted(host: String, code: Int, text: String)
    /// ALPN found no protocol that both sides speak. `offered` are ours.
    case noCommonProtocol(offered: [String])
    /// Any other failure of the handshake, the peer's alert included.
    case handshakeFailed(text: String)
    /// The peer went away during the handshake.
    case closedInHandshake
    /// A broken record or the peer's alert, after the handshake.
    case connectionFailed(text: String)
    /// The socket below failed.
    case socket(SocketError)

    public var description: String {
        switch self {
        case .unusable(let subject, let text): "\(subject): \(text)"
        case .peerNotTrusted(let host, let code, let text):
            "the certificate of \(host) is not trusted: \(text) (\(code))"
        case .noCommonProtocol(let offered): "the peer speaks none of \(offered.joined(separator: ", "))"
        case .handshakeFailed(let text): "TLS handshake failed: \(text)"
        case .closedInHandshake: "the peer closed the connection during the TLS handshake"
        case .connectionFailed(let text): "TLS connection failed: \(text)"
        case .socket(let error): error.description
        }
    }
}

/// Takes this thread's error queue of OpenSSL. Every call is preceded by `ERR_clear_error`, so it belongs to that call.
struct OpenSSLErrors {
    let text: String
    private let reasons: [Int32]

    init() {
        var lines: [String] = []
        var reasons: [Int32] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            var buffer = [CChar](repeating: 0, count: 256)
            ERR_error_string_n(code, &buffer, buffer.count)
            lines.append(String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            reasons.append(ERR_GET_REASON(code))
        }
        text = lines.isEmpty ? "no reason given" : lines.joined(separator: "; ")
        self.reasons = reasons
    }

    /// Our server found no common protocol, or the peer's alert says so.
    var speaksOfProtocol: Bool {
        reasons.contains(SSL_R_NO_APPLICATION_PROTOCOL) || reasons.contains(SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL)
    }
}
