import CardRules
import Lanes
import PushWire
import Simulation
import Synchronization
import TLS
import Testing
import WebServer

@testable import Intake

/// A whole system with its API, in memory: a store that does what it is told, a pusher that accepts, a clock that only
/// the test moves.
final class APIRig: Sendable {
    /// Saturday 2026-01-10, 20:00 UTC.
    static let evening = WallTime(seconds: Int64(1_768_075_200))
    static let app = AppID(unchecked: "lineup")
    /// Keys by what they may do.
    static let allKey = "all-of-it"
    static let feedKey = "only-the-feed"
    static let devicesKey = "only-devices"

    let clock: ManualClock
    let store: MemoryStore
    let pusher: AcceptingPusher
    let backend = RigBackend()
    let keys: APIKeys
    let supervisor: Supervisor
    let api: APIHandler
    private let caller = Mutex<SocketCaller?>(nil)
    private let way: Way

    init(
        _ way: Way = .memory, apps: [AppID] = [APIRig.app], console: (any WebHandler)? = nil, callsHeld: Int = 1000,
        over store: MemoryStore = MemoryStore(), at clock: ManualClock = ManualClock(now: APIRig.evening),
        _ change: (inout APIConfiguration) -> Void = { _ in }
    ) async throws {
        self.way = way
        self.store = store
        self.clock = clock
        pusher = AcceptingPusher(clock: clock)
        keys = APIKeys([
            try APIRig.key("ops", APIRig.allKey, Set(APIScope.allCases)),
            try APIRig.key("feed", APIRig.feedKey, [.feed]), try APIRig.key("phones", APIRig.devicesKey, [.devices]),
        ])
        let profiles = apps.map {
            AppProfile(id: $0, bundleID: "com.example.\($0)", slateAttributesType: "LineupAttributes")
        }
        supervisor = Supervisor(
            configuration: Supervisor.Configuration(tuning: Tuning(), apps: profiles, shards: 1, callsHeld: callsHeld),
            store: store, pusher: pusher, clock: clock, random: SeededSource(seed: 7), zone: { _ in .utc })
        try await supervisor.restore()
        var configuration = APIConfiguration(apps: apps)
        change(&configuration)
        api = APIHandler(
            configuration, keys: keys, supervisor: supervisor, timeline: backend, backend: backend,
            zones: ZoneDirectory(),
            clock: clock, console: console)
        api.open()
    }

    static func key(_ name: String, _ text: String, _ scopes: Set<APIScope>) throws -> APIKey {
        try #require(APIKey(name: name, scopes: scopes, sha256: APIKey.sha256(ofKey: text)))
    }

