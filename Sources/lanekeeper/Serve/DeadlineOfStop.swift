import Foundation
import Operations
import Synchronization

/// Sees to it that a stop ends, whatever hangs.
final class DeadlineOfStop: Sendable {
    private let log: Log
    private let deadline = Mutex<StopDeadline?>(nil)

    init(log: Log) { self.log = log }

    func begin() {
        let (log, seconds) = (log, Daemon.stopSeconds)
        // Without a thread for it the stop has to end by itself.
        let begun = try? StopDeadline(seconds: seconds) {
            log.error("the stop took too long; what was left is dropped", [.seconds: .number(seconds)])
            let last = LastWords(code: 1)
            log.closeNow()
            withExtendedLifetime(last) { _exit(1) }
        }
        deadline.withLock { $0 = $0 ?? begun }
    }

    func callOff() async { await deadline.withLock { $0 }?.callOff() }
}

/// What is left to be said when all else is done. A standard error that nobody reads must not hold up the end.
struct LastWords {
    private let deadline: StopDeadline?

    /// So long they may take; then the process ends as it is.
    static let seconds = 2.0

    /// - Parameter code: what the process ends with then.
    init(code: Int32) {
        // Without a thread for it they are waited for.
        deadline = try? StopDeadline(seconds: Self.seconds) { _exit(code) }
    }

    func said() async { await deadline?.callOff() }
}
