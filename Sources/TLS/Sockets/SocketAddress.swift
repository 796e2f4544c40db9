internal import Glibc

/// An IPv4 or IPv6 address with a port, as bytes of a `sockaddr`.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]
    private let host: String

    /// - Parameter ip: numeric, `127.0.0.1` or `::1`. `nil` for anything else: names go through `resolve`.
    public init?(ip: String, port: UInt16) {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if inet_pton(AF_INET, ip, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            bytes = withUnsafeBytes(of: four) { [UInt8]($0) }
        } else if inet_pton(AF_INET6, ip, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            bytes = withUnsafeBytes(of: six) { [UInt8]($0) }
        } else {
            return nil
        }
        host = ip
    }

    /// 127.0.0.1. Port 0 lets the system choose one; `Listener.address` tells which.
    public static func loopback(port: UInt16) -> SocketAddress {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return SocketAddress(bytes: withUnsafeBytes(of: address) { [UInt8]($0) }, host: "127.0.0.1")
    }

    /// Asks the system's resolver, each time anew (Apple wants an uncached look-up for each connection: ref T13). It
    /// BLOCKS, for seconds if a name server is silent: call it on a thread of its own. The order is the resolver's.
    public static func resolve(host: String, port: UInt16) throws(SocketError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            throw SocketError(
                .resolve, code: code, address: "\(host):\(port)",
                text: code == EAI_SYSTEM ? String(cString: strerror(errno)) : String(cString: gai_strerror(code)))
        }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr {
                let raw = UnsafeRawBufferPointer(start: address, count: Int(entry.pointee.ai_addrlen))
                found.append(SocketAddress(bytes: [UInt8](raw)))
            }
            next = entry.pointee.ai_next
        }
        return found
    }

    /// Both address families keep the port, in network order, in bytes 2 and 3.
    public var port: UInt16 { bytes.count >= 4 ? UInt16(bytes[2]) << 8 | UInt16(bytes[3]) : 0 }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    init(bytes: [UInt8], host: String? = nil) {
        self.bytes = bytes
        self.host = host ?? Self.numericHost(of: bytes)
    }

    var family: Int32 {
        bytes.withUnsafeBytes { $0.count >= 2 ? Int32($0.loadUnaligned(as: sa_family_t.self)) : AF_UNSPEC }
    }

    func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> R) -> R {
        bytes.withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) }
    }

    private static func numericHost(of bytes: [UInt8]) -> String {
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = bytes.withUnsafeBytes {
            getnameinfo(
                $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count), &name,
                socklen_t(name.count),
                nil, 0, Int32(NI_NUMERICHOST))
        }
        guard code == 0 else { return "?" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