    /// The system and its API work while `body` lasts.
    func running(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.supervisor.run() }
            group.addTask { await self.api.run() }
            var server: WebServer?
            do {
                if way == .socket { server = try serve() }
                try await body()
            } catch {
                await server?.stopped()
                group.cancelAll()
                throw error
            }
            await server?.stopped()
            group.cancelAll()
        }
    }

    /// Of the web server, while it runs.
    var address: SocketAddress? { caller.withLock { $0?.address } }

    private func serve() throws -> WebServer {
        let address = try #require(SocketAddress(ip: "127.0.0.1", port: 0))
        var configuration = WebServerConfiguration()
        configuration.stopSeconds = 0
        let clock = clock
        let server = try WebServer(
            on: address, configuration: configuration, handler: api,
            clock: WebServerClock(
                nanoseconds: { clock.uptime.nanoseconds }, unixSeconds: { clock.now.unixSeconds }))
        caller.withLock { $0 = SocketCaller(address: server.address) }
        return server
    }

    /// A made-up registration of a phone that owns its token and follows whatever is played.
    func register(_ device: String, _ extra: String = "") async -> Answered {
        let token = hexText(Array(device.utf8))
        return await call(
            "PUT", "/v1/devices/\(device)",
            #"{"user":"u","gateway":"production","pushToStartToken":"\#(token)","osVersion":"18.0","#
                + #""personalisation":{"version":1,"teams":{},"leagues":{},"minimumWorth":0,"maxGames":4}\#(extra)}"#)
    }

    // MARK: - Calls

    func call(
        _ method: String, _ target: String, _ body: String = "", type: String? = nil, key: String? = APIRig.allKey,
        headers: [(name: String, value: String)] = []
    ) async -> Answered {
        var all = headers
        if let key { all.append(("Authorization", "Bearer \(key)")) }
        if let type = type ?? (body.isEmpty ? nil : "application/json") { all.append(("Content-Type", type)) }
        return await send(method, target, all, Array(body.utf8))
    }

    /// A call whose answer is looked at later; its head must be fine.
    func begin(_ method: String, _ target: String, _ body: String = "", type: String? = nil) -> Waiter {
        var headers = [("Authorization", "Bearer \(APIRig.allKey)")]
        if let type = type ?? (body.isEmpty ? nil : "application/json") { headers.append(("Content-Type", type)) }
        let head = Self.head(method, target, headers.map { (name: $0.0, value: $0.1) }, length: body.utf8.count)
        let waiter = Waiter()
        if case .refused(let answer) = api.admit(head) {
            waiter.give(Answered(answer, wasRead: false))
        } else {
            api.take(WebRequest(head: head, body: Array(body.utf8)), RigExchange(waiter))
        }
        return waiter
    }

    private static func head(
        _ method: String, _ target: String, _ headers: [(name: String, value: String)], length: Int?
    ) -> WebRequestHead {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var query: [(name: String, value: String)] = []
        for member in parts.dropFirst().flatMap({ $0.split(separator: "&") }) {
            let pair = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            query.append((name: String(pair[0]), value: pair.count < 2 ? "" : String(pair[1])))
        }
        return WebRequestHead(
            method: method,
            path: parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init),
            query: query, headers: WebHeaders(headers), bodyLength: length)
    }

    /// As the web server would: the head is judged first, the body read only then.
    func send(
        _ method: String, _ target: String, _ headers: [(name: String, value: String)], _ body: [UInt8],
        bodyLength: Int?? = nil
    ) async -> Answered {
        if let caller = caller.withLock({ $0 }) {
            let waiter = Waiter()
            caller.call(
                method, target: target, headers: headers, body: bodyLength == nil ? body : [],
                length: (bodyLength ?? body.count) ?? 0, waiter)
            return await waiter.answer
        }
        let head = Self.head(method, target, headers, length: bodyLength ?? body.count)
        switch api.admit(head) {
        case .refused(let answer): return Answered(answer, wasRead: false)
        case .bodyOf(let most):
            guard body.count <= most else { return Answered(api.refusal(status: 413, detail: ""), wasRead: false) }
            let waiter = Waiter()
            api.take(WebRequest(head: head, body: body), RigExchange(waiter))
            return await waiter.answer
        }
    }
}

/// What a caller got.
struct Answered: Sendable {
    let answer: WebAnswer
    /// The body was looked at.
    var wasRead = true
    var stream: RigStream?

    init(_ answer: WebAnswer, wasRead: Bool = true, stream: RigStream? = nil) {
        self.answer = answer
        self.wasRead = wasRead
        self.stream = stream
    }

    var status: Int { answer.status }
    var text: String { String(decoding: answer.body, as: UTF8.self) }
    var json: JSONValue? { try? JSONDocument(answer.body).root }
    var detail: String? { json?["detail"]?.text }
    var field: String? { json?["field"]?.text }
    subscript(header name: String) -> String? { answer.headers[name] }
    var isProblem: Bool { self[header: "Content-Type"] == "application/problem+json" }
}

/// Hands one answer to whoever waits for it.
final class Waiter: Sendable {
    private enum State: Sendable {
        case empty
        case answered(Answered)
        case awaited(CheckedContinuation<Answered, Never>)
        case over
    }
    private let state = Mutex(State.empty)

    func give(_ answer: Answered) {
        let continuation: CheckedContinuation<Answered, Never>? = state.withLock { state in
            switch state {
            case .empty:
                state = .answered(answer)
                return nil
            case .awaited(let continuation):
                state = .over
                return continuation
            case .answered, .over:
                Issue.record("answered twice")
                return nil
            }
        }
        continuation?.resume(returning: answer)
    }

