import Glibc
import Synchronization
import TLS

/// `q` and Return on a terminal leave the demo. Reads on a thread of its own, which ends with the process.
final class QuitKey: Sendable {
    private let pressed = Atomic<Bool>(false)

    /// `nil` when standard input is no terminal.
    init?() {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        let reader = try? LoopThread(name: "keys") { [self] in
            while let line = readLine() {
                if line.lowercased() == "q" {
                    pressed.store(true, ordering: .relaxed)
                    return
                }
            }
        }
        _ = reader
    }

    var isPressed: Bool { pressed.load(ordering: .relaxed) }
}
