internal import CardRules
internal import Synchronization
internal import WebServer

/// A request that waits for its answer: gets exactly one, and counts against the bound of those that wait until then.
///
/// One that is dropped unanswered, because whoever worked on it was stopped, is told to try again.
final class ParkedRequest: Sendable {
    let request: WebRequest
    let match: RouteMatch
    let query: QueryValues
    private let exchange: any WebExchange
    private let room: WaitingRoom
    private let isAnswered = Atomic<Bool>(false)

    /// - Parameter room: has let it in.
    init(
        _ request: WebRequest, _ match: RouteMatch, query: QueryValues, _ exchange: any WebExchange, room: WaitingRoom
    ) {
        self.request = request
        self.match = match
        self.query = query
        self.exchange = exchange
        self.room = room
    }

    var body: [UInt8] { request.body }

    deinit { answer(.tryAgain("the daemon is stopping")) }

    /// - Parameter needsToken: S14: the app that calls is to report its push-to-start token anew.
    func answer(_ answer: WebAnswer, needsToken: Bool = false) {
        guard isFirst() else { return }
        guard needsToken else { return exchange.answer(answer) }
        var asking = answer
        asking.headers.add(PushToStartReader.needsHeader, PushToStartReader.needsToken)
        exchange.answer(asking)
    }

    func answer(_ problem: Problem, needsToken: Bool = false) { answer(problem.answer, needsToken: needsToken) }

    func answer(status: Int, headers: WebHeaders = WebHeaders(), needsToken: Bool = false) {
        answer(WebAnswer(status: status, headers: headers), needsToken: needsToken)
    }

    /// A JSON text.
    func answer(_ status: Int = 200, json: [UInt8], needsToken: Bool = false) {
        answer(
            WebAnswer(
                status: status,
                headers: [("Content-Type", MediaType.json.rawValue), ("Cache-Control", "no-store")], body: json),
            needsToken: needsToken)
    }

    /// Begins server-sent events; it waits no longer then.
    /// - Returns: `nil` where the peer has gone.
    func stream(_ headers: WebHeaders, closed: @escaping @Sendable (WebStreamEnd) -> Void) -> (any WebStream)? {
        guard isFirst() else { return nil }
        return exchange.stream(headers, closed: closed)
    }

    private func isFirst() -> Bool {
        guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return false }
        room.leave()
        return true
    }
}

/// How many may wait at once.
final class WaitingRoom: Sendable {
    private let count = Atomic<Int>(0)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// - Returns: `false` when it is full.
    func enter() -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= limit { return true }
        count.subtract(1, ordering: .relaxed)
        return false
    }

    func leave() { count.subtract(1, ordering: .relaxed) }

    var waiting: Int { count.load(ordering: .relaxed) }
}
