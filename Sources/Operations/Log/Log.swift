internal import CardRules
public import Lanes
internal import Synchronization
public import TLS

/// The log of the daemon: constant messages, what varies under fixed keys, to standard error.
///
/// From any thread; never blocks. Lines wait for a thread of its own, at most `heldAtMost` of them: beyond, they are
/// dropped and counted. One message goes through 20 times in 10 s, above that it is counted (`repeated`).
public final class Log: Sendable {
    public typealias Clock = WallClock & SteadyClock

    private let clock: any Clock
    private let layout: LogLayout
    private let rank: Atomic<Int>
    private let state = Mutex(State())
    private let wake: EventSignal
    private let output: @Sendable ([UInt8]) -> Void
    private let thread = Mutex<LoopThread?>(nil)

    private struct State: Sendable {
        var lines: [[UInt8]] = []
        var dropped = 0
        var limit = RepeatLimit()
        var isClosed = false
        var isWoken = false
    }

    /// Lines that may wait for a slow standard error.
    public static let heldAtMost = 10_000

    /// - Parameters:
    ///   - isTerminal: decides what `auto` is.
    ///   - output: is given whole lines, one call after the other, on the log's thread; may block.
    /// - Throws: `SocketError` when the system gives no thread or descriptor.
    public init(
        level: LogLevel, format: LogFormat, isTerminal: Bool, clock: any Clock,
        output: @escaping @Sendable ([UInt8]) -> Void
    ) throws(SocketError) {
        self.clock = clock
        self.output = output
        layout = format == .json || format == .auto && !isTerminal ? .json : .text
        rank = Atomic(level.rank)
        wake = try EventSignal()
        let thread = try LoopThread(name: "log") { [weak self] in
            // The log outlives its thread's work: `close` is what ends it.
            guard let epoll = try? Epoll(), let wake = self?.wake.descriptor,
                (try? epoll.add(wake, .read, token: 0)) != nil
            else { return }
            var events: [Epoll.Event] = []
            while self?.turn(epoll, &events) == true {}
        }
        self.thread.withLock { $0 = thread }
    }

    /// The least that is written. May be changed at any time.
    public var level: LogLevel {
        get { LogLevel.allCases.first { $0.rank == rank.load(ordering: .relaxed) } ?? .info }
        set { rank.store(newValue.rank, ordering: .relaxed) }
    }

    /// Whether a line of that level would be written: for what costs something to put together.
    public func writes(_ level: LogLevel) -> Bool { level.rank <= rank.load(ordering: .relaxed) }

    public func error(_ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.error, message, fields)
    }

    public func warning(_ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.warning, message, fields)
    }

    public func info(_ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        write(.info, message, fields)
    }

    public func debug(
        _ message: @autoclosure () -> StaticString, _ fields: @autoclosure () -> KeyValuePairs<LogKey, LogValue> = [:]
    ) {
        guard writes(.debug) else { return }
        write(.debug, message(), fields())
    }

    public func write(_ level: LogLevel, _ message: StaticString, _ fields: KeyValuePairs<LogKey, LogValue> = [:]) {
        guard writes(level) else { return }
        let record = LogRecord(
            at: clock.now, level: level, message: message.description,
            fields: fields.map { LogField($0.key, $0.value) })
        let uptime = clock.uptime
        let mustWake = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            report(state.limit.over(at: uptime), into: &state)
            guard state.limit.judge(record.message, level, at: uptime) == .write else { return false }
            append(record, to: &state)
            defer { state.isWoken = true }
            return !state.isWoken
        }
        if mustWake { wake.signal() }
    }

    /// Writes what waits and ends the thread. What is written afterwards is dropped. Suspends until all is out.
    public func close() async {
        endIntake()
        await thread.withLock { $0 }?.finished()
    }

    /// The same for what is no task. Blocks.
    public func closeNow() {
        endIntake()
        thread.withLock { $0 }?.join()
    }

    private func endIntake() {
        state.withLock { state in
            report(state.limit.drain(), into: &state)
            state.isClosed = true
        }
        wake.signal()
    }

    // MARK: - Lines

    private func report(_ over: [(message: String, level: LogLevel, heldBack: Int)], into state: inout State) {
        for entry in over {
            append(
                LogRecord(
                    at: clock.now, level: entry.level, message: entry.message,
                    fields: [LogField(.repeated, .whole(entry.heldBack))]), to: &state)
        }
    }

    private func append(_ record: LogRecord, to state: inout State) {
        guard state.lines.count < Log.heldAtMost else {
            state.dropped += 1
            return
        }
        state.lines.append(layout.line(record))
    }

    // MARK: - The thread

    /// - Returns: whether there is another turn.
    private func turn(_ epoll: borrowing Epoll, _ events: inout [Epoll.Event]) -> Bool {
        // What a span held back is told when it is over, also when nothing else is written.
        let holds = state.withLock { !$0.limit.isEmpty }
        do { try epoll.wait(timeoutMilliseconds: holds ? 1000 : nil, into: &events) } catch { return false }
        wake.drain()
        let now = clock.uptime
        let (lines, dropped, isClosed) = state.withLock { state -> ([[UInt8]], Int, Bool) in
            report(state.limit.over(at: now), into: &state)
            defer {
                state.lines = []
                state.dropped = 0
                state.isWoken = false
            }
            return (state.lines, state.dropped, state.isClosed)
        }
        if !lines.isEmpty { output(Array(lines.joined())) }
        if dropped > 0 {
            output(
                layout.line(
                    LogRecord(
                        at: clock.now, level: .warning,
                        message: "lines of the log were dropped: nobody took them in time",
                        fields: [LogField(.count, .whole(dropped))])))
        }
        return !isClosed
    }
}
