internal import CShims
internal import Glibc

/// Owns one eventfd: wakes a thread that waits in `Epoll`. Closed when the last reference goes. Any thread may `signal`
/// (one `write`, which the system makes atomic); signals that nobody has drained yet are one.
public final class EventSignal: Sendable {
    public let descriptor: Int32

    public init() throws(SocketError) {
        let raw = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard raw >= 0 else { throw SocketError(.signal, code: errno) }
        descriptor = raw
    }

    deinit { close(descriptor) }

    /// Never blocks. That the counter is full means that a signal is pending anyway.
    public func signal() {
        var one: UInt64 = 1
        while write(descriptor, &one, 8) < 0 && errno == EINTR {}
    }

    /// Takes back all signals. Drain first and look at the queue afterwards, or a wake-up is lost.
    public func drain() {
        var count: UInt64 = 0
        while read(descriptor, &count, 8) < 0 && errno == EINTR {}
    }
}
