internal import CShims
internal import Glibc
internal import Synchronization

/// The signals of a daemon, told on a thread of its own. One a process, for its whole life.
///
/// SIGTERM and SIGINT ask it to stop, SIGHUP to read its configuration again. A second SIGTERM or SIGINT ends the process
/// at once, whatever it is about: the handler itself sees to that.
///
/// A pipe and a handler that writes one byte into it, not a signalfd: that would want the signals blocked in every
/// thread, and Swift's own threads are there before `main` is.
public final class ProcessSignals: Sendable {
    public enum Kind: Sendable {
        case stop, reload
    }

    private let thread: LoopThread

    /// - Parameter take: called on the signals' thread, one signal after the other; must not block for long.
    /// - Throws: `SocketError` when the system gives no pipe, handler or thread.
    public init(_ take: @escaping @Sendable (Kind) -> Void) throws(SocketError) {
        let reader = lk_watch_signals()
        guard reader >= 0 else { throw SocketError(.signal, code: errno) }
        thread = try LoopThread(name: "signals") {
            var number: UInt8 = 0
            while true {
                let count = read(reader, &number, 1)
                if count == 1 {
                    take(Int32(number) == SIGHUP ? .reload : .stop)
                } else if count == 0 || errno != EINTR {
                    return
                }
            }
        }
    }
}
