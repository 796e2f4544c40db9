import Glibc

/// Plain sockets on 127.0.0.1, for lines that tests hold or cut. Each descriptor is its caller's to close.
public enum LoopbackSocket {
    /// - Returns: a listener on a free port.
    /// - Throws: `ClusterFault`.
    public static func listen() throws -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard bind(descriptor, toPort: 0), Glibc.listen(descriptor, 256) == 0 else {
            close(descriptor)
            throw ClusterFault(what: "no listener on 127.0.0.1: \(errno)")
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withAddress(&address) { getsockname(descriptor, $0, &length) }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// - Returns: `nil` where nobody listens.
    public static func connect(toPort port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = address(port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withAddress(&address, { Glibc.connect(descriptor, $0, length) == 0 }) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// - Returns: false when the other side is gone.
    public static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    static func bind(_ descriptor: Int32, toPort port: UInt16) -> Bool {
        var address = address(port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withAddress(&address) { Glibc.bind(descriptor, $0, length) == 0 }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withAddress<Value>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Value
    ) -> Value {
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}
