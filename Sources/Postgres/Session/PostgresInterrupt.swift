internal import Synchronization
internal import TLS

/// How other threads reach a session in the middle of a wait. Any thread may call; nothing here blocks.
public final class PostgresInterrupt: Sendable {
    struct Wishes: Hashable, Sendable {
        var close = false
        var cancel = false
        var nudge = false
    }

    let signal: EventSignal
    private let wishes = Mutex(Wishes())

    public init() throws(PostgresError) {
        do throws(SocketError) { signal = try EventSignal() } catch { throw .system("\(error)") }
    }

    /// For good: what waits throws `closed`, and so does whatever comes later. Connecting is not cut short; libpq's
    /// `connect_timeout` bounds it.
    public func close() { wish { $0.close = true } }

    /// The statement that waits for its answer now is asked to stop (SQLSTATE 57014, unless it is done first). Asked for
    /// while nothing waits, it is forgotten with the next statement's beginning.
    public func cancel() { wish { $0.cancel = true } }

    /// A wait that may end empty-handed, of `readCopy` or `waitForNotifications`, ends now, or
    /// the next one at once.
    public func nudge() { wish { $0.nudge = true } }

    public var isClosed: Bool { wishes.withLock { $0.close } }

    /// For the session: drains the signal and takes what was asked. Closing stays asked, and a nudge until a wait that it
    /// ends takes it.
    func take(withNudge: Bool) -> Wishes {
        signal.drain()
        return wishes.withLock { state in
            let taken = state
            state = Wishes(close: taken.close, nudge: taken.nudge && !withNudge)
            return taken
        }
    }

    func forgetCancel() { wishes.withLock { $0.cancel = false } }

    private func wish(_ change: (inout Wishes) -> Void) {
        wishes.withLock { change(&$0) }
        signal.signal()
    }
}
