internal import Glibc

/// Owns one file descriptor: closed when the value dies, and by nobody else.
struct Descriptor: ~Copyable {
    let raw: Int32
    /// Takes ownership.
    init(_ raw: Int32) { self.raw = raw }
    // No repeat on EINTR: Linux has released the number by then.
    deinit { close(raw) }
}

/// What a non-blocking read or write came to.
public enum Transfer: Equatable, Sendable {
    /// So many bytes moved; at least 1.
    case bytes(Int)
    /// Nothing now: call again when the descriptor is readable.
    case wantsRead
    /// Nothing now: call again when the descriptor is writable.
    case wantsWrite
    /// The other side has ended its stream.
    case closed
}
