import Foundation
import Glibc

/// A second process of this program that waits for the first to end: where that was killed before it could give the
/// terminal back (SIGKILL, a crash), this one does.
final class TerminalGuard: Sendable {
    /// The command under which the program is one. Not for people.
    static let command = "terminal-guard"

    private let line: FileHandle

    /// - Parameter settings: as they were before.
    init?(_ settings: TerminalSettings?) {
        let pipe = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe")
        process.arguments = [TerminalGuard.command, settings?.text ?? ""]
        process.standardInput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        line = pipe.fileHandleForWriting
    }

    /// The terminal has been given back: nothing is left to do.
    func dismiss() {
        try? line.write(contentsOf: Data([1]))
        try? line.close()
    }

    /// The guard's own life. The other end of standard input is held by the program alone: it ends with it.
    static func serve(_ arguments: [String]) -> Int32 {
        // Neither what stops the program nor writing from behind it may stop this.
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTTOU, SIGPIPE] { signal(number, SIG_IGN) }
        var byte: UInt8 = 0
        var count = read(STDIN_FILENO, &byte, 1)
        while count < 0, errno == EINTR { count = read(STDIN_FILENO, &byte, 1) }
        guard count == 0, isatty(STDOUT_FILENO) == 1 else { return 0 }
        let leaving = Array(Terminal.leaving.utf8)
        _ = leaving.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if let text = arguments.first { TerminalSettings(text: text)?.apply(to: STDOUT_FILENO) }
        return 0
    }
}
