internal import Synchronization
public import TLS

/// Tells a service manager how the daemon stands, by systemd's protocol (sd_notify(3)) and without its library: lines in
/// datagrams to the socket that `NOTIFY_SOCKET` names. Where it names none, nothing is told.
public final class ServiceNotifier: Sendable {
    public enum Message: Hashable, Sendable {
        case ready
        case status(String)
        /// The monotonic clock's time goes with it, as `Type=notify-reload` wants it.
        case reloading(atMicroseconds: Int64)
        case stopping
        case watchdog

        var text: String {
            switch self {
            case .ready: "READY=1"
            case .status(let text): "STATUS=\(text.split(whereSeparator: \.isNewline).joined(separator: " "))"
            case .reloading(let microseconds): "RELOADING=1\nMONOTONIC_USEC=\(microseconds)"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            }
        }
    }

    private let socket: NotifySocket?
    private let state = Mutex(State())
    /// How often the manager wants to hear that the daemon answers; `nil`: not at all.
    public let watchdogSeconds: Double?

    private struct State: Sendable {
        /// What the manager's queue had no room for, in order.
        var unsent: [Message] = []
        var isStopping = false
    }

    /// What could not be told is told again this often.
    static let repeatSeconds = 5.0
    /// More is not kept: it is old by then.
    static let unsentAtMost = 16

    /// - Parameters:
    ///   - environment: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` are looked at.
    ///   - processID: a watchdog meant for another process is none.
    /// - Throws: for a `NOTIFY_SOCKET` that cannot be one.
    public init(environment: [String: String], processID: Int32) throws(SocketError) {
        if let path = environment["NOTIFY_SOCKET"], !path.isEmpty {
            socket = try NotifySocket(path: path)
        } else {
            socket = nil
        }
        let isMine = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogSeconds = socket != nil && isMine && microseconds > 0 ? Double(microseconds) / 1e6 : nil
    }

    /// One that tells nobody.
    public init() {
        socket = nil
        watchdogSeconds = nil
    }

    /// Whether `stopping` was told.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Never blocks. A manager that is gone is not told; one whose queue is full is told again by `repeatUnsent`.
    public func tell(_ message: Message) {
        state.withLock { state in
            if message == .stopping { state.isStopping = true }
            guard let socket else { return }
            guard state.unsent.isEmpty, !isLeft(message, by: socket) else {
                if message != .watchdog, state.unsent.count < Self.unsentAtMost { state.unsent.append(message) }
                return
            }
        }
    }

    func repeatUnsent() {
        state.withLock { state in
            guard let socket else { return }
            while let first = state.unsent.first, !isLeft(first, by: socket) { state.unsent.removeFirst() }
        }
    }

    private func isLeft(_ message: Message, by socket: NotifySocket) -> Bool {
        do throws(SocketError) { return try !socket.send(message.text) } catch { return false }
    }
}
