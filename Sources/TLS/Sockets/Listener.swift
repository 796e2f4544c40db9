internal import CShims
internal import Glibc

/// Owns one listening, non-blocking TCP socket. Closed when the value dies. Used by one thread at a time.
public struct Listener: ~Copyable, Sendable {
    private let owned: Socket
    /// The address it listens on, with the port that the system chose if 0 was asked for.
    public let address: SocketAddress

    public var descriptor: Int32 { owned.descriptor }

    /// - Parameter backlog: connections that may wait to be accepted.
    /// - Throws: `SocketError` with the address in it; `isAddressInUse` tells the common case.
    public init(on wanted: SocketAddress, backlog: Int32 = 1024) throws(SocketError) {
        let socket = try Socket.make(for: wanted)
        // A restart must not wait for connections of the last run to leave TIME_WAIT. It does not let two programs
        // listen.
        socket.setFlag(SOL_SOCKET, SO_REUSEADDR)
        guard wanted.withSockaddr({ bind(socket.descriptor, $0, $1) }) == 0 else {
            throw SocketError(.bind, code: errno, address: wanted.description)
        }
        guard listen(socket.descriptor, backlog) == 0 else {
            throw SocketError(.listen, code: errno, address: wanted.description)
        }
        var storage = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
        var length = socklen_t(storage.count)
        let code = storage.withUnsafeMutableBytes {
            getsockname(socket.descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        guard code == 0 else { throw SocketError(.bind, code: errno, address: wanted.description) }
        address = SocketAddress(bytes: [UInt8](storage.prefix(Int(length))))
        owned = socket
    }

    /// - Returns: `nil` when no connection waits. A connection that died while it waited is passed over.
    /// - Throws: chiefly when descriptors have run out (EMFILE, ENFILE). The connection still waits then, so the listener
    ///   stays readable: take it out of the epoll set for a while, or the loop spins.
    public borrowing func accept() throws(SocketError) -> Socket? {
        while true {
            let raw = lk_accept4(descriptor)
            if raw >= 0 {
                let socket = Socket(raw, peer: nil)
                socket.setNoDelay()
                return socket
            }
            switch errno {
            case EAGAIN, EWOULDBLOCK: return nil
            case EINTR, ECONNABORTED, EPROTO: continue
            case let code: throw SocketError(.accept, code: code, address: address.description)
            }
        }
    }
}
