import Synchronization
import TLS

@testable import WebServer

/// Answers by the first segment of the path, and keeps what is parked or streamed for the test to use.
final class TestHandler: WebHandler {
    struct State: Sendable {
        var parked: [any WebExchange] = []
        var streams: [any WebStream] = []
        var ends: [WebStreamEnd] = []
        var taken: [WebRequest] = []
    }

    private let state = Mutex(State())
    private let changed: EventSignal?
    let maximumBytes: Int

    init(maximumBytes: Int = 1 << 20) {
        self.maximumBytes = maximumBytes
        changed = try? EventSignal()
    }

    func with<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
        state.withLock { state in body(&state) }
    }

    /// Waits until the state is as wanted; at most ten seconds.
    func wait(until isDone: (borrowing State) -> Bool) throws -> Bool {
        guard let changed else { return false }
        let epoll = try Epoll(eventsPerWait: 1)
        try epoll.add(changed.descriptor, .read, token: 0)
        var events: [Epoll.Event] = []
        for _ in 0..<1000 {
            if state.withLock({ isDone($0) }) { return true }
            try epoll.wait(timeoutMilliseconds: 10, into: &events)
            changed.drain()
        }
        return false
    }

    func admit(_ head: WebRequestHead) -> WebAdmission {
        switch head.path.first {
        case "refused": .refused(WebAnswer(status: 401, body: Array("no key".utf8)))
        case "tiny": .bodyOf(maximumBytes: 4)
        default: .bodyOf(maximumBytes: maximumBytes)
        }
    }

    func take(_ request: WebRequest, _ exchange: any WebExchange) {
        defer { changed?.signal() }
        switch request.head.path.first {
        case "v1":
            state.withLock { $0.taken.append(request) }
            exchange.answer(WebAnswer(status: 204))
        case "echo":
            state.withLock { $0.taken.append(request) }
            exchange.answer(WebAnswer(status: 200, headers: [("Content-Type", "text/plain")], body: request.body))
        case "big": exchange.answer(WebAnswer(status: 200, body: [UInt8](repeating: 0x78, count: 3 << 20)))
        case "park": state.withLock { $0.parked.append(exchange) }
        case "drop": break
        case "healthz", "": exchange.answer(WebAnswer(status: 200, body: Array("ok".utf8)))
        case "stream":
            let stream = exchange.stream([("Content-Type", "text/event-stream")]) { [weak self] end in
                self?.state.withLock { $0.ends.append(end) }
                self?.changed?.signal()
            }
            if let stream { state.withLock { $0.streams.append(stream) } }
        default: exchange.answer(WebAnswer(status: 404))
        }
    }

    func refusal(status: Int, detail: String) -> WebAnswer {
        WebAnswer(status: status, headers: [("Content-Type", "text/plain")], body: Array(detail.utf8))
    }
}

/// Time that a test moves.
final class ManualTime: Sendable {
    private let nanoseconds = Atomic<Int64>(0)

    func advance(seconds: Double) { nanoseconds.add(Int64(seconds * 1e9), ordering: .relaxed) }

    var now: Int64 { nanoseconds.load(ordering: .relaxed) }

    var clock: WebServerClock {
        WebServerClock(nanoseconds: { self.now }, unixSeconds: { 784_111_777 })
    }
}

struct TestGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