    var answer: Answered {
        get async {
            await withCheckedContinuation { continuation in
                let ready: Answered? = state.withLock { state in
                    if case .answered(let answer) = state {
                        state = .over
                        return answer
                    }
                    state = .awaited(continuation)
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        }
    }
}

/// One exchange as the server would have it. Dropped unanswered it says 500.
final class RigExchange: WebExchange {
    private let waiter: Waiter
    private let isAnswered = Atomic<Bool>(false)

    init(_ waiter: Waiter) { self.waiter = waiter }

    deinit { answer(WebAnswer(status: 500)) }

    func answer(_ answer: WebAnswer) {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return }
        waiter.give(Answered(answer))
    }

    func stream(_ headers: WebHeaders, closed: @escaping @Sendable (WebStreamEnd) -> Void) -> (any WebStream)? {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return nil }
        let stream = RigStream(closed)
        waiter.give(Answered(WebAnswer(status: 200, headers: headers), stream: stream))
        return stream
    }
}

/// A stream that keeps what it was sent.
final class RigStream: WebStream {
    private struct State {
        var bytes: [UInt8] = []
        var ids: [Int64] = []
        var comments = 0
        var isClosed = false
    }
    private let state = Mutex(State())
    private let closed: @Sendable (WebStreamEnd) -> Void

    init(_ closed: @escaping @Sendable (WebStreamEnd) -> Void) { self.closed = closed }

    /// Whole lines each time.
    func send(_ bytes: [UInt8]) -> Bool {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return state.withLock { state in
            guard !state.isClosed else { return false }
            state.bytes += bytes
            state.ids += lines.compactMap { $0.hasPrefix("id: ") ? Int64($0.dropFirst(4)) : nil }
            state.comments += lines.count { $0.hasPrefix(":") }
            return true
        }
    }

    func close() { state.withLock { $0.isClosed = true } }

    /// The peer goes.
    func hangUp() {
        close()
        closed(.peerGone)
    }

    var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var comments: Int { state.withLock { $0.comments } }

    /// The ids of the events so far, in order.
    var ids: [Int64] { state.withLock { $0.ids } }

    /// The data of the events so far.
    var data: [JSONValue] {
        text.split(separator: "\n").compactMap { line in
            line.hasPrefix("data: ") ? try? JSONDocument(Array(line.dropFirst(6).utf8)).root : nil
        }
    }
}

/// Accepts every push at once, or does what a test tells it.
final class AcceptingPusher: Pusher {
    private struct State {
        var sent: [(push: OutgoingPush, at: WallTime)] = []
        var open: [OutgoingPush] = []
        /// `nil`: pushes wait to be answered.
        var verdict: Verdict? = .accepted
    }
    private let state = Mutex(State())
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    func send(_ pushes: [OutgoingPush]) -> [OutgoingPush] {
        let verdict = state.withLock { state in
            state.sent += pushes.map { ($0, clock.now) }
            if state.verdict == nil { state.open += pushes }
            return state.verdict
        }
        guard let verdict else { return [] }
        for push in pushes { push.sink.take([PushAnswer(ticket: push.ticket, verdict: verdict)]) }
        return []
    }

    /// From now on every push is answered so; `nil`: pushes wait.
    func script(_ verdict: Verdict?) { state.withLock { $0.verdict = verdict } }

    /// Answers what waits.
    func answer(_ verdict: Verdict) {
        let open = state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
        for push in open { push.sink.take([PushAnswer(ticket: push.ticket, verdict: verdict)]) }
    }

    var sent: [OutgoingPush] { state.withLock { $0.sent.map(\.push) } }

    /// Those of one kind, with when they were sent.
    func sent(_ event: PushEvent) -> [(push: OutgoingPush, at: WallTime)] {
        state.withLock { $0.sent.filter { $0.push.request.event == event } }
    }
}

extension OutgoingPush {
    var text: String { String(decoding: request.payload, as: UTF8.self) }
    var aps: JSONValue? { try? JSONDocument(request.payload).root["aps"] }
}

/// Waits for what other tasks do. Gives up after five minutes, and says so.
func until(_ what: String, source: SourceLocation = #_sourceLocation, _ isTrue: () async -> Bool) async {
    let patience = ContinuousClock.now.advanced(by: .seconds(300))
    while ContinuousClock.now < patience {
        if await isTrue() { return }
        await Task.yield()
    }
    Issue.record("never came: \(what)", sourceLocation: source)
}

extension DeviceID: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}
extension GameID: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(unchecked: text) }
}
