internal import Glibc

/// Owns one connected, or connecting, non-blocking TCP socket. Closed when the value dies. Used by one thread at a
/// time.
///
/// Descriptors are owned in this target, so that the rooms above it (the pusher, the simulated gateway, the web server)
/// hold no C of their own.
public struct Socket: ~Copyable, Sendable {
    private let owned: Descriptor
    private let peer: SocketAddress?

    /// For `Epoll`. Valid as long as this value lives.
    public var descriptor: Int32 { owned.raw }

    init(_ raw: Int32, peer: SocketAddress?) {
        owned = Descriptor(raw)
        self.peer = peer
    }

    /// Begins to connect, with `TCP_NODELAY` set (writes are batched above). When the descriptor is writable,
    /// `checkConnected` tells how it went.
    public static func connect(to address: SocketAddress) throws(SocketError) -> Socket {
        let socket = try make(for: address)
        let code = address.withSockaddr { Glibc.connect(socket.descriptor, $0, $1) == 0 ? 0 : errno }
        guard code == 0 || code == EINPROGRESS else {
            throw SocketError(.connect, code: code, address: address.description)
        }
        return socket
    }

    /// Call once, when the descriptor is first writable after `connect`.
    /// - Throws: what the connecting came to: connection refused, timed out, no route.
    public borrowing func checkConnected() throws(SocketError) {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        if getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) != 0 { code = errno }
        guard code == 0 else { throw SocketError(.connect, code: code, address: peer?.description) }
    }

    /// Reads what is there, at most `buffer.count` bytes (not 0). Plain text: for TLS see `TLSConnection`.
    public borrowing func read(into buffer: inout MutableSpan<UInt8>) throws(SocketError) -> Transfer {
        while true {
            let count = buffer.withUnsafeMutableBufferPointer { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count > 0 { return .bytes(count) }
            if count == 0 { return .closed }
            let code = errno
            if code == EINTR { continue }
            if code == EAGAIN || code == EWOULDBLOCK { return .wantsRead }
            throw SocketError(.read, code: code, address: peer?.description)
        }
    }

    /// Writes a part of `bytes`, as much as the system takes now. No SIGPIPE: a closed peer is an error (EPIPE).
    public borrowing func write(_ bytes: Span<UInt8>) throws(SocketError) -> Transfer {
        while true {
            let count = bytes.withUnsafeBufferPointer {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 { return .bytes(count) }
            let code = errno
            if code == EINTR { continue }
            if code == EAGAIN || code == EWOULDBLOCK { return .wantsWrite }
            throw SocketError(.write, code: code, address: peer?.description)
        }
    }

    /// Sends the end of our stream; the other direction stays open.
    public borrowing func finishWriting() { _ = Glibc.shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closing this socket will send RST instead of FIN (`SO_LINGER` of zero): for faults in simulations.
    public borrowing func closeWithReset() {
        var value = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    static func make(for address: SocketAddress) throws(SocketError) -> Socket {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let raw = Glibc.socket(address.family, kind, 0)
        guard raw >= 0 else { throw SocketError(.create, code: errno, address: address.description) }
        let socket = Socket(raw, peer: address)
        socket.setNoDelay()
        return socket
    }

    borrowing func setNoDelay() { setFlag(Int32(IPPROTO_TCP), TCP_NODELAY) }

    /// Never fails on a TCP socket; elsewhere it is a matter of speed only.
    borrowing func setFlag(_ level: Int32, _ name: Int32) {
        var on: Int32 = 1
        _ = setsockopt(descriptor, level, name, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
