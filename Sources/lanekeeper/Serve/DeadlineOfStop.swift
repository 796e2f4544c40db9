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
            log.closeNow()
            exit(1)
        }
        deadline.withLock { $0 = $0 ?? begun }
    }

    func callOff() async { await deadline.withLock { $0 }?.callOff() }
}
