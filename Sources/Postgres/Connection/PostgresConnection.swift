internal import TLS

/// One libpq connection on a thread of its own, for one owner. Callers hand in jobs from anywhere; they run on that thread,
/// one at a time, in order.
///
/// It lives once: after a loss it refuses everything with the reason, and the owner opens another. Nobody's statement is
/// repeated by itself. Without an owner it closes.
public final class PostgresConnection: Sendable {
    /// Jobs that may wait; further ones are refused.
    public static let maximumWaiting = 4096

    private let queue: ConnectionQueue
    private let interrupt: PostgresInterrupt
    private let thread: LoopThread
    public let backendPID: Int32
    public let serverVersion: Int32

    /// Connects on the new thread; returns when that is done.
    /// - Parameters:
    ///   - address: as it is; see `PostgresAddress.recommended`.
    ///   - notified: called on the connection's thread with what NOTIFY told, in order.
    public static func open(
        _ address: PostgresAddress, settings: PostgresSettings = PostgresSettings(),
        notified: @escaping @Sendable ([PostgresNotification]) -> Void = { _ in }
    ) async throws(PostgresError) -> PostgresConnection {
        let queue = ConnectionQueue(maximumWaiting: maximumWaiting)
        let interrupt = try PostgresInterrupt()
        let opening = Opening()
        let thread: LoopThread
        do throws(SocketError) {
            thread = try LoopThread(name: "lk-postgres") {
                serve(address, settings, queue, interrupt, opening, notified)
            }
        } catch {
            throw .system("\(error)")
        }
        return PostgresConnection(queue, interrupt, thread, try await opening.outcome().get())
    }

    private init(_ queue: ConnectionQueue, _ interrupt: PostgresInterrupt, _ thread: LoopThread, _ facts: Facts) {
        self.queue = queue
        self.interrupt = interrupt
        self.thread = thread
        backendPID = facts.backendPID
        serverVersion = facts.serverVersion
    }

    deinit { interrupt.close() }

    /// Runs `body` on the connection's thread and suspends until it has returned. Cancelling the task does not end it:
    /// `cancel` and `close` do.
    public func perform<Value: Sendable>(
        _ body: @escaping @Sendable (inout PostgresSession) throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Value, PostgresError>, Never>) in
            submit { session in
                do throws(PostgresError) {
                    done.resume(returning: .success(try body(&session)))
                } catch {
                    done.resume(returning: .failure(error))
                }
            } refused: { error in
                done.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// The same for who waits otherwise. One of the two is called, once: `body` on the connection's thread, `refused` there
    /// or here.
    public func submit(
        _ body: @escaping @Sendable (inout PostgresSession) -> Void,
        refused: @escaping @Sendable (PostgresError) -> Void
    ) {
        if let error = queue.put(ConnectionQueue.Job(run: body, refuse: refused)) { return refused(error) }
        interrupt.signal.signal()
    }

    /// Asks the server to stop the statement under way.
    public func cancel() { interrupt.cancel() }

    /// Ends a wait that may end empty-handed, of `readCopy` or `waitForNotifications`.
    public func nudge() { interrupt.nudge() }

    /// Ends it, also in the middle of a wait. What waits gets `closed`.
    public func close() {
        queue.close(.closed)
        interrupt.close()
    }

    /// Returns when the thread has ended and libpq's connection is closed.
    public func closed() async { await thread.finished() }

    /// Why it is over; `nil` while it lives, as far as is known: a loss shows when something is read.
    public var end: PostgresError? { queue.end }
}
