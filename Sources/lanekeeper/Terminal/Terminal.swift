import Glibc
import Synchronization

/// Owns the terminal while a whole screen is drawn on it: keys come one by one and unseen, the screen is the alternate
/// one, the cursor is hidden. `restore` gives it back as it was, once, from any thread; dying without that is the
/// guard's concern.
final class Terminal: Sendable {
    private let settings: TerminalSettings?
    private let guardian: TerminalGuard?
    private let isOurs = Atomic<Bool>(true)

    /// Leaves the alternate screen with nothing switched on.
    static let leaving = "\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l"
    private static let entering = "\u{1b}[?1049h\u{1b}[?25l"

    /// Why there is no whole screen to draw on; `nil` where there is one.
    static func obstacle(in environment: [String: String]) -> String? {
        if isatty(STDOUT_FILENO) != 1 { return "standard output is no terminal" }
        let kind = environment["TERM"] ?? ""
        return kind.isEmpty || kind == "dumb" ? "the terminal cannot place text (TERM)" : nil
    }

    /// UTF-8 by the locale, in the order in which POSIX looks.
    static func isUTF8(in environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        return locale.lowercased().split(separator: "-").joined().hasSuffix("utf8")
    }

    /// Takes the terminal over. Without a terminal on standard input there are no keys.
    init() {
        settings = TerminalSettings(of: STDIN_FILENO)
        guardian = TerminalGuard(settings)
        settings?.forKeys.apply(to: STDIN_FILENO)
        write(Terminal.entering)
    }

    deinit { restore() }

    var hasKeys: Bool { settings != nil }

    /// Gives the terminal back.
    func restore() {
        guard isOurs.exchange(false, ordering: .acquiringAndReleasing) else { return }
        write(Terminal.leaving)
        settings?.apply(to: STDIN_FILENO)
        guardian?.dismiss()
    }

    /// `nil` where the terminal does not say.
    var size: ScreenSize? {
        var found = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &found) == 0, found.ws_col > 0, found.ws_row > 0 else {
            return nil
        }
        return ScreenSize(columns: Int(found.ws_col), rows: Int(found.ws_row))
    }

    /// Blocks until the terminal has it all.
    /// - Returns: `false` when it is gone.
    @discardableResult
    func write(_ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR || errno == EAGAIN { continue }
            guard written > 0 else { return false }
            bytes.removeFirst(written)
        }
        return true
    }

    /// What was typed, after at most so many milliseconds; empty where nothing was, `nil` when the terminal is gone.
    func typed(within milliseconds: Int32) -> [UInt8]? {
        var wait = pollfd(fd: hasKeys ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, milliseconds) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = bytes.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR || errno == EAGAIN { return [] }
        return count > 0 ? Array(bytes[..<count]) : nil
    }
}

/// How a terminal treats what is typed (POSIX termios).
struct TerminalSettings: Sendable {
    private var raw: termios

    /// `nil` where the descriptor is no terminal.
    init?(of descriptor: Int32) {
        raw = termios()
        guard tcgetattr(descriptor, &raw) == 0 else { return nil }
    }

    /// Keys at once and unseen. Ctrl-C still stops; stopping the program or its output would leave the screen behind.
    var forKeys: TerminalSettings {
        var keys = self
        keys.raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        keys.raw.c_iflag &= ~tcflag_t(IXON)
        withUnsafeMutableBytes(of: &keys.raw.c_cc) { codes in
            codes[Int(VMIN)] = 1
            codes[Int(VTIME)] = 0
            codes[Int(VSUSP)] = 0
            codes[Int(VQUIT)] = 0
        }
        return keys
    }

    func apply(to descriptor: Int32) {
        var settings = raw
        while tcsetattr(descriptor, TCSADRAIN, &settings) != 0, errno == EINTR {}
    }

    /// For another process of this program.
    var text: String {
        withUnsafeBytes(of: raw) { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    }

    /// - Parameter text: as `text` gives it; `nil` for anything else.
    init?(text: String) {
        raw = termios()
        let digits = Array(text.utf8)
        let size = MemoryLayout<termios>.size
        guard digits.count == 2 * size else { return nil }
        for place in 0..<size {
            guard let byte = UInt8(String(decoding: digits[2 * place..<2 * place + 2], as: UTF8.self), radix: 16) else {
                return nil
            }
            withUnsafeMutableBytes(of: &raw) { $0[place] = byte }
        }
    }
}
