internal import Lanes

/// Holds back a message that comes too often, and counts what it held back. Pure; messages are constants, so what it
/// remembers is bounded by the program's own text.
struct RepeatLimit: Sendable {
    /// So many of one message in a span go through.
    static let burst = 20
    static let spanSeconds = 10.0

    private struct Span: Sendable {
        let began: SteadyTime
        let level: LogLevel
        var written = 0
        var heldBack = 0
    }

    private var spans: [String: Span] = [:]

    enum Judgement: Hashable, Sendable {
        case write
        case holdBack
    }

    /// `debug` is never held back: whoever asks for it wants it all.
    mutating func judge(_ message: String, _ level: LogLevel, at now: SteadyTime) -> Judgement {
        guard level != .debug else { return .write }
        var span = spans[message] ?? Span(began: now, level: level)
        defer { spans[message] = span }
        guard span.written >= Self.burst else {
            span.written += 1
            return .write
        }
        span.heldBack += 1
        return .holdBack
    }

    /// Spans that are over; those that held something back, with how often.
    mutating func over(at now: SteadyTime) -> [(message: String, level: LogLevel, heldBack: Int)] {
        var over: [(message: String, level: LogLevel, heldBack: Int)] = []
        for (message, span) in spans where now.seconds(since: span.began) >= Self.spanSeconds {
            spans[message] = nil
            if span.heldBack > 0 { over.append((message, span.level, span.heldBack)) }
        }
        return over.sorted { $0.message < $1.message }
    }

    /// All of them, at the end.
    mutating func drain() -> [(message: String, level: LogLevel, heldBack: Int)] { over(at: .distantFuture) }

    var isEmpty: Bool { spans.isEmpty }
}
