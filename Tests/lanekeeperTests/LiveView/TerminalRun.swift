import Foundation
import Glibc
import Synchronization
import Testing

/// The built program under a pseudo-terminal of its own, as a person has it in a window.
final class TerminalRun {
    let process = Process()
    private(set) var screen: TerminalScreen
    private let master: Int32
    private let slave: FileHandle
    private let ended = Ended()
    private let before: termios

    /// How long anything may take to stand on the screen. Never waited for where it does.
    private static let patience = 60.0

    init(
        _ program: URL, _ arguments: [String], columns: Int = 80, rows: Int = 24, environment: [String: String] = [:]
    ) throws {
        // As posix_openpt, unlockpt and ptsname do it, which Swift's Glibc module leaves out: Linux, ioctl_tty(2).
        let (unlock, askNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)  // TIOCSPTLCK, TIOCGPTN
        // The program gets no copy of this end: its guard would hold it.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number): (Int32, UInt32) = (0, 0)
        try #require(master >= 0 && ioctl(master, unlock, &locked) == 0 && ioctl(master, askNumber, &number) == 0)
        let name = "/dev/pts/\(number)"
        let descriptor = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(descriptor >= 0)
        slave = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        screen = TerminalScreen(columns: columns, rows: rows)
        var settings = termios()
        tcgetattr(descriptor, &settings)
        before = settings
        resize(columns: columns, rows: rows)
        process.executableURL = program
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin", "TERM": "xterm", "LANG": "C.UTF-8"].merging(environment) { $1 }
        process.standardInput = slave
        process.standardOutput = slave
        process.standardError = slave
        process.terminationHandler = { [ended] _ in ended.isSo.store(true, ordering: .releasing) }
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        close(master)
    }

    func type(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(master, bytes, bytes.count)
    }

    func resize(columns: Int, rows: Int) {
        var size = winsize()
        (size.ws_col, size.ws_row) = (UInt16(columns), UInt16(rows))
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
        screen.resize(columns: columns, rows: rows)
    }

    /// How the terminal treats keys, and whether that is as it was before the program.
    var isAsBefore: Bool {
        var now = termios()
        tcgetattr(slave.fileDescriptor, &now)
        let keys = withUnsafeBytes(of: now.c_cc) { Array($0) } == withUnsafeBytes(of: before.c_cc) { Array($0) }
        return keys && now.c_lflag == before.c_lflag && now.c_iflag == before.c_iflag && now.c_oflag == before.c_oflag
    }

    /// Reads on until `isTrue` of what stands on the screen. Gives up, and shows the screen, when it does not come.
    func until(
        _ what: String, source: SourceLocation = #_sourceLocation, _ isTrue: (TerminalScreen) -> Bool
    ) throws {
        let deadline = ContinuousClock.now + .seconds(TerminalRun.patience)
        while !isTrue(screen) {
            guard ContinuousClock.now < deadline else {
                Issue.record("never came: \(what)\n\(screen.text)\n\(screen.printed)", sourceLocation: source)
                throw NeverCame()
            }
            read(within: 20)
        }
    }

    struct NeverCame: Error {}

    private final class Ended: Sendable {
        let isSo = Atomic<Bool>(false)
    }

    /// Reads all until the program has ended.
    /// - Returns: its exit code, or the signal that ended it.
    func untilEnded() throws -> Int32 {
        try until("its end") { _ in ended.isSo.load(ordering: .acquiring) }
        while read(within: 0) {}
        return process.terminationStatus
    }

    @discardableResult
    private func read(within milliseconds: Int32) -> Bool {
        var wait = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, milliseconds) > 0, wait.revents & Int16(POLLIN) != 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(master, &bytes, bytes.count)
        guard count > 0 else { return false }
        screen.take(bytes[..<count])
        return true
    }
}
