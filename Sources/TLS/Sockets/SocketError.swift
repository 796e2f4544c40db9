internal import Glibc

/// A call on a descriptor that failed. Carries the system's own number and text and, where there is one, the address,
/// so that "address already in use" names the port.
public struct SocketError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Operation: String, Sendable {
        case resolve, create, bind, listen, accept, connect, configure, read, write, poll, signal, startThread
    }

    public let operation: Operation
    /// `errno`, or for `.resolve` the code of `getaddrinfo`.
    public let code: Int32
    public let text: String
    /// `host:port` for calls that have one.
    public let address: String?

    /// True when another program (or an earlier run of this one) holds the port.
    public var isAddressInUse: Bool { operation != .resolve && code == EADDRINUSE }

    public var description: String {
        let place = address.map { " \($0)" } ?? ""
        return "\(operation.rawValue)\(place): \(text) (\(code))"
    }

    init(_ operation: Operation, code: Int32, address: String? = nil, text: String? = nil) {
        self.operation = operation
        self.code = code
        self.text = text ?? String(cString: strerror(code))
        self.address = address
    }
}
