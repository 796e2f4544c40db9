internal import COpenSSL
internal import CShims
internal import Glibc

/// TLS over one non-blocking socket, which it owns: both are freed with the last reference. Used by one thread at a
/// time; no call blocks. After an error only `descriptor` and the end of its life are left.
public final class TLSConnection {
    public enum Handshake: Equatable, Sendable {
        case finished
        case wantsRead
        case wantsWrite
    }

    private let context: TLSContext  // holds what OpenSSL's callbacks borrow
    private let socket: Socket
    private let raw: OpaquePointer
    private let host: String
    private var hasFailed = false
    private var isEstablished = false

    /// A client. `host` is sent as the server's name and must stand in its certificate; a numeric address is checked
    /// against the addresses in it.
    public static func client(
        _ context: TLSContext, host: String, socket: consuming Socket
    ) throws(TLSError) -> TLSConnection {
        let connection = try TLSConnection(context, host: host, socket: socket)
        ERR_clear_error()
        let check = SSL_get0_param(connection.raw)
        if X509_VERIFY_PARAM_set1_ip_asc(check, host) != 1 {
            ERR_clear_error()  // no address, then a name
            X509_VERIFY_PARAM_set_hostflags(check, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            guard X509_VERIFY_PARAM_set1_host(check, host, 0) == 1, lk_ssl_set_server_name(connection.raw, host) == 1
            else {
                throw .unusable(subject: "the host name \(host)", text: OpenSSLErrors().text)
            }
        }
        SSL_set_connect_state(connection.raw)
        return connection
    }

    public static func server(_ context: TLSContext, socket: consuming Socket) throws(TLSError) -> TLSConnection {
        let connection = try TLSConnection(context, host: "the client", socket: socket)
        SSL_set_accept_state(connection.raw)
        return connection
    }

    private init(_ context: TLSContext, host: String, socket: consuming Socket) throws(TLSError) {
        ERR_clear_error()
        guard let raw = SSL_new(context.raw) else {
            throw .unusable(subject: "a TLS connection", text: OpenSSLErrors().text)
        }
        self.context = context
        self.host = host
        self.socket = socket
        self.raw = raw
        // OpenSSL borrows the descriptor, it does not close it.
        guard SSL_set_fd(raw, self.socket.descriptor) == 1 else {
            throw .unusable(subject: "a TLS connection", text: OpenSSLErrors().text)
        }
    }

    deinit { SSL_free(raw) }  // the socket closes afterwards, with the stored property

    /// For `Epoll`.
    public var descriptor: Int32 { socket.descriptor }

    /// What ALPN chose; `nil` before the handshake, or without ALPN.
    public var negotiatedProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(raw, &start, &length)
        guard let start, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    /// `TLSv1.3` or `TLSv1.2`.
    public var version: String { String(cString: SSL_get_version(raw)) }

    /// One step. Repeat when the descriptor is ready for what it wants. (A connecting socket counts as `wantsWrite`:
    /// first wait for it to be writable.)
    public func handshake() throws(TLSError) -> Handshake {
        guard !hasFailed else { throw .handshakeFailed(text: "it has failed before") }
        guard !isEstablished else { return .finished }
        ERR_clear_error()
        let result = SSL_do_handshake(raw)
        let code = errno
        if result == 1 {
            if context.requiresProtocol && !context.protocols.isEmpty && negotiatedProtocol == nil {
                throw fail(.noCommonProtocol(offered: context.protocols))
            }
            isEstablished = true
            return .finished
        }
        switch SSL_get_error(raw, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: throw fail(.closedInHandshake)
        case SSL_ERROR_SYSCALL: throw fail(code == 0 ? .closedInHandshake : .socket(SocketError(.read, code: code)))
        default: throw fail(handshakeFailure())
        }
    }

    /// Reads once, at most `buffer.count` bytes (not 0).
    ///
    /// Repeat until it answers `wantsRead`, or while `holdsUnread`: OpenSSL reads ahead, and what it holds already never
    /// wakes `Epoll` again.
    /// `closed` may come without a close_notify: whoever frames messages by length or HTTP/2 sees what is missing.
    public func read(into buffer: inout MutableSpan<UInt8>) throws(TLSError) -> Transfer {
        guard !hasFailed else { throw .connectionFailed(text: "it has failed before") }
        ERR_clear_error()
        let result = buffer.withUnsafeMutableBufferPointer { SSL_read(raw, $0.baseAddress, Int32(clamping: $0.count)) }
        return result > 0 ? .bytes(Int(result)) : try outcome(result, code: errno, operation: .read)
    }

    /// Whether OpenSSL holds bytes that `read` has not given yet, at least a part of a record. Without any, `Epoll` tells
    /// when more has come, and the read that would only answer `wantsRead` can be spared.
    public var holdsUnread: Bool { SSL_has_pending(raw) == 1 }

    /// Writes a part of `bytes` (not empty): at most one record, 16 KB. After `wantsWrite` or `wantsRead` the next
    /// write must begin with the same bytes, at whatever address; more may follow them.
    public func write(_ bytes: Span<UInt8>) throws(TLSError) -> Transfer {
        guard !hasFailed else { throw .connectionFailed(text: "it has failed before") }
        ERR_clear_error()
        let result = bytes.withUnsafeBufferPointer { SSL_write(raw, $0.baseAddress, Int32(clamping: $0.count)) }
        return result > 0 ? .bytes(Int(result)) : try outcome(result, code: errno, operation: .write)
    }

    /// Tells the peer that no more will come (close_notify), as far as that goes now; does not wait for its answer.
    public func shutdown() {
        guard isEstablished, !hasFailed else { return }
        ERR_clear_error()
        _ = SSL_shutdown(raw)
        ERR_clear_error()
    }

    /// The end of this connection will be a RST: for faults in simulations.
    public func closeWithReset() { socket.closeWithReset() }

    private func outcome(_ result: Int32, code: Int32, operation: SocketError.Operation) throws(TLSError) -> Transfer {
        switch SSL_get_error(raw, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        case SSL_ERROR_SYSCALL:
            hasFailed = true
            if code == 0 { return .closed }
            throw .socket(SocketError(operation, code: code))
        default: throw fail(.connectionFailed(text: OpenSSLErrors().text))
        }
    }

    private func handshakeFailure() -> TLSError {
        let errors = OpenSSLErrors()
        let trust = SSL_get_verify_result(raw)
        if trust != Int(X509_V_OK), !context.isServer {
            return .peerNotTrusted(
                host: host, code: trust, text: String(cString: X509_verify_cert_error_string(trust)))
        }
        return errors.speaksOfProtocol
            ? .noCommonProtocol(offered: context.protocols) : .handshakeFailed(text: errors.text)
    }

    private func fail(_ error: TLSError) -> TLSError {
        hasFailed = true  // SSL_shutdown and further calls are forbidden after a fatal error
        return error
    }
}
