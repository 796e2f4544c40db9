internal import Synchronization
internal import TLS

extension PostgresConnection {
    struct Facts: Sendable {
        let backendPID: Int32
        let serverVersion: Int32
    }

    /// The thread's whole life.
    static func serve(
        _ address: PostgresAddress, _ settings: PostgresSettings, _ queue: ConnectionQueue,
        _ interrupt: PostgresInterrupt, _ opening: Opening, _ notified: @Sendable ([PostgresNotification]) -> Void
    ) {
        do throws(PostgresError) {
            var session = try PostgresSession.connect(to: address, settings: settings, interrupt: interrupt)
            opening.tell(.success(Facts(backendPID: session.backendPID, serverVersion: session.serverVersion)))
            queue.close(serve(&session, queue, notified))
        } catch {
            queue.close(error)
            opening.tell(.failure(error))  // heard only where it was the opening that failed
        }
    }

    /// - Returns: why it ended.
    private static func serve(
        _ session: inout PostgresSession, _ queue: ConnectionQueue,
        _ notified: @Sendable ([PostgresNotification]) -> Void
    ) -> PostgresError {
        while true {
            for job in queue.take() {
                if let fault = session.fault { job.refuse(fault) } else { job.run(&session) }
            }
            if let fault = session.fault { return fault }
            let heard = session.takeNotifications()
            if !heard.isEmpty { notified(heard) }
            do throws(PostgresError) {
                try session.waitIdly()
            } catch {
                return error
            }
        }
    }
}

extension PostgresSession {
    /// Until somebody wants something or the server has said something by itself. The socket of a copy is left alone: what
    /// comes there waits for its reader.
    fileprivate mutating func waitIdly() throws(PostgresError) {
        let wake = try wait(for: isCopying ? [] : .read, timeoutMilliseconds: nil)
        if wake.isReadable { try consume() }
    }
}

/// How the opening went: told by the connection's thread, waited for by whoever opens.
final class Opening: Sendable {
    typealias Outcome = Result<PostgresConnection.Facts, PostgresError>

    private struct State {
        var outcome: Outcome?
        var waiting: CheckedContinuation<Outcome, Never>?
    }

    private let state = Mutex(State())

    /// The first one counts.
    func tell(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: outcome)
    }

    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiting = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }
}
