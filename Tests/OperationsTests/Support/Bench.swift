import CardRules
import Lanes
import Operations
import Synchronization

/// Keeps what a log writes.
final class Pages: Sendable {
    private let text = Mutex("")

    var lines: [String] { text.withLock { $0 }.split(separator: "\n").map(String.init) }

    func take(_ bytes: [UInt8]) { text.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
}

/// A clock that stands where a test puts it.
final class TestClock: WallClock, SteadyClock {
    private let state: Mutex<(now: WallTime, up: SteadyTime)>
    /// Sleepers pass at once, and time with them.
    private let isJumping: Bool
    /// An element whenever somebody begins to sleep.
    let (sleeps, begins) = AsyncStream.makeStream(of: Void.self)

    init(now: WallTime = WallTime(milliseconds: 1_796_041_904_123), isJumping: Bool = false) {
        state = Mutex((now, SteadyTime(nanoseconds: 5_000_000_000)))
        self.isJumping = isJumping
    }

    var now: WallTime { state.withLock { $0.now } }
    var uptime: SteadyTime { state.withLock { $0.up } }

    func advance(bySeconds seconds: Double) {
        state.withLock { $0 = ($0.now.advanced(bySeconds: seconds), $0.up.advanced(bySeconds: seconds)) }
    }

    func sleep(until deadline: WallTime) async throws {
        begins.yield()
        guard isJumping else {
            // Until the sleeper's task is cancelled.
            let (stream, _) = AsyncStream.makeStream(of: Void.self)
            for await _ in stream {}
            throw CancellationError()
        }
        try Task.checkCancellation()
        await Task.yield()
        let seconds = deadline.seconds(since: now)
        if seconds > 0 { advance(bySeconds: seconds) }
    }
}

/// A value that several threads write.
final class Box<Value: Sendable>: Sendable {
    private let held: Mutex<Value>

    init(_ value: Value) { held = Mutex(value) }

    var value: Value { held.withLock { $0 } }

    func change(_ body: @Sendable (inout Value) -> Void) { held.withLock { body(&$0) } }
}
