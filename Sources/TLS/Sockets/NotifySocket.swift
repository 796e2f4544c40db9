internal import Glibc

/// Owns one unconnected datagram socket for a service manager's notifications (`sd_notify`). Closed when the last
/// reference goes. From any thread: a datagram is one call.
public final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let address: [UInt8]
    private let path: String

    /// - Parameter path: of the manager's socket; one that begins with `@` is in Linux's abstract namespace.
    /// - Throws: for a path that is empty, relative or too long, or when the system gives no socket.
    public init(path: String) throws(SocketError) {
        self.path = path
        let isAbstract = path.hasPrefix("@")
        guard isAbstract || path.hasPrefix("/"), path.utf8.count >= 2, path.utf8.count <= 107 else {
            throw SocketError(.connect, code: EINVAL, address: path)
        }
        var bytes = withUnsafeBytes(of: sa_family_t(AF_UNIX)) { [UInt8]($0) }
        // An abstract name begins with a zero and ends with its length; a path ends with a zero.
        bytes += isAbstract ? [0] + path.utf8.dropFirst() : Array(path.utf8) + [0]
        address = bytes
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = Glibc.socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw SocketError(.create, code: errno, address: path) }
    }

    deinit { close(descriptor) }

    /// Never blocks.
    /// - Returns: `false` when the manager's queue is full: to be sent again.
    /// - Throws: when nobody listens.
    public func send(_ text: String) throws(SocketError) -> Bool {
        var text = text
        let code: Int32 = text.withUTF8 { bytes in
            address.withUnsafeBytes { address in
                while true {
                    let sent = sendto(
                        descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL),
                        address.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
                    if sent >= 0 { return 0 }
                    if errno != EINTR { return errno }
                }
            }
        }
        if code == 0 { return true }
        if code == EAGAIN || code == EWOULDBLOCK || code == ENOBUFS { return false }
        throw SocketError(.write, code: code, address: path)
    }
}
